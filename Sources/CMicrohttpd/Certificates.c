#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The certificate of a server, which may be replaced while it runs. Those of before are kept: a
 * handshake that has begun may still read one, and few come in the life of a server. */

enum { CHAIN_MAX = 16 };

struct certificate {
    gnutls_pcert_st chain[CHAIN_MAX]; /* with those that vouch for it, in their order */
    unsigned int count;
    gnutls_privkey_t key;
    certificate *older;
};

static void free_one(certificate *one) {
    for (unsigned int index = 0; index < one->count; index += 1) {
        gnutls_pcert_deinit(&one->chain[index]);
    }
    if (one->key != NULL) gnutls_privkey_deinit(one->key);
    free(one);
}

/* Whether the key is that of the certificate. */
static int check(const gnutls_datum_t *chain, const gnutls_datum_t *key) {
    gnutls_certificate_credentials_t both;
    int result = gnutls_certificate_allocate_credentials(&both);
    if (result < 0) return result;
    result = gnutls_certificate_set_x509_key_mem(both, chain, key, GNUTLS_X509_FMT_PEM);
    gnutls_certificate_free_credentials(both);
    return result;
}

static int load(certificate *one, const char *chain_text, const char *key_text) {
    gnutls_datum_t chain = {(unsigned char *)(uintptr_t)chain_text,
                            (unsigned int)strlen(chain_text)};
    gnutls_datum_t key = {(unsigned char *)(uintptr_t)key_text, (unsigned int)strlen(key_text)};
    int result = check(&chain, &key);
    if (result < 0) return result;
    unsigned int count = CHAIN_MAX;
    result = gnutls_pcert_list_import_x509_raw(one->chain, &count, &chain, GNUTLS_X509_FMT_PEM, 0);
    if (result < 0) return result;
    one->count = count;
    result = gnutls_privkey_init(&one->key);
    if (result < 0) return result;
    return gnutls_privkey_import_x509_raw(one->key, &key, GNUTLS_X509_FMT_PEM, NULL, 0);
}

int32_t diario_http_use_certificate(diario_http *server, const char *chain, const char *key,
                                    char *message, size_t capacity) {
    certificate *one = calloc(1, sizeof *one);
    int result = one == NULL ? GNUTLS_E_MEMORY_ERROR : load(one, chain, key);
    if (result < 0) {
        snprintf(message, capacity, "%s", gnutls_strerror(result));
        if (one != NULL) free_one(one);
        return -1;
    }
    one->older = __atomic_load_n(&server->certificate, __ATOMIC_RELAXED);
    __atomic_store_n(&server->certificate, one, __ATOMIC_RELEASE);
    return 0;
}

/* Called for each handshake. The library leaves its connection with the session. */
int diario_http_on_certificate(gnutls_session_t session, const gnutls_datum_t *authorities,
                               int authority_count, const gnutls_pk_algorithm_t *algorithms,
                               int algorithm_count, gnutls_pcert_st **chain, unsigned int *count,
                               gnutls_privkey_t *key) {
    (void)authorities;
    (void)authority_count;
    (void)algorithms;
    (void)algorithm_count;
    connection *record = diario_http_record_of(gnutls_session_get_ptr(session));
    if (record == NULL) return -1;
    certificate *one = __atomic_load_n(&record->server->certificate, __ATOMIC_ACQUIRE);
    *chain = one->chain;
    *count = one->count;
    *key = one->key;
    return 0;
}

void diario_http_free_certificates(diario_http *server) {
    while (server->certificate != NULL) {
        certificate *one = server->certificate;
        server->certificate = one->older;
        free_one(one);
    }
}
