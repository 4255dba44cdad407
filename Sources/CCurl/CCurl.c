#define _GNU_SOURCE
#include "CCurl.h"

#include <curl/curl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_SIZE_MAX = 64 * 1024, POLL_MILLISECONDS = 60 * 1000 };

typedef struct transfer {
    struct transfer *next;
    uint64_t id;
    CURL *easy;
    struct curl_slist *fields;
    diario_curl_done done;
    void *context;
    uint8_t *body;
    size_t body_size, body_capacity, body_max;
    uint8_t *headers;
    size_t header_size, header_capacity;
    uint64_t sent, received;
    bool is_too_large, is_out_of_memory;
    char failure[CURL_ERROR_SIZE];
} transfer;

typedef struct cancellation {
    struct cancellation *next;
    uint64_t id;
} cancellation;

struct diario_curl_client {
    CURLM *multi;
    pthread_mutex_t lock;
    /* Under the lock: what the thread has not looked at yet. */
    transfer *started;
    cancellation *cancelled;
    bool is_ended;
    /* The thread's own. */
    transfer *under_way;
};

/* MARK: What comes in */

/* Makes room for `count` more bytes, at most `max` in all. */
static bool grow(uint8_t **bytes, size_t *capacity, size_t size, size_t count, size_t max) {
    size_t wanted = size + count;
    if (wanted <= *capacity) return true;
    size_t next = *capacity < 4096 ? 4096 : *capacity * 2;
    if (next < wanted) next = wanted;
    if (next > max) next = max;
    uint8_t *larger = realloc(*bytes, next);
    if (larger == NULL) return false;
    *bytes = larger;
    *capacity = next;
    return true;
}

static size_t take_body(char *bytes, size_t one, size_t count, void *context) {
    (void)one;
    transfer *own = context;
    if (count > own->body_max - own->body_size) {
        own->is_too_large = true;
        return CURL_WRITEFUNC_ERROR;
    }
    if (!grow(&own->body, &own->body_capacity, own->body_size, count, own->body_max)) {
        own->is_out_of_memory = true;
        return CURL_WRITEFUNC_ERROR;
    }
    memcpy(own->body + own->body_size, bytes, count);
    own->body_size += count;
    return count;
}

static size_t take_header(char *bytes, size_t one, size_t count, void *context) {
    (void)one;
    transfer *own = context;
    /* A status line: what came before was of an answer that is none yet, as 100. */
    if (count >= 5 && memcmp(bytes, "HTTP/", 5) == 0) {
        own->header_size = 0;
        return count;
    }
    if (count > HEADER_SIZE_MAX - own->header_size) {
        own->is_too_large = true;
        return CURL_WRITEFUNC_ERROR;
    }
    if (!grow(&own->headers, &own->header_capacity, own->header_size, count, HEADER_SIZE_MAX)) {
        own->is_out_of_memory = true;
        return CURL_WRITEFUNC_ERROR;
    }
    memcpy(own->headers + own->header_size, bytes, count);
    own->header_size += count;
    return count;
}

/* Counts what goes over the wire; nothing is printed. */
static int count_bytes(CURL *easy, curl_infotype kind, char *bytes, size_t count, void *context) {
    (void)easy;
    (void)bytes;
    transfer *own = context;
    switch (kind) {
    case CURLINFO_HEADER_OUT:
    case CURLINFO_DATA_OUT: own->sent += count; break;
    case CURLINFO_HEADER_IN:
    case CURLINFO_DATA_IN: own->received += count; break;
    default: break;
    }
    return 0;
}

/* MARK: The end of a request */

static int32_t outcome(const transfer *own, CURLcode code) {
    if (own->is_too_large) return DIARIO_CURL_TOO_LARGE;
    if (own->is_out_of_memory) return DIARIO_CURL_MEMORY;
    switch (code) {
    case CURLE_OK: return DIARIO_CURL_DONE;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY: return DIARIO_CURL_RESOLVE;
    case CURLE_COULDNT_CONNECT: return DIARIO_CURL_CONNECT;
    case CURLE_OPERATION_TIMEDOUT: return DIARIO_CURL_TIMEOUT;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR: return DIARIO_CURL_UNTRUSTED;
    case CURLE_SSL_CACERT_BADFILE: return DIARIO_CURL_CERTIFICATES;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CIPHER: return DIARIO_CURL_TLS;
    case CURLE_OUT_OF_MEMORY: return DIARIO_CURL_MEMORY;
    case CURLE_FILESIZE_EXCEEDED: return DIARIO_CURL_TOO_LARGE;
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_SEND_FAIL_REWIND:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL: return DIARIO_CURL_BROKEN;
    default: return DIARIO_CURL_OTHER;
    }
}

/* Tells how a request ended, and lets go of it. */
static void finish(transfer *own, int32_t result, const char *failure) {
    diario_curl_answer answer = {.outcome = result, .failure = failure};
    if (own->easy != NULL) {
        long status = 0, connections = 1;
        (void)curl_easy_getinfo(own->easy, CURLINFO_RESPONSE_CODE, &status);
        (void)curl_easy_getinfo(own->easy, CURLINFO_NUM_CONNECTS, &connections);
        answer.status = (int32_t)status;
        answer.is_reused = connections == 0;
    }
    answer.headers = own->headers;
    answer.header_size = own->header_size;
    answer.body = own->body;
    answer.body_size = own->body_size;
    answer.sent = own->sent;
    answer.received = own->received;
    own->done(own->context, &answer);
    if (own->easy != NULL) curl_easy_cleanup(own->easy);
    curl_slist_free_all(own->fields);
    free(own->headers);
    free(own->body);
    free(own);
}

/* MARK: The thread */

static void begin(diario_curl_client *client, transfer *own) {
    CURLMcode code = curl_multi_add_handle(client->multi, own->easy);
    if (code != CURLM_OK) {
        finish(own, DIARIO_CURL_OTHER, curl_multi_strerror(code));
        return;
    }
    own->next = client->under_way;
    client->under_way = own;
}

/* Takes a request off the list of those that are under way. */
static void leave(diario_curl_client *client, transfer *own) {
    for (transfer **place = &client->under_way; *place != NULL; place = &(*place)->next) {
        if (*place != own) continue;
        *place = own->next;
        break;
    }
    (void)curl_multi_remove_handle(client->multi, own->easy);
}

static void take_finished(diario_curl_client *client) {
    for (;;) {
        int left = 0;
        CURLMsg *message = curl_multi_info_read(client->multi, &left);
        if (message == NULL) return;
        if (message->msg != CURLMSG_DONE) continue;
        CURLcode code = message->data.result;
        transfer *own = NULL;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&own);
        leave(client, own);
        const char *failure = own->failure[0] != 0 ? own->failure : curl_easy_strerror(code);
        finish(own, outcome(own, code), code == CURLE_OK ? "" : failure);
    }
}

static void cancel(diario_curl_client *client, uint64_t id) {
    for (transfer *own = client->under_way; own != NULL; own = own->next) {
        if (own->id != id) continue;
        leave(client, own);
        finish(own, DIARIO_CURL_CANCELLED, "");
        return;
    }
}

/* Requests in the order in which they were started. */
static transfer *reversed(transfer *list) {
    transfer *result = NULL;
    while (list != NULL) {
        transfer *next = list->next;
        list->next = result;
        result = list;
        list = next;
    }
    return result;
}

static void *work(void *context) {
    diario_curl_client *client = context;
    for (;;) {
        (void)pthread_mutex_lock(&client->lock);
        transfer *started = reversed(client->started);
        cancellation *cancelled = client->cancelled;
        bool is_ended = client->is_ended;
        client->started = NULL;
        client->cancelled = NULL;
        (void)pthread_mutex_unlock(&client->lock);
        while (started != NULL) {
            transfer *next = started->next;
            begin(client, started);
            started = next;
        }
        /* After what was started: one may have been cancelled since. */
        while (cancelled != NULL) {
            cancellation *next = cancelled->next;
            cancel(client, cancelled->id);
            free(cancelled);
            cancelled = next;
        }
        if (is_ended) break;
        int running = 0;
        (void)curl_multi_perform(client->multi, &running);
        take_finished(client);
        (void)curl_multi_poll(client->multi, NULL, 0, POLL_MILLISECONDS, NULL);
    }
    while (client->under_way != NULL) cancel(client, client->under_way->id);
    (void)curl_multi_cleanup(client->multi);
    (void)pthread_mutex_destroy(&client->lock);
    free(client);
    return NULL;
}

/* MARK: From any thread */

static pthread_once_t library_once = PTHREAD_ONCE_INIT;
static bool library_works = false;

static void begin_library(void) {
    library_works = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

diario_curl_client *diario_curl_make(void) {
    (void)pthread_once(&library_once, begin_library);
    if (!library_works) return NULL;
    diario_curl_client *client = calloc(1, sizeof *client);
    if (client == NULL) return NULL;
    client->multi = curl_multi_init();
    if (client->multi == NULL || pthread_mutex_init(&client->lock, NULL) != 0) {
        if (client->multi != NULL) (void)curl_multi_cleanup(client->multi);
        free(client);
        return NULL;
    }
    /* The thread inherits this: signals are for the program's own threads, and a connection that
       the other side closed must not end it. */
    sigset_t all, old;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_t thread;
    pthread_attr_t attributes;
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int result = pthread_create(&thread, &attributes, work, client);
    (void)pthread_attr_destroy(&attributes);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (result != 0) {
        (void)curl_multi_cleanup(client->multi);
        (void)pthread_mutex_destroy(&client->lock);
        free(client);
        return NULL;
    }
#if defined(__linux__)
    (void)pthread_setname_np(thread, "diario-http");
#endif
    return client;
}

void diario_curl_end(diario_curl_client *client) {
    if (client == NULL) return;
    (void)pthread_mutex_lock(&client->lock);
    client->is_ended = true;
    /* Under the lock: the thread frees the client once it has seen that it is ended. */
    (void)curl_multi_wakeup(client->multi);
    (void)pthread_mutex_unlock(&client->lock);
}

static bool add_fields(transfer *own, const char *fields) {
    while (*fields != 0) {
        const char *end = strchr(fields, '\n');
        if (end == NULL) return false;
        char *line = strndup(fields, (size_t)(end - fields));
        if (line == NULL) return false;
        struct curl_slist *longer = curl_slist_append(own->fields, line);
        free(line);
        if (longer == NULL) return false;
        own->fields = longer;
        fields = end + 1;
    }
    return true;
}

static bool prepare(transfer *own, const diario_curl_request *request) {
    CURL *easy = own->easy = curl_easy_init();
    if (easy == NULL || !add_fields(own, request->headers)) return false;
    bool works = true;
#define SET(option, value) works = curl_easy_setopt(easy, option, value) == CURLE_OK && works
    SET(CURLOPT_URL, request->url);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_HTTPHEADER, own->fields);
    SET(CURLOPT_SSL_VERIFYPEER, 1L);
    SET(CURLOPT_SSL_VERIFYHOST, 2L);
    if (request->certificates != NULL) {
        SET(CURLOPT_CAINFO, request->certificates);
        SET(CURLOPT_CAPATH, (char *)NULL);
    }
    if (!request->uses_proxy) SET(CURLOPT_PROXY, "");
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)request->connect_milliseconds);
    SET(CURLOPT_LOW_SPEED_LIMIT, 64L);
    SET(CURLOPT_LOW_SPEED_TIME, (long)request->stall_seconds);
    SET(CURLOPT_MAXAGE_CONN, (long)request->idle_seconds);
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    if (request->body != NULL) {
        SET(CURLOPT_POST, 1L);
        if (request->is_put) SET(CURLOPT_CUSTOMREQUEST, "PUT");
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_size);
        SET(CURLOPT_COPYPOSTFIELDS, (const char *)request->body);
    }
    SET(CURLOPT_ERRORBUFFER, own->failure);
    SET(CURLOPT_WRITEFUNCTION, take_body);
    SET(CURLOPT_WRITEDATA, own);
    SET(CURLOPT_HEADERFUNCTION, take_header);
    SET(CURLOPT_HEADERDATA, own);
    SET(CURLOPT_DEBUGFUNCTION, count_bytes);
    SET(CURLOPT_DEBUGDATA, own);
    SET(CURLOPT_VERBOSE, 1L);
    SET(CURLOPT_PRIVATE, own);
#undef SET
    return works;
}

void diario_curl_start(diario_curl_client *client, uint64_t id, const diario_curl_request *request,
                       diario_curl_done done, void *context) {
    transfer *own = calloc(1, sizeof *own);
    if (own == NULL) {
        diario_curl_answer answer = {.outcome = DIARIO_CURL_MEMORY, .failure = ""};
        done(context, &answer);
        return;
    }
    own->id = id;
    own->done = done;
    own->context = context;
    own->body_max = request->answer_size_max;
    if (!prepare(own, request)) {
        finish(own, DIARIO_CURL_OTHER, "the request cannot be made");
        return;
    }
    (void)pthread_mutex_lock(&client->lock);
    own->next = client->started;
    client->started = own;
    (void)curl_multi_wakeup(client->multi);
    (void)pthread_mutex_unlock(&client->lock);
}

void diario_curl_cancel(diario_curl_client *client, uint64_t id) {
    cancellation *own = calloc(1, sizeof *own);
    /* Without memory it goes on until it ends by itself. */
    if (own == NULL) return;
    own->id = id;
    (void)pthread_mutex_lock(&client->lock);
    own->next = client->cancelled;
    client->cancelled = own;
    (void)curl_multi_wakeup(client->multi);
    (void)pthread_mutex_unlock(&client->lock);
}
