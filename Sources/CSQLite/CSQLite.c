#include "CSQLite.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if defined(__APPLE__)
#include <malloc/malloc.h>
#else
#include <malloc.h>
#endif

// Small pieces of memory that a thread gave back are kept for it, by size: a statement takes and
// gives back a dozen of them each time it runs, and Debian's library has no such lists of its own.
// A piece of class c has at least 16 * c bytes. Each comes from `malloc`, so any thread may give it
// back.
enum { class_size = 16, class_count = 65, kept_max = 32 };

struct piece {
    struct piece *next;
};

struct spare {
    struct piece *first[class_count];
    unsigned char count[class_count];
    int is_known;
};

static _Thread_local int64_t thread_bytes;
// No more than this is given to the thread, and whether it wanted more.
static _Thread_local int64_t thread_bytes_max = INT64_MAX;
static _Thread_local int is_over;
static _Thread_local struct spare spare;
// Its values are the spare pieces of threads, to be freed when these end.
static pthread_key_t spares;

static int size_of(void *memory) {
#if defined(__APPLE__)
    return (int)malloc_size(memory);
#else
    return (int)malloc_usable_size(memory);
#endif
}

// The class of a piece that has so many bytes, which is what is counted of it.
static unsigned class_of(int size) { return (unsigned)size / class_size; }

static int64_t counted(unsigned class) { return (int64_t)class * class_size; }

// True if so many bytes more are too many.
static int is_too_much(int64_t size) {
    // What the thread has may be below 0, and the bound without end.
    if (thread_bytes + size <= thread_bytes_max) return 0;
    is_over = 1;
    return 1;
}

static void *take(int size) {
    if (is_too_much(size)) return NULL;
    unsigned class = class_of(size + class_size - 1);
    struct piece *piece = class < class_count ? spare.first[class] : NULL;
    if (piece != NULL) {
        spare.first[class] = piece->next;
        spare.count[class] -= 1;
        thread_bytes += counted(class);
        return piece;
    }
    void *memory = malloc((size_t)counted(class));
    if (memory != NULL) thread_bytes += counted(class_of(size_of(memory)));
    return memory;
}

static void *resize(void *memory, int size) {
    unsigned before = class_of(size_of(memory));
    if (is_too_much(size - counted(before))) return NULL;
    void *resized = realloc(memory, (size_t)size);
    if (resized != NULL) thread_bytes += counted(class_of(size_of(resized))) - counted(before);
    return resized;
}

static void give(void *memory) {
    unsigned class = class_of(size_of(memory));
    thread_bytes -= counted(class);
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
    // It is to notice what is used after it was given back.
    class = class_count;
#endif
#endif
    if (class >= class_count || spare.count[class] == kept_max) {
        free(memory);
        return;
    }
    if (!spare.is_known) {
        if (pthread_setspecific(spares, &spare) != 0) {
            free(memory);
            return;
        }
        spare.is_known = 1;
    }
    struct piece *piece = memory;
    piece->next = spare.first[class];
    spare.first[class] = piece;
    spare.count[class] += 1;
}

static void free_spare(void *ended) {
    struct spare *spare = ended;
    for (int class = 0; class < class_count; class++) {
        while (spare->first[class] != NULL) {
            struct piece *next = spare->first[class]->next;
            free(spare->first[class]);
            spare->first[class] = next;
        }
        spare->count[class] = 0;
    }
    spare->is_known = 0;
}

static int rounded(int size) { return (size + 7) & ~7; }

static int begin(void *nothing) {
    (void)nothing;
    return pthread_key_create(&spares, free_spare) == 0 ? SQLITE_OK : SQLITE_NOMEM;
}

static void end(void *nothing) {
    (void)nothing;
    pthread_key_delete(spares);
}

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

int diario_sqlite_prepare(
    sqlite3 *database, const char *text, int size, unsigned flags, int64_t bytes_max,
    sqlite3_stmt **statement, const char **tail
) {
    is_over = 0;
    thread_bytes_max = thread_bytes + bytes_max;
    int code = sqlite3_prepare_v3(database, text, size, flags, statement, tail);
    thread_bytes_max = INT64_MAX;
    return code == SQLITE_NOMEM && is_over ? DIARIO_SQLITE_TOO_INVOLVED : code;
}

char *diario_sqlite_place(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    char *folder = slash == NULL ? sqlite3_mprintf(".")
                                 : sqlite3_mprintf("%.*s/", (int)(slash - path), path);
    char *found = folder == NULL ? NULL : realpath(folder, NULL);
    sqlite3_free(folder);
    // Of a folder that is not there SQLite says so.
    const char *above = found == NULL || strcmp(found, "/") == 0 ? "" : found;
    char *place = found == NULL ? sqlite3_mprintf("%s", path)
                                : sqlite3_mprintf("%s/%s", above, name);
    free(found);
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    for (size_t index = 0; place != NULL && index < sizeof endings / sizeof *endings; index++) {
        struct stat status;
        char *file = sqlite3_mprintf("%s%s", place, endings[index]);
        int is_there = file != NULL && lstat(file, &status) == 0;
        sqlite3_free(file);
        if (!is_there || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) ||
            S_ISLNK(status.st_mode)) {
            continue;
        }
        sqlite3_free(place);
        place = NULL;
    }
    return place;
}
