#ifndef DIARIO_COPENSSL_SHIM_H
#define DIARIO_COPENSSL_SHIM_H

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * SHA-256 by the functions that OpenSSL 3 calls deprecated, since a message of 150 bytes takes
 * 126 ns by them, 156 ns by a prefetched EVP_MD and a reused context, 188 ns by EVP_Digest (AMD
 * Zen 4, OpenSSL 3.0.22, November 2026). They are in every 3.x library, use the same code inside,
 * need no memory and cannot fail. Should they go, this is all that has to change.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static inline void diario_sha256_start(SHA256_CTX *context) { (void)SHA256_Init(context); }

static inline void diario_sha256_update(SHA256_CTX *context, const void *bytes, size_t count) {
    (void)SHA256_Update(context, bytes, count);
}

/* Writes 32 bytes. */
static inline void diario_sha256_finish(SHA256_CTX *context, void *digest) {
    (void)SHA256_Final((unsigned char *)digest, context);
}

/*
 * The hash of a byte (none if `prefix` is negative) and two parts, in one call, since a context
 * that Swift owns is cleared twice.
 */
static inline void diario_sha256_message(int32_t prefix, const void *first, size_t first_count,
                                         const void *second, size_t second_count, void *digest) {
    SHA256_CTX context;
    diario_sha256_start(&context);
    if (prefix >= 0) {
        uint8_t byte = (uint8_t)prefix;
        diario_sha256_update(&context, &byte, 1);
    }
    diario_sha256_update(&context, first, first_count);
    if (second_count > 0) diario_sha256_update(&context, second, second_count);
    diario_sha256_finish(&context, digest);
}

/* The hash of a byte and two hashes, put together first since each update costs a little. */
static inline void diario_sha256_node(uint8_t prefix, const void *left, const void *right,
                                      void *digest) {
    uint8_t message[65];
    message[0] = prefix;
    memcpy(message + 1, left, 32);
    memcpy(message + 33, right, 32);
    diario_sha256_message(-1, message, sizeof message, NULL, 0, digest);
}

#pragma GCC diagnostic pop

#endif
