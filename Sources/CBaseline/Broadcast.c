#include "CBaseline.h"
#include "Serve.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
    struct MHD_Connection *connection;
    body body;         /* of a POST */
    uint64_t round;    /* the last one that a stream was given */
    int is_post, is_suspended;
    struct request *previous, *next; /* among all streams */
} request;

typedef struct {
    pthread_mutex_t lock; /* of all that follows */
    /* What all streams are given in this round; the first is a greeting. */
    body piece;
    uint64_t round;
    request *first;
} broadcast;

static broadcast all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static ssize_t on_produce(void *context, uint64_t position, char *bytes, size_t capacity) {
    (void)position;
    request *one = context;
    ssize_t count = 0;
    pthread_mutex_lock(&all.lock);
    if (one->round == all.round) {
        one->is_suspended = 1;
        MHD_suspend_connection(one->connection);
    } else if (all.piece.size > capacity) {
        count = MHD_CONTENT_READER_END_WITH_ERROR;
    } else {
        one->round = all.round;
        count = (ssize_t)all.piece.size;
        memcpy(bytes, all.piece.bytes, all.piece.size);
    }
    pthread_mutex_unlock(&all.lock);
    return count;
}

static enum MHD_Result send_stream(request *one) {
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 512, on_produce, one, NULL);
    if (response == NULL) return MHD_NO;
    (void)MHD_add_response_header(response, "Content-Type", "text/event-stream");
    pthread_mutex_lock(&all.lock);
    one->next = all.first;
    if (one->next != NULL) one->next->previous = one;
    all.first = one;
    pthread_mutex_unlock(&all.lock);
    enum MHD_Result result = MHD_queue_response(one->connection, 200, response);
    MHD_destroy_response(response);
    return result;
}

/* Gives the body to all streams. */
static enum MHD_Result send_to_all(request *post) {
    pthread_mutex_lock(&all.lock);
    all.round += 1;
    body before = all.piece;
    all.piece = post->body;
    post->body = before;
    for (request *one = all.first; one != NULL; one = one->next) {
        if (!one->is_suspended) continue;
        one->is_suspended = 0;
        MHD_resume_connection(one->connection);
    }
    pthread_mutex_unlock(&all.lock);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (response == NULL) return MHD_NO;
    enum MHD_Result result = MHD_queue_response(post->connection, 201, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *bytes, size_t *count, void **kept) {
    (void)context;
    (void)path;
    (void)version;
    request *one = *kept;
    if (one == NULL) {
        one = calloc(1, sizeof *one);
        if (one == NULL) return MHD_NO;
        one->connection = connection;
        one->is_post = strcmp(method, "POST") == 0;
        *kept = one;
        return MHD_YES;
    }
    if (*count > 0) {
        size_t taken = *count;
        *count = 0;
        return body_append(&one->body, bytes, taken);
    }
    return one->is_post ? send_to_all(one) : send_stream(one);
}

static void on_ended(void *context, struct MHD_Connection *connection, void **kept,
                     enum MHD_RequestTerminationCode code) {
    (void)context;
    (void)connection;
    (void)code;
    request *one = *kept;
    if (one == NULL) return;
    *kept = NULL;
    pthread_mutex_lock(&all.lock);
    if (one->previous != NULL) one->previous->next = one->next;
    else if (all.first == one) all.first = one->next;
    if (one->next != NULL) one->next->previous = one->previous;
    pthread_mutex_unlock(&all.lock);
    free(one->body.bytes);
    free(one);
}

int baseline_serve_broadcast(void) {
    static const char greeting[] = "event: control\ndata:{\"upToDate\":true}\n\n";
    if (body_append(&all.piece, greeting, sizeof greeting - 1) != MHD_YES) return -ENOMEM;
    all.round = 1;
    return serve(on_request, on_ended, NULL);
}
