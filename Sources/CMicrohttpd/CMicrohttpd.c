#define _GNU_SOURCE

#include "CMicrohttpd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const int32_t diario_http_error_in_use = -EADDRINUSE;
const int32_t diario_http_error_access = -EACCES;
const int32_t diario_http_error_no_address = -EADDRNOTAVAIL;
const int32_t diario_http_error_files = -EMFILE;
const int32_t diario_http_error_not_found = -ENOENT;
const int32_t diario_http_error_unknown_host = -100000;

/* One connection, from when it was taken until its socket is closed. */
typedef struct connection {
    int socket;
    int64_t deadline; /* milliseconds; 0 for none; atomic */
    int is_reading;   /* a request, or nothing, is expected; atomic */
    int ended_count;  /* how often its client was seen to send no more */
    struct connection *previous, *next;
} connection;

struct diario_http {
    struct MHD_Daemon *daemon;
    diario_http_calls calls;
    int64_t head_milliseconds;
    int watch, wake;
    pthread_mutex_t lock; /* of the list */
    connection *first;
    uint32_t count;
    char *message; /* only while the daemon starts */
    size_t message_capacity;
};

struct diario_http_exchange {
    diario_http *server;
    struct MHD_Connection *connection;
    connection *record;
    const char *method, *path;
    void *request;
    struct MHD_Response *response; /* until it is handed over */
    unsigned int status;
    int is_asked, is_suspended, is_watched;
};

static int64_t now_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void set_deadline(connection *record, int64_t milliseconds) {
    if (record == NULL) return;
    int64_t deadline = milliseconds > 0 ? now_milliseconds() + milliseconds : 0;
    __atomic_store_n(&record->deadline, deadline, __ATOMIC_RELAXED);
}

static void set_reading(connection *record, int is_reading) {
    if (record != NULL) __atomic_store_n(&record->is_reading, is_reading, __ATOMIC_RELAXED);
}

/* Sockets. */

int64_t diario_http_raise_file_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
    if (limit.rlim_cur < limit.rlim_max) {
        rlim_t before = limit.rlim_cur;
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
    }
    return limit.rlim_cur > INT32_MAX ? INT32_MAX : (int64_t)limit.rlim_cur;
}

static int listen_on(const struct addrinfo *found) {
    int descriptor =
        socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, found->ai_protocol);
    if (descriptor < 0) return -errno;
    int on = 1, off = 0;
    /* Else a server that starts again would wait for connections of the one before. */
    (void)setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    /* `::` takes connections of both kinds. */
    if (found->ai_family == AF_INET6) {
        (void)setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    if (bind(descriptor, found->ai_addr, found->ai_addrlen) != 0 || listen(descriptor, 1024) != 0) {
        int error = -errno;
        (void)close(descriptor);
        return error;
    }
    return descriptor;
}

int32_t diario_http_listen(const char *host, uint16_t port) {
    char service[8];
    snprintf(service, sizeof service, "%u", (unsigned int)port);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *all = NULL;
    if (getaddrinfo(host, service, &hints, &all) != 0) return diario_http_error_unknown_host;
    int result = diario_http_error_unknown_host;
    for (struct addrinfo *one = all; one != NULL && result < 0; one = one->ai_next) {
        result = listen_on(one);
        /* The first address is the one that counts, unless the system knows no such family. */
        if (result != -EAFNOSUPPORT && result != diario_http_error_no_address) break;
    }
    freeaddrinfo(all);
    return result;
}

static int own_address(int32_t descriptor, struct sockaddr_storage *address) {
    socklen_t size = sizeof *address;
    return getsockname(descriptor, (struct sockaddr *)address, &size);
}

int32_t diario_http_address(int32_t descriptor, char *text, size_t capacity) {
    struct sockaddr_storage address;
    if (own_address(descriptor, &address) != 0) return -errno;
    if (address.ss_family == AF_INET6) {
        const struct sockaddr_in6 *found = (const struct sockaddr_in6 *)&address;
        if (inet_ntop(AF_INET6, &found->sin6_addr, text, (socklen_t)capacity) == NULL) return -errno;
        return ntohs(found->sin6_port);
    }
    const struct sockaddr_in *found = (const struct sockaddr_in *)&address;
    if (inet_ntop(AF_INET, &found->sin_addr, text, (socklen_t)capacity) == NULL) return -errno;
    return ntohs(found->sin_port);
}

int32_t diario_http_is_loopback(int32_t descriptor) {
    struct sockaddr_storage address;
    if (own_address(descriptor, &address) != 0) return 0;
    if (address.ss_family == AF_INET6) {
        const struct in6_addr *found = &((const struct sockaddr_in6 *)&address)->sin6_addr;
        return IN6_IS_ADDR_LOOPBACK(found);
    }
    const struct sockaddr_in *found = (const struct sockaddr_in *)&address;
    return ntohl(found->sin_addr.s_addr) >> 24 == 127;
}

void diario_http_close_socket(int32_t descriptor) { (void)close(descriptor); }

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

static connection *record_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

static enum MHD_Result on_access(void *context, struct MHD_Connection *connection,
                                 const char *path, const char *method, const char *version,
                                 const char *bytes, size_t *count, void **kept) {
    (void)version;
    diario_http *server = context;
    diario_http_exchange *exchange = *kept;
    if (exchange == NULL) {
        exchange = calloc(1, sizeof *exchange);
        if (exchange == NULL) return MHD_NO;
        exchange->server = server;
        exchange->connection = connection;
        exchange->record = record_of(connection);
        exchange->method = method;
        exchange->path = path;
        *kept = exchange;
        exchange->request = server->calls.begin(server->calls.context, exchange);
        if (exchange->response == NULL) return MHD_YES;
        set_reading(exchange->record, 0);
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

static ssize_t on_produce(void *context, uint64_t position, char *bytes, size_t capacity) {
    (void)position;
    diario_http_exchange *exchange = context;
    int64_t count =
        exchange->server->calls.produce(exchange->request, (uint8_t *)bytes, capacity);
    return count == DIARIO_HTTP_END ? MHD_CONTENT_READER_END_OF_STREAM : (ssize_t)count;
}

static void on_completed(void *context, struct MHD_Connection *connection, void **kept,
                         enum MHD_RequestTerminationCode code) {
    (void)connection;
    diario_http *server = context;
    diario_http_exchange *exchange = *kept;
    if (exchange == NULL) return;
    *kept = NULL;
    if (exchange->is_watched) {
        (void)epoll_ctl(server->watch, EPOLL_CTL_DEL, exchange->record->socket, NULL);
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
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)options->certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)options->key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0,
         (void *)(uintptr_t) "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};
    int is_secure = options->certificate != NULL;
    if (is_secure) flags |= MHD_USE_TLS;
    /* First the logger, so that it hears of what is wrong with the others. */
    return MHD_start_daemon(
        flags, 0, NULL, NULL, on_access, server, MHD_OPTION_EXTERNAL_LOGGER, on_message, server,
        MHD_OPTION_LISTEN_SOCKET, (MHD_socket)options->listener, MHD_OPTION_THREAD_POOL_SIZE,
        (unsigned int)options->thread_count, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        options->connection_size, MHD_OPTION_CONNECTION_MEMORY_INCREMENT, (size_t)1024,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned int)options->connection_count_max,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned int)options->address_connection_count_max,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)options->quiet_seconds_max,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_UNESCAPE_CALLBACK, on_unescape, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, server, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, server, MHD_OPTION_ARRAY, is_secure ? secure : plain, MHD_OPTION_END);
}

static void free_server(diario_http *server) {
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
    server->calls = *calls;
    server->head_milliseconds = (int64_t)options->head_seconds_max * 1000;
    pthread_mutex_init(&server->lock, NULL);
    server->watch = epoll_create1(EPOLL_CLOEXEC);
    server->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 0};
    if (server->watch >= 0 && server->wake >= 0 &&
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

void diario_http_quiesce(diario_http *server) {
    MHD_socket listener = MHD_quiesce_daemon(server->daemon);
    if (listener != MHD_INVALID_SOCKET) (void)close(listener);
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
        if (events[index].data.u64 != 0) {
            numbers[count] = events[index].data.u64;
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
    int result = epoll_ctl(exchange->server->watch, EPOLL_CTL_ADD, exchange->record->socket, &event);
    exchange->is_watched = result == 0;
}

/* Requests. */

const char *diario_http_method(const diario_http_exchange *exchange) { return exchange->method; }
const char *diario_http_path(const diario_http_exchange *exchange) { return exchange->path; }

typedef struct {
    diario_http_field *fields;
    size_t count, capacity;
} field_list;

static enum MHD_Result on_field(void *context, enum MHD_ValueKind kind, const char *name,
                                size_t name_size, const char *value, size_t value_size) {
    (void)kind;
    field_list *list = context;
    if (list->count < list->capacity) {
        list->fields[list->count] = (diario_http_field){name, name_size, value, value_size};
    }
    list->count += 1;
    return MHD_YES;
}

static size_t fields_of(const diario_http_exchange *exchange, enum MHD_ValueKind kind,
                        diario_http_field *fields, size_t capacity) {
    field_list list = {fields, 0, capacity};
    (void)MHD_get_connection_values_n(exchange->connection, kind, on_field, &list);
    return list.count;
}

size_t diario_http_headers(const diario_http_exchange *exchange, diario_http_field *fields,
                           size_t capacity) {
    return fields_of(exchange, MHD_HEADER_KIND, fields, capacity);
}

size_t diario_http_parameters(const diario_http_exchange *exchange, diario_http_field *fields,
                              size_t capacity) {
    return fields_of(exchange, MHD_GET_ARGUMENT_KIND, fields, capacity);
}

size_t diario_http_head_size(const diario_http_exchange *exchange) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info == NULL ? 0 : info->header_size;
}

void diario_http_allow(diario_http_exchange *exchange, int64_t milliseconds) {
    set_deadline(exchange->record, milliseconds);
}

void diario_http_suspend(diario_http_exchange *exchange) {
    set_deadline(exchange->record, 0);
    exchange->is_suspended = 1;
    MHD_suspend_connection(exchange->connection);
}

void diario_http_resume(diario_http_exchange *exchange) {
    exchange->is_suspended = 0;
    MHD_resume_connection(exchange->connection);
}

/* Answers. */

diario_http_response *diario_http_make_bytes(const uint8_t *bytes, size_t count) {
    return (diario_http_response *)MHD_create_response_from_buffer(
        count, (void *)(uintptr_t)bytes, MHD_RESPMEM_MUST_COPY);
}

diario_http_response *diario_http_make_file(const char *path, uint64_t offset, uint64_t count,
                                            int32_t *error) {
    int descriptor;
    do {
        descriptor = open(path, O_RDONLY | O_CLOEXEC);
    } while (descriptor < 0 && errno == EINTR);
    *error = -errno;
    if (descriptor < 0) return NULL;
    struct stat status;
    struct MHD_Response *response = NULL;
    *error = -EIO;
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
        offset <= (uint64_t)status.st_size && count <= (uint64_t)status.st_size - offset) {
        response = MHD_create_response_from_fd_at_offset64(count, descriptor, offset);
    }
    if (response == NULL) (void)close(descriptor);
    return (diario_http_response *)response;
}

diario_http_response *diario_http_make_live(diario_http_exchange *exchange) {
    /* The block is used for clients of HTTP/1.0 only: pieces in chunks go into the connection. */
    return (diario_http_response *)MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, 512, on_produce, exchange, NULL);
}

int32_t diario_http_add_header(diario_http_response *response, const char *name,
                               const char *value) {
    return MHD_add_response_header((struct MHD_Response *)response, name, value) == MHD_YES;
}

void diario_http_answer(diario_http_exchange *exchange, uint32_t status,
                        diario_http_response *response, int64_t milliseconds) {
    exchange->response = (struct MHD_Response *)response;
    exchange->status = status;
    set_deadline(exchange->record, milliseconds);
    if (exchange->is_suspended) diario_http_resume(exchange);
}

void diario_http_give_up(diario_http_exchange *exchange) {
    if (exchange->is_suspended) diario_http_resume(exchange);
}
