/* What the files of this module share. */
#ifndef DIARIO_CMICROHTTPD_INTERNAL_H
#define DIARIO_CMICROHTTPD_INTERNAL_H

#include "CMicrohttpd.h"

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <pthread.h>
#include <time.h>

/* One connection, from when it was taken until its socket is closed. */
typedef struct connection {
    diario_http *server;
    int socket;
    int64_t deadline; /* milliseconds; 0 for none; atomic */
    int is_reading;   /* a request, or nothing, is expected; atomic */
    int ended_count;  /* how often its client was seen to send no more */
    struct connection *previous, *next;
} connection;

/* A socket whose answer was sent while its client still sends: were it closed with bytes that
 * nobody read, the system would reset the connection, and the client might never see the answer. */
typedef struct {
    int socket; /* our own copy; negative if the place is free */
    int64_t deadline;
} parting;

enum { PARTING_COUNT = 64, PARTING_MILLISECONDS = 3000 };
/* Marks the numbers of partings among those that are watched. */
#define PARTING_BIT ((uint64_t)1 << 63)

typedef struct certificate certificate;

struct diario_http {
    struct MHD_Daemon *daemon;
    certificate *certificate; /* the newest; NULL without TLS; atomic */
    diario_http_calls calls;
    int64_t head_milliseconds;
    int watch, wake;
    int is_turning_away; /* whoever connects; atomic */
    pthread_mutex_t lock; /* of what follows */
    connection *first;
    uint32_t count;
    parting partings[PARTING_COUNT];
    char *message; /* only while the daemon starts */
    size_t message_capacity;
};

struct diario_http_exchange {
    diario_http *server;
    struct MHD_Connection *connection;
    connection *record;
    const char *method, *path, *version;
    void *request;
    struct MHD_Response *response; /* until it is handed over */
    unsigned int status;
    int is_early; /* answered before its body came */
    int is_asked, is_suspended, is_watched;
};

static inline int64_t now_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static inline void set_deadline(connection *record, int64_t milliseconds) {
    if (record == NULL) return;
    int64_t deadline = milliseconds > 0 ? now_milliseconds() + milliseconds : 0;
    __atomic_store_n(&record->deadline, deadline, __ATOMIC_RELAXED);
}

connection *diario_http_record_of(struct MHD_Connection *connection);

/* Certificates.c. */
int diario_http_on_certificate(gnutls_session_t session, const gnutls_datum_t *authorities,
                               int authority_count, const gnutls_pk_algorithm_t *algorithms,
                               int algorithm_count, gnutls_pcert_st **chain, unsigned int *count,
                               gnutls_privkey_t *key);
void diario_http_free_certificates(diario_http *server);

/* Partings.c; `end` is called while the lock is held, or when nobody else is there. */
void diario_http_begin_parting(diario_http *server, int socket);
void diario_http_drain_parting(diario_http *server, uint64_t index);
void diario_http_end_partings(diario_http *server, int64_t latest);

#endif
