/*
 * CSQLite for a page: one thread, which is a worker. Memory is counted in one number.
 */
#include "CSQLite.h"

#include <stdlib.h>
#include <string.h>

static int64_t taken;
/* No more than this may be taken, and whether more was wanted. */
static int64_t taken_max = INT64_MAX;
static int is_over;

/* In front of each piece stands its size: no allocator has to be asked for it. */
enum { front = 8 };

static int64_t *size_of(void *memory) { return (int64_t *)((char *)memory - front); }

static void *resize(void *memory, int size) {
    int64_t before = memory == NULL ? 0 : *size_of(memory);
    if (taken + size - before > taken_max) {
        is_over = 1;
        return NULL;
    }
    char *start = realloc(memory == NULL ? NULL : size_of(memory), (size_t)size + front);
    if (start == NULL) return NULL;
    taken += size - before;
    *(int64_t *)start = size;
    return start + front;
}

static void *take(int size) { return resize(NULL, size); }

static void give(void *memory) {
    taken -= *size_of(memory);
    free(size_of(memory));
}

static int size(void *memory) { return (int)*size_of(memory); }
static int rounded(int size) { return (size + 7) & ~7; }
static int begin(void *nothing) { return (void)nothing, SQLITE_OK; }
static void end(void *nothing) { (void)nothing; }

int diario_sqlite_count_by_thread(void) {
    sqlite3_mem_methods methods = {
        .xMalloc = take,
        .xFree = give,
        .xRealloc = resize,
        .xSize = size,
        .xRoundup = rounded,
        .xInit = begin,
        .xShutdown = end,
    };
    int code = sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
    return code == SQLITE_OK ? sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) : code;
}

int64_t diario_sqlite_thread_bytes(void) { return taken; }

int diario_sqlite_prepare(
    sqlite3 *database, const char *text, int size, unsigned flags, int64_t bytes_max,
    sqlite3_stmt **statement, const char **tail
) {
    is_over = 0;
    taken_max = taken + bytes_max;
    int code = sqlite3_prepare_v3(database, text, size, flags, statement, tail);
    taken_max = INT64_MAX;
    return code == SQLITE_NOMEM && is_over ? DIARIO_SQLITE_TOO_INVOLVED : code;
}

/* Names of files are those of the directory, which has no links. */
char *diario_sqlite_place(const char *path) { return sqlite3_mprintf("%s", path); }
