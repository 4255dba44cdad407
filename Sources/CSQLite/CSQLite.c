#include "CSQLite.h"

#include <stdlib.h>

#if defined(__APPLE__)
#include <malloc/malloc.h>
#else
#include <malloc.h>
#endif

static _Thread_local int64_t thread_bytes;

static int size_of(void *memory) {
#if defined(__APPLE__)
    return (int)malloc_size(memory);
#else
    return (int)malloc_usable_size(memory);
#endif
}

static void *take(int size) {
    void *memory = malloc((size_t)size);
    if (memory != NULL) thread_bytes += size_of(memory);
    return memory;
}

static void *resize(void *memory, int size) {
    int before = size_of(memory);
    void *resized = realloc(memory, (size_t)size);
    if (resized != NULL) thread_bytes += size_of(resized) - before;
    return resized;
}

static void give(void *memory) {
    thread_bytes -= size_of(memory);
    free(memory);
}

static int rounded(int size) { return (size + 7) & ~7; }

static int begin(void *nothing) {
    (void)nothing;
    return SQLITE_OK;
}

static void end(void *nothing) { (void)nothing; }

int diario_sqlite_count_by_thread(void) {
    sqlite3_mem_methods methods = {
        .xMalloc = take,
        .xFree = give,
        .xRealloc = resize,
        .xSize = size_of,
        .xRoundup = rounded,
        .xInit = begin,
        .xShutdown = end,
    };
    int code = sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
    return code == SQLITE_OK ? sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) : code;
}

int64_t diario_sqlite_thread_bytes(void) { return thread_bytes; }
