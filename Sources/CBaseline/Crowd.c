#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "CBaseline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__)

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

enum { PIECE_SIZE = 64 * 1024, SECONDS_MAX = 120 };

typedef struct {
    int socket;
    int has_status;
    const char *request;
} asker;

struct baseline_crowd {
    uint16_t port;
    int poll;
    int is_over; /* atomic */
    int error;
    pthread_t thread;
    int64_t counts[3];
    size_t count;
    asker list[];
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int baseline_connect(uint16_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    int on = 1;
    struct timeval patience = {.tv_sec = SECONDS_MAX};
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    int error = -errno;
    close(descriptor);
    return error;
}

static int send_text(int descriptor, const char *text) {
    size_t size = strlen(text);
    ssize_t sent = send(descriptor, text, size, MSG_NOSIGNAL);
    if (sent < 0) return -errno;
    return (size_t)sent == size ? 0 : -EMSGSIZE;
}

int64_t baseline_ask(int descriptor, const char *request, int *status) {
    static _Thread_local char bytes[2 * 1024 * 1024];
    int64_t start = now();
    int error = send_text(descriptor, request);
    if (error < 0) return error;
    size_t size = 0, wanted = 0;
    while (wanted == 0 || size < wanted) {
        ssize_t count = recv(descriptor, bytes + size, sizeof bytes - 1 - size, 0);
        if (count <= 0) return count == 0 ? -ECONNRESET : -errno;
        size += (size_t)count;
        bytes[size] = 0;
        const char *end = wanted == 0 ? strstr(bytes, "\r\n\r\n") : NULL;
        if (end == NULL) continue;
        const char *length = strcasestr(bytes, "\r\nContent-Length:");
        if (length == NULL || length > end) return -EPROTO;
        wanted = (size_t)(end - bytes) + 4 + strtoul(length + 17, NULL, 10);
        if (wanted >= sizeof bytes) return -EMSGSIZE;
    }
    *status = size > 12 ? atoi(bytes + 9) : 0;
    return now() - start;
}

static int begin(baseline_crowd *crowd, size_t index) {
    asker *one = &crowd->list[index];
    one->has_status = 0;
    one->socket = baseline_connect(crowd->port);
    if (one->socket < 0) return one->socket;
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = index};
    if (epoll_ctl(crowd->poll, EPOLL_CTL_ADD, one->socket, &event) != 0) return -errno;
    return send_text(one->socket, one->request);
}

/* Takes what came; when the server has closed, asks again. */
static int go_on(baseline_crowd *crowd, size_t index) {
    static char bytes[PIECE_SIZE];
    asker *one = &crowd->list[index];
    ssize_t count = recv(one->socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (count > 12 && !one->has_status) {
        int is_good = memcmp(bytes + 9, "200", 3) == 0, is_busy = memcmp(bytes + 9, "503", 3) == 0;
        crowd->counts[is_good ? 0 : is_busy ? 1 : 2] += 1;
        one->has_status = 1;
    }
    if (count > 0) return 0;
    close(one->socket);
    return begin(crowd, index);
}

static void *run(void *context) {
    baseline_crowd *crowd = context;
    struct epoll_event events[256];
    while (crowd->error == 0 && !__atomic_load_n(&crowd->is_over, __ATOMIC_RELAXED)) {
        int found = epoll_wait(crowd->poll, events, 256, 50);
        for (int index = 0; crowd->error == 0 && index < found; index++) {
            crowd->error = go_on(crowd, (size_t)events[index].data.u64);
        }
    }
    return NULL;
}

baseline_crowd *baseline_crowd_start(uint16_t port, const char *first, size_t first_count,
                                     const char *second, size_t second_count) {
    size_t count = first_count + second_count;
    baseline_crowd *crowd = calloc(1, sizeof *crowd + count * sizeof(asker));
    if (crowd == NULL) return NULL;
    crowd->port = port;
    crowd->count = count;
    crowd->poll = epoll_create1(EPOLL_CLOEXEC);
    const char *requests[2] = {strdup(first), strdup(second)};
    for (size_t index = 0; index < count; index++) {
        crowd->list[index] = (asker){.socket = -1, .request = requests[index >= first_count]};
        if (crowd->error == 0) crowd->error = begin(crowd, index);
    }
    if (crowd->error == 0 && pthread_create(&crowd->thread, NULL, run, crowd) == 0) return crowd;
    free(crowd);
    return NULL;
}

int baseline_crowd_end(baseline_crowd *crowd, int64_t *counts) {
    __atomic_store_n(&crowd->is_over, 1, __ATOMIC_RELAXED);
    pthread_join(crowd->thread, NULL);
    for (size_t index = 0; index < crowd->count; index++) {
        if (crowd->list[index].socket >= 0) close(crowd->list[index].socket);
    }
    close(crowd->poll);
    memcpy(counts, crowd->counts, sizeof crowd->counts);
    int error = crowd->error;
    free(crowd);
    return error;
}

#else

/* Without epoll there is no such measurement. */

int baseline_connect(uint16_t port) {
    (void)port;
    return -ENOTSUP;
}

int64_t baseline_ask(int descriptor, const char *request, int *status) {
    (void)descriptor;
    (void)request;
    (void)status;
    return -ENOTSUP;
}

baseline_crowd *baseline_crowd_start(uint16_t port, const char *first, size_t first_count,
                                     const char *second, size_t second_count) {
    (void)port;
    (void)first;
    (void)first_count;
    (void)second;
    (void)second_count;
    return NULL;
}

int baseline_crowd_end(baseline_crowd *crowd, int64_t *counts) {
    (void)crowd;
    (void)counts;
    return -ENOTSUP;
}

#endif
