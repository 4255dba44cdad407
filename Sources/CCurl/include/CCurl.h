/*
 * An HTTP client over libcurl, with plain types: a thread of its own carries all requests, and
 * calls back once for each of them.
 *
 * HTTP/1.1 over http and https alone; no redirects, no cookies. What an answer may take in memory
 * is bounded before it is taken. No header of libcurl is included here, so that importing this
 * module brings nothing else along.
 */
#ifndef DIARIO_CCURL_H
#define DIARIO_CCURL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why there is no answer. */
enum {
    DIARIO_CURL_DONE = 0,
    DIARIO_CURL_CANCELLED = 1,
    DIARIO_CURL_RESOLVE = 2,
    DIARIO_CURL_CONNECT = 3,
    DIARIO_CURL_TLS = 4,
    /* The server's certificate is not one to trust. */
    DIARIO_CURL_UNTRUSTED = 5,
    /* The file with certificates cannot be read. */
    DIARIO_CURL_CERTIFICATES = 6,
    /* Nobody answered in time, or the answer does not go on. */
    DIARIO_CURL_TIMEOUT = 7,
    DIARIO_CURL_TOO_LARGE = 8,
    /* The connection ended before the answer did. */
    DIARIO_CURL_BROKEN = 9,
    DIARIO_CURL_MEMORY = 10,
    DIARIO_CURL_OTHER = 11,
};

typedef struct {
    /* One of the above. */
    int32_t outcome;
    /* What libcurl says of a failure, as a text that ends with zero. */
    const char *failure;
    /* Of HTTP; 0 if none came. */
    int32_t status;
    /* Header fields as they came, one in a line, without the status line. */
    const uint8_t *headers;
    size_t header_size;
    const uint8_t *body;
    size_t body_size;
    /* Bytes of the messages of HTTP, both ways, headers among them. */
    uint64_t sent;
    uint64_t received;
    /* True if the request went over a connection that was there already. */
    bool is_reused;
} diario_curl_answer;

/* Called once for each request, on the client's thread; what it is shown is gone afterwards. */
typedef void (*diario_curl_done)(void *context, const diario_curl_answer *answer);

typedef struct {
    const char *url;
    /* Header fields, one in a line that ends with a newline. */
    const char *headers;
    /* NULL for GET; else a POST, or a PUT, whose bytes are copied. */
    const uint8_t *body;
    size_t body_size;
    /* True for PUT in the place of POST. */
    bool is_put;
    /* A file with certificates to trust in place of the system's; NULL for those. */
    const char *certificates;
    size_t answer_size_max;
    uint32_t connect_milliseconds;
    /* Fewer bytes than 64 in each of so many seconds end the request. */
    uint32_t stall_seconds;
    /* A connection that was quiet for longer is not used again. */
    uint32_t idle_seconds;
    /* False to go past every proxy that the environment names. */
    bool uses_proxy;
} diario_curl_request;

typedef struct diario_curl_client diario_curl_client;

/* NULL if there is no memory, or no thread to be had. */
diario_curl_client *diario_curl_make(void);
/* Ends all requests as cancelled, and then the thread; nothing is done with the client after it.
 * Does nothing with NULL. */
void diario_curl_end(diario_curl_client *client);
/* Begins a request; `done` is called for it even if it could not be begun. */
void diario_curl_start(diario_curl_client *client, uint64_t id, const diario_curl_request *request,
                       diario_curl_done done, void *context);
/* Ends a request at once, if it is still under way. */
void diario_curl_cancel(diario_curl_client *client, uint64_t id);

#endif
