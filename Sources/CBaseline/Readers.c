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
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

/* A server need not take more at a time than a few hundred. */
enum { PIECE_SIZE = 16 * 1024, TAIL_SIZE = 64, OPENED_AT_ONCE = 200 };

typedef struct {
    int socket;
    int has_found;
    /* The end of what came, in which a marker may have begun. */
    size_t tail_size;
    char tail[TAIL_SIZE];
} reader;

struct baseline_readers {
    int poll;
    size_t count;
    /* The last one posts. */
    reader list[];
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int connect_to(uint16_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    int on = 1;
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    int flags = fcntl(descriptor, F_GETFL);
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0 || flags < 0 ||
        fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) != 0) {
        int error = -errno;
        close(descriptor);
        return error;
    }
    return descriptor;
}

static int send_text(int descriptor, const char *text) {
    size_t size = strlen(text);
    ssize_t sent = send(descriptor, text, size, MSG_NOSIGNAL);
    if (sent < 0) return -errno;
    return (size_t)sent == size ? 0 : -EMSGSIZE;
}

/* Reads what has come, and looks for the marker: 1 if it is there now for the first time. */
static int take(reader *one, const char *marker, size_t marker_size) {
    static char bytes[TAIL_SIZE + PIECE_SIZE];
    memcpy(bytes, one->tail, one->tail_size);
    ssize_t count = recv(one->socket, bytes + one->tail_size, PIECE_SIZE, 0);
    if (count < 0) return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    if (count == 0) return -ECONNRESET;
    size_t size = one->tail_size + (size_t)count;
    if (size > 12 && memcmp(bytes, "HTTP/1.1 ", 9) == 0 && bytes[9] != '2') return -EPROTO;
    int is_found = memmem(bytes, size, marker, marker_size) != NULL;
    one->tail_size = size < marker_size - 1 ? size : marker_size - 1;
    memcpy(one->tail, bytes + size - one->tail_size, one->tail_size);
    if (!is_found || one->has_found) return 0;
    one->has_found = 1;
    return 1;
}

/* Waits until each from `first` to before `end` has got the marker, or an answer if it posts. */
static int wait_for(baseline_readers *all, size_t first, size_t end, const char *marker,
                    int64_t start, int32_t milliseconds, int64_t *nanoseconds) {
    struct epoll_event events[256];
    size_t missing = end - first, marker_size = strlen(marker);
    if (marker_size == 0 || marker_size > TAIL_SIZE) return -EINVAL;
    for (size_t index = first; index < end; index++) {
        all->list[index].has_found = 0;
        all->list[index].tail_size = 0;
    }
    while (missing > 0) {
        int64_t rest = milliseconds - (now() - start) / 1000000;
        if (rest <= 0) return -ETIMEDOUT;
        int found = epoll_wait(all->poll, events, 256, (int)rest);
        if (found < 0 && errno != EINTR) return -errno;
        for (int index = 0; index < found; index++) {
            size_t number = (size_t)events[index].data.u64;
            int is_post = number == all->count;
            const char *wanted = is_post ? "HTTP/1.1 20" : marker;
            int result = take(&all->list[number], wanted, strlen(wanted));
            if (result < 0) return result;
            if (result == 0) continue;
            if (!is_post && nanoseconds != NULL) nanoseconds[number] = now() - start;
            missing -= 1;
        }
    }
    return 0;
}

static int open_one(baseline_readers *all, size_t index, uint16_t port, const char *request) {
    int descriptor = connect_to(port);
    if (descriptor < 0) return descriptor;
    all->list[index].socket = descriptor;
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = index};
    if (epoll_ctl(all->poll, EPOLL_CTL_ADD, descriptor, &event) != 0) return -errno;
    return index < all->count ? send_text(descriptor, request) : 0;
}

baseline_readers *baseline_readers_open(uint16_t port, const char *request, size_t count,
                                        const char *marker, int32_t milliseconds, int *error) {
    baseline_readers *all = calloc(1, sizeof *all + (count + 1) * sizeof(reader));
    *error = -ENOMEM;
    if (all == NULL) return NULL;
    int64_t start = now();
    all->count = count;
    for (size_t index = 0; index <= count; index++) all->list[index].socket = -1;
    all->poll = epoll_create1(EPOLL_CLOEXEC);
    *error = all->poll < 0 ? -errno : 0;
    for (size_t first = 0; *error == 0 && first < count; first += OPENED_AT_ONCE) {
        size_t end = count - first < OPENED_AT_ONCE ? count : first + OPENED_AT_ONCE;
        for (size_t index = first; *error == 0 && index < end; index++) {
            *error = open_one(all, index, port, request);
        }
        if (*error == 0) *error = wait_for(all, first, end, marker, start, milliseconds, NULL);
    }
    if (*error == 0) *error = open_one(all, count, port, request);
    if (*error == 0) return all;
    baseline_readers_close(all);
    return NULL;
}

int baseline_readers_post(baseline_readers *readers, const char *post, const char *marker,
                          int32_t milliseconds, int64_t *nanoseconds) {
    int64_t start = now();
    int error = send_text(readers->list[readers->count].socket, post);
    if (error < 0) return error;
    return wait_for(readers, 0, readers->count + 1, marker, start, milliseconds, nanoseconds);
}

void baseline_readers_close(baseline_readers *readers) {
    for (size_t index = 0; index <= readers->count; index++) {
        if (readers->list[index].socket >= 0) close(readers->list[index].socket);
    }
    if (readers->poll >= 0) close(readers->poll);
    free(readers);
}

#else

/* Without epoll there is no such measurement. */

baseline_readers *baseline_readers_open(uint16_t port, const char *request, size_t count,
                                        const char *marker, int32_t milliseconds, int *error) {
    (void)port;
    (void)request;
    (void)count;
    (void)marker;
    (void)milliseconds;
    *error = -ENOTSUP;
    return NULL;
}

int baseline_readers_post(baseline_readers *readers, const char *post, const char *marker,
                          int32_t milliseconds, int64_t *nanoseconds) {
    (void)readers;
    (void)post;
    (void)marker;
    (void)milliseconds;
    (void)nanoseconds;
    return -ENOTSUP;
}

void baseline_readers_close(baseline_readers *readers) { (void)readers; }

#endif
