/*
 * libmicrohttpd behind plain types: a daemon, its connections, and one exchange for each request.
 *
 * Here is what must happen on the library's threads or beside their locks; what a request means is
 * decided by the callbacks. No header of the library or of the system is included here. A negative
 * result is an error number with its sign changed.
 *
 * Who calls what: `begin`, `receive`, `ready`, `produce` and `end` are called on the library's
 * threads, for one exchange never two at once. An exchange lives until `end` returns, and it does
 * not end while it is suspended.
 */
#ifndef DIARIO_CMICROHTTPD_H
#define DIARIO_CMICROHTTPD_H

#include <stddef.h>
#include <stdint.h>

typedef struct diario_http diario_http;
typedef struct diario_http_exchange diario_http_exchange;
typedef struct diario_http_response diario_http_response;

typedef struct {
    void *context;
    /* The head of a request has come. What it returns is `request` below. It may answer: then no
     * body is read. */
    void *(*begin)(void *context, diario_http_exchange *exchange);
    /* A part of the body. Other than 0: the connection is cut. */
    int32_t (*receive)(void *request, const uint8_t *bytes, size_t count);
    /* All has come. Returns 1 if it answered, 0 if it suspended the exchange. */
    int32_t (*ready)(void *request);
    /* Writes the next bytes of a live answer and returns how many: DIARIO_HTTP_END behind the last
     * one, 0 if it suspended the exchange. */
    int64_t (*produce)(void *request, uint8_t *bytes, size_t capacity);
    /* The exchange is over; 1 if the answer was sent whole. */
    void (*end)(void *request, int32_t is_whole);
} diario_http_calls;

enum { DIARIO_HTTP_END = -1 };

typedef struct {
    /* What a listening socket of `diario_http_listen` was given; it belongs to the daemon then. */
    int32_t listener;
    uint32_t thread_count;
    size_t connection_size;        /* bytes of memory for one connection's head and buffers */
    uint32_t connection_count_max;
    uint32_t address_connection_count_max; /* 0: no bound of its own */
    uint32_t quiet_seconds_max;    /* a connection on which nothing moves is closed then */
    uint32_t head_seconds_max;     /* for a request's head, however it trickles */
    const char *certificate;       /* PEM; NULL without TLS */
    const char *key;
} diario_http_options;

extern const int32_t diario_http_error_in_use;
extern const int32_t diario_http_error_access;
extern const int32_t diario_http_error_no_address;
extern const int32_t diario_http_error_files;
/* There is no host of that name. */
extern const int32_t diario_http_error_unknown_host;

/* Raises the bound of open files as far as the system lets us; returns it. */
int64_t diario_http_raise_file_limit(void);

/* A socket that listens on `host` (a name or an address); port 0 stands for any free one. */
int32_t diario_http_listen(const char *host, uint16_t port);
/* Writes the address of a socket, without its port, which is returned; 46 bytes are enough. */
int32_t diario_http_address(int32_t socket, char *text, size_t capacity);
/* Whether a socket listens on an address that only this machine reaches. */
int32_t diario_http_is_loopback(int32_t socket);
void diario_http_close_socket(int32_t socket);

/* Starts the daemon. NULL if it fails: then `message` tells why and the socket is closed. */
diario_http *diario_http_start(const diario_http_options *options, const diario_http_calls *calls,
                               char *message, size_t capacity);
/* Shows another certificate, in PEM, to whoever connects from now on. Below 0 if it cannot be used:
 * then `message` tells why and the one before stays. */
int32_t diario_http_use_certificate(diario_http *server, const char *certificate, const char *key,
                                    char *message, size_t capacity);
/* Closes new connections as soon as they are made, from now on. */
void diario_http_turn_away(diario_http *server);
/* Breaks off all connections; what is suspended ends when it is resumed. */
void diario_http_break_off(diario_http *server);
/* Ends the threads and frees everything. No exchange may be suspended. */
void diario_http_stop(diario_http *server);

uint32_t diario_http_connection_count(diario_http *server);
/* Breaks off connections whose time is over, and those whose clients stopped in the middle of a
 * request; to be called about once a second. */
void diario_http_break_off_overdue(diario_http *server);

/* Waits at most `milliseconds` (negative: for ever) for clients that go, until `diario_http_wake`
 * is called; writes the numbers that they are watched by, and returns how many. */
int32_t diario_http_wait(diario_http *server, uint64_t *numbers, int32_t capacity,
                         int32_t milliseconds);
void diario_http_wake(diario_http *server);
/* From now on until its end the exchange's client is watched by this number, which is not 0. */
void diario_http_watch(diario_http_exchange *exchange, uint64_t number);

/* The request; the texts live as long as the exchange, up to its answer. */
const char *diario_http_method(const diario_http_exchange *exchange);
const char *diario_http_path(const diario_http_exchange *exchange);
/* As `HTTP/1.1`. */
const char *diario_http_version(const diario_http_exchange *exchange);
typedef struct {
    const char *name;
    size_t name_size;
    const char *value; /* NULL for a parameter without `=` */
    size_t value_size;
} diario_http_field;

/* How many headers (or parameters of the query) there are; so many are written at most. */
size_t diario_http_headers(const diario_http_exchange *exchange, diario_http_field *fields,
                           size_t capacity);
size_t diario_http_parameters(const diario_http_exchange *exchange, diario_http_field *fields,
                              size_t capacity);
/* Bytes of the head, with the first line. */
size_t diario_http_head_size(const diario_http_exchange *exchange);

/* The network that the client's address is in: all of an IPv4 address, the first half of an IPv6
 * address. Returns 1 if the client is on this machine, 0 if not, -1 if nobody knows. */
int32_t diario_http_peer(const diario_http_exchange *exchange, uint64_t *network);

/* The connection is broken off if this step of the exchange takes longer; 0: it may. */
void diario_http_allow(diario_http_exchange *exchange, int64_t milliseconds);
/* From a callback only, before anybody else knows that the exchange waits. */
void diario_http_suspend(diario_http_exchange *exchange);
/* Goes on with a live answer. From then on only a callback may touch the exchange. */
void diario_http_resume(diario_http_exchange *exchange);

/* A copy of the bytes is kept; NULL if there is no memory. */
diario_http_response *diario_http_make_bytes(const uint8_t *bytes, size_t count);
/* A part of a file; NULL with `error` set if it cannot be opened or is shorter. */
diario_http_response *diario_http_make_file(const char *path, uint64_t offset, uint64_t count,
                                            int32_t *error);
extern const int32_t diario_http_error_not_found;
/* What `produce` gives. */
diario_http_response *diario_http_make_live(diario_http_exchange *exchange);
/* 0 if the library takes no such header. */
int32_t diario_http_add_header(diario_http_response *response, const char *name,
                               const char *value);
/* Answers, and resumes the exchange if it was suspended: then only a callback may touch it. */
void diario_http_answer(diario_http_exchange *exchange, uint32_t status,
                        diario_http_response *response, int64_t milliseconds);
/* Resumes an exchange that has no answer: its connection is closed. */
void diario_http_give_up(diario_http_exchange *exchange);

#endif
