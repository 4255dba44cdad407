#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "CBaseline.h"
#include <microhttpd.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

/* The body of a request, as far as it came. */
typedef struct {
    uint8_t *bytes;
    size_t size, capacity;
} body;

static enum MHD_Result body_append(body *body, const char *bytes, size_t count) {
    if (body->capacity - body->size < count) {
        size_t capacity = 2 * body->capacity + count;
        uint8_t *larger = realloc(body->bytes, capacity);
        if (larger == NULL) return MHD_NO;
        body->bytes = larger;
        body->capacity = capacity;
    }
    memcpy(body->bytes + body->size, bytes, count);
    body->size += count;
    return MHD_YES;
}

static int serve(MHD_AccessHandlerCallback access, MHD_RequestCompletedCallback completed,
          void *context) {
#if defined(__linux__)
    /* Nobody needs it when the benchmark has ended. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    unsigned int flags =
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC;
    struct MHD_Daemon *daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, access, context, MHD_OPTION_SOCK_ADDR, &address,
        MHD_OPTION_THREAD_POOL_SIZE, 2U, MHD_OPTION_CONNECTION_LIMIT, 10000U,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)6 * 1024,
        MHD_OPTION_CONNECTION_MEMORY_INCREMENT, (size_t)1024, MHD_OPTION_NOTIFY_COMPLETED,
        completed, context, MHD_OPTION_END);
    if (daemon == NULL) return errno == 0 ? -EINVAL : -errno;
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    printf("http://127.0.0.1:%u\n", info == NULL ? 0U : (unsigned int)info->port);
    fflush(stdout);
    for (;;) pause();
}

/* Bodies that are appended to a file. */

typedef struct push {
    struct MHD_Connection *connection;
    body body;
    int is_done; /* 1, or a negative errno */
    struct push *next;
} push;

typedef struct {
    int file;
    struct MHD_Response *response;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t some;
    push *first, **last;
} appender;

/* As large as the answer to a small push. */
static const uint8_t answer[48];

static enum MHD_Result on_push(void *context, struct MHD_Connection *connection, const char *path,
                               const char *method, const char *version, const char *bytes,
                               size_t *count, void **kept) {
    (void)path;
    (void)method;
    (void)version;
    appender *appender = context;
    push *one = *kept;
    if (one == NULL) {
        one = calloc(1, sizeof *one);
        if (one == NULL) return MHD_NO;
        one->connection = connection;
        *kept = one;
        return MHD_YES;
    }
    if (*count > 0) {
        size_t taken = *count;
        *count = 0;
        return body_append(&one->body, bytes, taken);
    }
    if (one->is_done != 0) {
        return one->is_done < 0 ? MHD_NO
                                : MHD_queue_response(connection, 200, appender->response);
    }
    MHD_suspend_connection(connection);
    pthread_mutex_lock(&appender->lock);
    *appender->last = one;
    appender->last = &one->next;
    pthread_cond_signal(&appender->some);
    pthread_mutex_unlock(&appender->lock);
    return MHD_YES;
}

static void on_pushed(void *context, struct MHD_Connection *connection, void **kept,
                      enum MHD_RequestTerminationCode code) {
    (void)context;
    (void)connection;
    (void)code;
    push *one = *kept;
    if (one == NULL) return;
    *kept = NULL;
    free(one->body.bytes);
    free(one);
}

static int append(int file, const body *body) {
    size_t done = 0;
    while (done < body->size) {
        ssize_t written = write(file, body->bytes + done, body->size - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return -EIO;
        done += (size_t)written;
    }
    return 0;
}

static void *commit(void *context) {
    appender *appender = context;
    for (;;) {
        pthread_mutex_lock(&appender->lock);
        while (appender->first == NULL) pthread_cond_wait(&appender->some, &appender->lock);
        push *list = appender->first;
        appender->first = NULL;
        appender->last = &appender->first;
        pthread_mutex_unlock(&appender->lock);
        int result = 1;
        for (push *one = list; one != NULL; one = one->next) {
            if (append(appender->file, &one->body) != 0) result = -EIO;
        }
        if (fdatasync(appender->file) != 0) result = -errno;
        while (list != NULL) {
            push *next = list->next;
            list->is_done = result;
            MHD_resume_connection(list->connection);
            list = next;
        }
    }
    return NULL;
}

int baseline_serve_append(const char *path) {
    static appender appender = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                .some = PTHREAD_COND_INITIALIZER};
    appender.last = &appender.first;
    appender.file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (appender.file < 0) return -errno;
    appender.response = MHD_create_response_from_buffer(sizeof answer, (void *)(uintptr_t)answer,
                                                        MHD_RESPMEM_PERSISTENT);
    pthread_t thread;
    if (appender.response == NULL ||
        MHD_add_response_header(appender.response, "Content-Type",
                                "application/vnd.diario.message") != MHD_YES ||
        pthread_create(&thread, NULL, commit, &appender) != 0)
        return -ENOMEM;
    return serve(on_push, on_pushed, &appender);
}
