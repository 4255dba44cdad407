#define _GNU_SOURCE

#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* Keeps a socket open for a while, for its client to read what it was sent. Without a free place
 * it is closed as others are. */
void diario_http_begin_parting(diario_http *server, int socket) {
    pthread_mutex_lock(&server->lock);
    for (int index = 0; index < PARTING_COUNT; index += 1) {
        parting *one = &server->partings[index];
        if (one->socket >= 0) continue;
        one->socket = fcntl(socket, F_DUPFD_CLOEXEC, 0);
        if (one->socket < 0) break;
        one->deadline = now_milliseconds() + PARTING_MILLISECONDS;
        (void)shutdown(one->socket, SHUT_WR);
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = PARTING_BIT | (uint64_t)index};
        (void)epoll_ctl(server->watch, EPOLL_CTL_ADD, one->socket, &event);
        break;
    }
    pthread_mutex_unlock(&server->lock);
}

static void end_parting(parting *one) {
    (void)close(one->socket);
    one->socket = -1;
}

/* Throws away what came. */
void diario_http_drain_parting(diario_http *server, uint64_t index) {
    pthread_mutex_lock(&server->lock);
    parting *one = &server->partings[index % PARTING_COUNT];
    if (one->socket >= 0) {
        ssize_t count = recv(one->socket, NULL, 1 << 20, MSG_TRUNC | MSG_DONTWAIT);
        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) end_parting(one);
    }
    pthread_mutex_unlock(&server->lock);
}

void diario_http_end_partings(diario_http *server, int64_t latest) {
    for (int index = 0; index < PARTING_COUNT; index += 1) {
        parting *one = &server->partings[index];
        if (one->socket >= 0 && one->deadline < latest) end_parting(one);
    }
}
