#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "CPlatform.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#elif defined(__APPLE__)
#include <pthread/qos.h>
#endif

/* The process, its threads and its clocks; files are in CPlatform.c. */

void diario_name_thread(const uint8_t *name, size_t length) {
    char text[16];
    if (length > sizeof text - 1) length = sizeof text - 1;
    memcpy(text, name, length);
    text[length] = 0;
#if defined(__linux__)
    (void)pthread_setname_np(pthread_self(), text);
#elif defined(__APPLE__)
    (void)pthread_setname_np(text);
#endif
}

void diario_yield_priority(void) {
#if defined(__linux__)
    /* On Linux a niceness is one thread's. 10 leaves it a tenth of a core that others want too:
     * it must come to an end, since it holds locks for moments. */
    (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 10);
#elif defined(__APPLE__)
    (void)pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0);
#endif
}

int32_t diario_process_id(void) { return (int32_t)getpid(); }

int64_t diario_wall_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t diario_monotonic_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void diario_sleep(int64_t nanoseconds) {
    struct timespec length = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    (void)nanosleep(&length, NULL);
}

uint64_t diario_random(void) {
    uint64_t value = 0;
#if defined(__linux__)
    ssize_t result;
    do {
        result = getrandom(&value, sizeof value, 0);
    } while (result < 0 && errno == EINTR);
    /* Up to 256 bytes come whole or not at all; without a generator no id may be made. */
    if (result != (ssize_t)sizeof value) abort();
#else
    arc4random_buf(&value, sizeof value);
#endif
    return value;
}

size_t diario_host_name(uint8_t *name, size_t capacity) {
    char buffer[256];
    if (gethostname(buffer, sizeof buffer) != 0) return 0;
    buffer[sizeof buffer - 1] = 0;
    size_t length = strlen(buffer);
    if (length > capacity) length = capacity;
    memcpy(name, buffer, length);
    return length;
}
