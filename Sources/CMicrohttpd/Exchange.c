#define _GNU_SOURCE

#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

/* Requests. */

const char *diario_http_method(const diario_http_exchange *exchange) { return exchange->method; }
const char *diario_http_path(const diario_http_exchange *exchange) { return exchange->path; }
const char *diario_http_version(const diario_http_exchange *exchange) { return exchange->version; }

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

int32_t diario_http_peer(const diario_http_exchange *exchange, uint64_t *network) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (info == NULL || info->client_addr == NULL) return -1;
    if (info->client_addr->sa_family == AF_INET) {
        const struct sockaddr_in *found = (const struct sockaddr_in *)info->client_addr;
        *network = ntohl(found->sin_addr.s_addr);
        return *network >> 24 == 127;
    }
    if (info->client_addr->sa_family != AF_INET6) return -1;
    const struct in6_addr *found = &((const struct sockaddr_in6 *)info->client_addr)->sin6_addr;
    const uint8_t *bytes = found->s6_addr;
    /* An IPv4 address that comes to a socket of IPv6 is the one that it says. */
    size_t first = IN6_IS_ADDR_V4MAPPED(found) ? 12 : 0, count = first > 0 ? 4 : 8;
    *network = 0;
    for (size_t index = first; index < first + count; index++) {
        *network = *network << 8 | bytes[index];
    }
    return first > 0 ? *network >> 24 == 127 : IN6_IS_ADDR_LOOPBACK(found) != 0;
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
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
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

static ssize_t on_produce(void *context, uint64_t position, char *bytes, size_t capacity) {
    (void)position;
    diario_http_exchange *exchange = context;
    int64_t count =
        exchange->server->calls.produce(exchange->request, (uint8_t *)bytes, capacity);
    return count == DIARIO_HTTP_END ? MHD_CONTENT_READER_END_OF_STREAM : (ssize_t)count;
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
