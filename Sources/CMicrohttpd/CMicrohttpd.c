#define _GNU_SOURCE

#include "internal.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void set_reading(connection *record, int is_reading) {
    if (record != NULL) __atomic_store_n(&record->is_reading, is_reading, __ATOMIC_RELAXED);
}

/* What the library calls. */

static struct MHD_Response *taken(diario_http_exchange *exchange) {
    struct MHD_Response *response = exchange->response;
    exchange->response = NULL;
    return response;
}

static enum MHD_Result send_answer(diario_http_exchange *exchange) {
    struct MHD_Response *response = taken(exchange);
    enum MHD_Result result = MHD_queue_response(exchange->connection, exchange->status, response);
    MHD_destroy_response(response); /* the connection has a reference of its own */
    return result;
}

connection *diario_http_record_of(struct MHD_Connection *connection) {
    if (connection == NULL) return NULL;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

static enum MHD_Result on_access(void *context, struct MHD_Connection *connection,
                                 const char *path, const char *method, const char *version,
                                 const char *bytes, size_t *count, void **kept) {
    diario_http *server = context;
    diario_http_exchange *exchange = *kept;
    if (exchange == NULL) {
        exchange = calloc(1, sizeof *exchange);
        if (exchange == NULL) return MHD_NO;
        exchange->server = server;
        exchange->connection = connection;
        exchange->record = diario_http_record_of(connection);
        exchange->method = method;
        exchange->path = path;
        exchange->version = version;
        *kept = exchange;
        exchange->request = server->calls.begin(server->calls.context, exchange);
        if (exchange->response == NULL) return MHD_YES;
        set_reading(exchange->record, 0);
        exchange->is_early = 1;
        return send_answer(exchange);
    }
    if (*count > 0) {
        int32_t result =
            server->calls.receive(exchange->request, (const uint8_t *)bytes, *count);
        *count = 0;
        return result == 0 ? MHD_YES : MHD_NO;
    }
    if (!exchange->is_asked) {
        exchange->is_asked = 1;
        set_reading(exchange->record, 0);
        /* Suspended: another thread may answer at this moment, so nothing is looked at. */
        if (server->calls.ready(exchange->request) == 0) return MHD_YES;
    }
    return exchange->response == NULL ? MHD_NO : send_answer(exchange);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **kept,
                         enum MHD_RequestTerminationCode code) {
    (void)connection;
    diario_http *server = context;
    diario_http_exchange *exchange = *kept;
    if (exchange == NULL) return;
    *kept = NULL;
    int is_known = exchange->record != NULL;
    if (is_known && exchange->is_watched) {
        (void)epoll_ctl(server->watch, EPOLL_CTL_DEL, exchange->record->socket, NULL);
    }
    if (is_known && exchange->is_early && code == MHD_REQUEST_TERMINATED_COMPLETED_OK) {
        diario_http_begin_parting(server, exchange->record->socket);
    }
    set_deadline(exchange->record, server->head_milliseconds);
    set_reading(exchange->record, 1);
    struct MHD_Response *response = taken(exchange);
    if (response != NULL) MHD_destroy_response(response);
    if (exchange->request != NULL) {
        server->calls.end(exchange->request, code == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    }
    free(exchange);
}

static enum MHD_Result on_arrival(void *context, const struct sockaddr *address,
                                  socklen_t size) {
    (void)address;
    (void)size;
    diario_http *server = context;
    return __atomic_load_n(&server->is_turning_away, __ATOMIC_RELAXED) ? MHD_NO : MHD_YES;
}

static void on_connection(void *context, struct MHD_Connection *library, void **kept,
                          enum MHD_ConnectionNotificationCode code) {
    diario_http *server = context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(library, MHD_CONNECTION_INFO_CONNECTION_FD);
        connection *record = calloc(1, sizeof *record);
        if (info == NULL || record == NULL) {
            free(record);
            return;
        }
        record->server = server;
        record->socket = info->connect_fd;
        set_deadline(record, server->head_milliseconds);
        set_reading(record, 1);
        *kept = record;
        pthread_mutex_lock(&server->lock);
        record->next = server->first;
        if (record->next != NULL) record->next->previous = record;
        server->first = record;
        server->count += 1;
        pthread_mutex_unlock(&server->lock);
        return;
    }
    connection *record = *kept;
    if (record == NULL) return;
    *kept = NULL;
    /* The socket is still open here, so that under the lock a record has its own. */
    pthread_mutex_lock(&server->lock);
    if (record->previous != NULL) record->previous->next = record->next;
    else server->first = record->next;
    if (record->next != NULL) record->next->previous = record->previous;
    server->count -= 1;
    pthread_mutex_unlock(&server->lock);
    free(record);
}

/* Percent signs are left as they came: whoever reads the path knows where a name ends. */
static size_t on_unescape(void *context, struct MHD_Connection *connection, char *text) {
    (void)context;
    (void)connection;
    return strlen(text);
}

static void on_message(void *context, const char *format, va_list arguments) {
    diario_http *server = context;
    if (server->message == NULL || server->message[0] != 0) return;
    vsnprintf(server->message, server->message_capacity, format, arguments);
}

/* The daemon. */

static struct MHD_Daemon *start_daemon(diario_http *server, const diario_http_options *options) {
    unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC |
                         MHD_USE_ERROR_LOG;
    struct MHD_OptionItem secure[] = {
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0,
         (void *)(uintptr_t)diario_http_on_certificate},
        {MHD_OPTION_HTTPS_PRIORITIES, 0,
         (void *)(uintptr_t) "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};
    int is_secure = options->certificate != NULL;
    if (is_secure) flags |= MHD_USE_TLS;
    /* First the logger, so that it hears of what is wrong with the others. Not stricter than by
     * default: it would answer a missing host itself, and its head would go out twice. */
    return MHD_start_daemon(
        flags, 0, on_arrival, server, on_access, server,
        MHD_OPTION_EXTERNAL_LOGGER, on_message, server,
        MHD_OPTION_LISTEN_SOCKET, (MHD_socket)options->listener, MHD_OPTION_THREAD_POOL_SIZE,
        (unsigned int)options->thread_count, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        options->connection_size, MHD_OPTION_CONNECTION_MEMORY_INCREMENT, (size_t)1024,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned int)options->connection_count_max,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned int)options->address_connection_count_max,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)options->quiet_seconds_max,
        MHD_OPTION_UNESCAPE_CALLBACK, on_unescape, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, server, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, server, MHD_OPTION_ARRAY, is_secure ? secure : plain, MHD_OPTION_END);
}

static void free_server(diario_http *server) {
    diario_http_end_partings(server, INT64_MAX);
    diario_http_free_certificates(server);
    if (server->watch >= 0) (void)close(server->watch);
    if (server->wake >= 0) (void)close(server->wake);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

diario_http *diario_http_start(const diario_http_options *options, const diario_http_calls *calls,
                               char *message, size_t capacity) {
    message[0] = 0;
    diario_http *server = calloc(1, sizeof *server);
    if (server == NULL) {
        snprintf(message, capacity, "there is no memory");
        (void)close(options->listener);
        return NULL;
    }
    for (int index = 0; index < PARTING_COUNT; index += 1) server->partings[index].socket = -1;
    server->calls = *calls;
    server->head_milliseconds = (int64_t)options->head_seconds_max * 1000;
    pthread_mutex_init(&server->lock, NULL);
    server->watch = epoll_create1(EPOLL_CLOEXEC);
    server->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 0};
    int is_certified = options->certificate == NULL ||
                       diario_http_use_certificate(server, options->certificate, options->key,
                                                   message, capacity) == 0;
    if (!is_certified) {
        /* The message is there. */
    } else if (server->watch >= 0 && server->wake >= 0 &&
               epoll_ctl(server->watch, EPOLL_CTL_ADD, server->wake, &event) == 0) {
        server->message = message;
        server->message_capacity = capacity;
        server->daemon = start_daemon(server, options);
        server->message = NULL;
    } else {
        snprintf(message, capacity, "%s", strerror(errno));
    }
    if (server->daemon != NULL) return server;
    if (message[0] == 0) snprintf(message, capacity, "%s", strerror(errno));
    (void)close(options->listener);
    free_server(server);
    return NULL;
}

/* Not by MHD_quiesce_daemon: it takes the listening socket from where the library's threads wait
 * for it while they may do so themselves, and who comes second ends the process (0.9.75). */
void diario_http_turn_away(diario_http *server) {
    __atomic_store_n(&server->is_turning_away, 1, __ATOMIC_RELAXED);
}

/* Whether the client has sent the end of its stream, and all before it was read. */
static int has_ended(int socket) {
    struct tcp_info info;
    socklen_t size = sizeof info;
    int waiting = 0;
    return getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
           info.tcpi_state == TCP_CLOSE_WAIT && ioctl(socket, FIONREAD, &waiting) == 0 &&
           waiting == 0;
}

/* The library waits for the rest of a first line or a body although none can come. Looked at
 * twice, since it may be about to see that the request is whole. */
static int is_abandoned(connection *one) {
    int is_reading = __atomic_load_n(&one->is_reading, __ATOMIC_RELAXED);
    one->ended_count = is_reading && has_ended(one->socket) ? one->ended_count + 1 : 0;
    return one->ended_count > 1;
}

/* A socket that is shut down shows to its thread as a client that has gone. */

void diario_http_break_off(diario_http *server) {
    pthread_mutex_lock(&server->lock);
    for (connection *one = server->first; one != NULL; one = one->next) {
        (void)shutdown(one->socket, SHUT_RDWR);
    }
    pthread_mutex_unlock(&server->lock);
}

void diario_http_break_off_overdue(diario_http *server) {
    int64_t now = now_milliseconds();
    pthread_mutex_lock(&server->lock);
    for (connection *one = server->first; one != NULL; one = one->next) {
        int64_t deadline = __atomic_load_n(&one->deadline, __ATOMIC_RELAXED);
        if ((deadline != 0 && deadline < now) || is_abandoned(one)) {
            (void)shutdown(one->socket, SHUT_RDWR);
        }
    }
    diario_http_end_partings(server, now);
    pthread_mutex_unlock(&server->lock);
}

void diario_http_stop(diario_http *server) {
    MHD_stop_daemon(server->daemon);
    free_server(server);
}

uint32_t diario_http_connection_count(diario_http *server) {
    pthread_mutex_lock(&server->lock);
    uint32_t count = server->count;
    pthread_mutex_unlock(&server->lock);
    return count;
}

/* Clients that go while their exchange is suspended: the library does not look then. */

int32_t diario_http_wait(diario_http *server, uint64_t *numbers, int32_t capacity,
                         int32_t milliseconds) {
    struct epoll_event events[64];
    int most = capacity < 64 ? capacity : 64;
    int found = epoll_wait(server->watch, events, most, milliseconds);
    int32_t count = 0;
    for (int index = 0; index < found; index += 1) {
        uint64_t number = events[index].data.u64;
        if ((number & PARTING_BIT) != 0) {
            diario_http_drain_parting(server, number & ~PARTING_BIT);
            continue;
        }
        if (number != 0) {
            numbers[count] = number;
            count += 1;
            continue;
        }
        uint64_t value;
        (void)!read(server->wake, &value, sizeof value);
    }
    return count;
}

void diario_http_wake(diario_http *server) {
    uint64_t one = 1;
    (void)!write(server->wake, &one, sizeof one);
}

void diario_http_watch(diario_http_exchange *exchange, uint64_t number) {
    if (exchange->is_watched || exchange->record == NULL) return;
    struct epoll_event event = {.events = EPOLLRDHUP | EPOLLONESHOT, .data.u64 = number};
    int watch = exchange->server->watch, socket = exchange->record->socket;
    exchange->is_watched = epoll_ctl(watch, EPOLL_CTL_ADD, socket, &event) == 0;
}
