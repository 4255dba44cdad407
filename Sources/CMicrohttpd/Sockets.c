#define _GNU_SOURCE

#include "CMicrohttpd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

const int32_t diario_http_error_in_use = -EADDRINUSE;
const int32_t diario_http_error_access = -EACCES;
const int32_t diario_http_error_no_address = -EADDRNOTAVAIL;
const int32_t diario_http_error_files = -EMFILE;
const int32_t diario_http_error_not_found = -ENOENT;
const int32_t diario_http_error_unknown_host = -100000;

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
        const char *written = inet_ntop(AF_INET6, &found->sin6_addr, text, (socklen_t)capacity);
        return written == NULL ? -errno : ntohs(found->sin6_port);
    }
    const struct sockaddr_in *found = (const struct sockaddr_in *)&address;
    const char *written = inet_ntop(AF_INET, &found->sin_addr, text, (socklen_t)capacity);
    return written == NULL ? -errno : ntohs(found->sin_port);
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
