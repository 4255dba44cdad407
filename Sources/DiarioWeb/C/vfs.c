/*
 * SQLite's file system in a page. Several connections of the worker may have one file open: its
 * locks, and the index of its write-ahead log, are in the memory of the worker, so the engine's
 * connections work as natively. One thread: nobody waits, whoever finds a lock is told "busy".
 */
#include "web.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/*
 * What SQLite's file system asks of the directory, which is in Swift: the slot of a name, made if
 * it `creates`; below 0 if there is none, or no room for one (`DIARIO_WEB_FULL`).
 */
enum { DIARIO_WEB_MISSING = -1, DIARIO_WEB_FULL = -2 };
int diario_web_open_name(const char *name, int creates);
void diario_web_close_name(int slot);
/* True if the name was there. */
int diario_web_remove_name(const char *name);
int diario_web_has_name(const char *name);

/* Regions of the index of a write-ahead log, 32 KiB each: a log of 8 GiB. */
enum { regions_max = 512 };

/* A file, for all connections that have it open. */
struct node {
    struct node *next;
    /* Below 0 for a file without a name, which is in `bytes`. */
    int slot;
    int users;
    char *bytes;
    sqlite3_int64 size, room;
    /* Locks of the file. */
    int readers, is_reserved, is_pending, is_exclusive;
    /* The index of the write-ahead log, and its locks: readers, or -1 for one who writes. */
    int index_users, region_count;
    void *regions[regions_max];
    int index_locks[SQLITE_SHM_NLOCK];
};

/* A file as one connection has it open. */
struct file {
    sqlite3_file base;
    struct node *node;
    int level, has_index;
    unsigned reading, writing;
};

static struct node *nodes;

static struct file *file_of(sqlite3_file *file) { return (struct file *)file; }
static struct node *node_of(sqlite3_file *file) { return file_of(file)->node; }

/* ---- Bytes ---- */

static int read_bytes(sqlite3_file *file, void *out, int count, sqlite3_int64 at) {
    struct node *node = node_of(file);
    int found;
    if (node->slot >= 0) {
        found = diario_web_read(node->slot, out, count, (double)at);
        if (found < 0) return SQLITE_IOERR_READ;
    } else {
        sqlite3_int64 rest = node->size > at ? node->size - at : 0;
        found = rest < count ? (int)rest : count;
        if (found > 0) memcpy(out, node->bytes + at, (size_t)found);
    }
    if (found == count) return SQLITE_OK;
    memset((char *)out + found, 0, (size_t)(count - found));
    return SQLITE_IOERR_SHORT_READ;
}

static int write_bytes(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at) {
    struct node *node = node_of(file);
    if (node->slot >= 0) {
        int written = diario_web_write(node->slot, bytes, count, (double)at);
        return written == count ? SQLITE_OK : written >= 0 ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    }
    if (at + count > node->room) {
        sqlite3_int64 room = 2 * (at + count);
        char *more = room > 0x7fffffff ? NULL : realloc(node->bytes, (size_t)room);
        if (more == NULL) return SQLITE_FULL;
        memset(more + node->room, 0, (size_t)(room - node->room));
        node->bytes = more;
        node->room = room;
    }
    memcpy(node->bytes + at, bytes, (size_t)count);
    if (at + count > node->size) node->size = at + count;
    return SQLITE_OK;
}

static int truncate(sqlite3_file *file, sqlite3_int64 size) {
    struct node *node = node_of(file);
    if (node->slot >= 0)
        return diario_web_truncate(node->slot, (double)size) < 0 ? SQLITE_IOERR_TRUNCATE
                                                                 : SQLITE_OK;
    if (size < node->size) {
        memset(node->bytes + size, 0, (size_t)(node->size - size));
        node->size = size;
    }
    return SQLITE_OK;
}

static int sync(sqlite3_file *file, int flags) {
    struct node *node = node_of(file);
    (void)flags;
    return node->slot < 0 || diario_web_flush(node->slot) >= 0 ? SQLITE_OK : SQLITE_IOERR_FSYNC;
}

static int size(sqlite3_file *file, sqlite3_int64 *size) {
    struct node *node = node_of(file);
    *size = node->slot < 0 ? node->size : (sqlite3_int64)diario_web_size(node->slot);
    return *size < 0 ? SQLITE_IOERR_FSTAT : SQLITE_OK;
}

/* ---- Locks of the file ---- */

static int lock(sqlite3_file *base, int level) {
    struct file *file = file_of(base);
    struct node *node = file->node;
    if (level <= file->level) return SQLITE_OK;
    if (file->level == SQLITE_LOCK_NONE) {
        if (node->is_pending || node->is_exclusive) return SQLITE_BUSY;
        node->readers += 1;
        file->level = SQLITE_LOCK_SHARED;
    }
    if (level >= SQLITE_LOCK_RESERVED && file->level < SQLITE_LOCK_RESERVED) {
        if (node->is_reserved) return SQLITE_BUSY;
        node->is_reserved = 1;
        file->level = SQLITE_LOCK_RESERVED;
    }
    if (level == SQLITE_LOCK_EXCLUSIVE) {
        /* Readers come to an end, and no new ones begin. */
        node->is_pending = 1;
        file->level = SQLITE_LOCK_PENDING;
        if (node->readers > 1) return SQLITE_BUSY;
        node->is_exclusive = 1;
        file->level = SQLITE_LOCK_EXCLUSIVE;
    }
    return SQLITE_OK;
}

static int unlock(sqlite3_file *base, int level) {
    struct file *file = file_of(base);
    struct node *node = file->node;
    if (level >= file->level) return SQLITE_OK;
    if (file->level >= SQLITE_LOCK_EXCLUSIVE) node->is_exclusive = 0;
    if (file->level >= SQLITE_LOCK_PENDING) node->is_pending = 0;
    if (file->level >= SQLITE_LOCK_RESERVED) node->is_reserved = 0;
    if (level == SQLITE_LOCK_NONE) node->readers -= 1;
    file->level = level;
    return SQLITE_OK;
}

static int check_lock(sqlite3_file *file, int *is_reserved) {
    *is_reserved = node_of(file)->is_reserved;
    return SQLITE_OK;
}

/* ---- The index of the write-ahead log ---- */

static int map_index(sqlite3_file *base, int number, int size, int extends, void volatile **out) {
    struct file *file = file_of(base);
    struct node *node = file->node;
    *out = NULL;
    if (!file->has_index) {
        file->has_index = 1;
        node->index_users += 1;
    }
    if (number >= regions_max) return SQLITE_NOMEM;
    while (node->region_count <= number) {
        if (!extends) return SQLITE_OK;
        void *region = calloc(1, (size_t)size);
        if (region == NULL) return SQLITE_NOMEM;
        node->regions[node->region_count++] = region;
    }
    *out = node->regions[number];
    return SQLITE_OK;
}

static void release_index(struct file *file, int first, int count) {
    for (int i = first; i < first + count; i++) {
        unsigned bit = 1u << i;
        if (file->writing & bit) file->node->index_locks[i] = 0;
        if (file->reading & bit) file->node->index_locks[i] -= 1;
        file->writing &= ~bit;
        file->reading &= ~bit;
    }
}

static int lock_index(sqlite3_file *base, int first, int count, int flags) {
    struct file *file = file_of(base);
    int *locks = file->node->index_locks;
    if (flags & SQLITE_SHM_UNLOCK) {
        release_index(file, first, count);
        return SQLITE_OK;
    }
    int writes = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
    for (int i = first; i < first + count; i++) {
        unsigned bit = 1u << i;
        if ((file->writing | (writes ? 0 : file->reading)) & bit) continue;
        /* One's own lock for reading is in the way of nobody but others. */
        int others = locks[i] - ((file->reading & bit) != 0);
        if (locks[i] < 0 || (writes && others > 0)) return SQLITE_BUSY;
    }
    for (int i = first; i < first + count; i++) {
        unsigned bit = 1u << i;
        if ((file->writing | (writes ? 0 : file->reading)) & bit) continue;
        if (writes) {
            file->reading &= ~bit;
            file->writing |= bit;
            locks[i] = -1;
        } else {
            file->reading |= bit;
            locks[i] += 1;
        }
    }
    return SQLITE_OK;
}

static void barrier(sqlite3_file *file) { (void)file; }

static int unmap_index(sqlite3_file *base, int removes) {
    struct file *file = file_of(base);
    struct node *node = file->node;
    (void)removes;
    if (!file->has_index) return SQLITE_OK;
    release_index(file, 0, SQLITE_SHM_NLOCK);
    file->has_index = 0;
    node->index_users -= 1;
    if (node->index_users == 0)
        while (node->region_count > 0) free(node->regions[--node->region_count]);
    return SQLITE_OK;
}

/* ---- The file system ---- */

static int close_file(sqlite3_file *base) {
    struct file *file = file_of(base);
    struct node *node = file->node;
    unmap_index(base, 0);
    unlock(base, SQLITE_LOCK_NONE);
    node->users -= 1;
    if (node->users > 0) return SQLITE_OK;
    if (node->slot >= 0) diario_web_close_name(node->slot);
    for (struct node **at = &nodes; *at != NULL; at = &(*at)->next)
        if (*at == node) {
            *at = node->next;
            break;
        }
    free(node->bytes);
    free(node);
    return SQLITE_OK;
}

static int control(sqlite3_file *file, int operation, void *value) {
    (void)file, (void)operation, (void)value;
    return SQLITE_NOTFOUND;
}

static int sector_size(sqlite3_file *file) { return (void)file, 4096; }

static int traits(sqlite3_file *file) {
    return (void)file, SQLITE_IOCAP_POWERSAFE_OVERWRITE | SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN;
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_bytes,
    .xWrite = write_bytes,
    .xTruncate = truncate,
    .xSync = sync,
    .xFileSize = size,
    .xLock = lock,
    .xUnlock = unlock,
    .xCheckReservedLock = check_lock,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = traits,
    .xShmMap = map_index,
    .xShmLock = lock_index,
    .xShmBarrier = barrier,
    .xShmUnmap = unmap_index,
};

static int open_file(
    sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *out_flags
) {
    struct file *file = file_of(base);
    struct node *node = NULL;
    int slot = -1;
    (void)vfs;
    memset(file, 0, sizeof *file);
    if (name != NULL) {
        slot = diario_web_open_name(name, (flags & SQLITE_OPEN_CREATE) != 0);
        if (slot < 0) return slot == DIARIO_WEB_FULL ? SQLITE_FULL : SQLITE_CANTOPEN;
        for (node = nodes; node != NULL && node->slot != slot; node = node->next) continue;
        /* The directory counts whoever opened a name: one for all connections. */
        if (node != NULL) diario_web_close_name(slot);
    }
    if (node == NULL) {
        node = calloc(1, sizeof *node);
        if (node == NULL) {
            if (slot >= 0) diario_web_close_name(slot);
            return SQLITE_NOMEM;
        }
        node->slot = slot;
        node->next = nodes;
        nodes = node;
    }
    node->users += 1;
    file->node = node;
    file->base.pMethods = &methods;
    if (out_flags != NULL) *out_flags = flags;
    return SQLITE_OK;
}

static int remove_file(sqlite3_vfs *vfs, const char *name, int syncs) {
    (void)vfs, (void)syncs;
    return diario_web_remove_name(name) ? SQLITE_OK : SQLITE_IOERR_DELETE_NOENT;
}

static int has_file(sqlite3_vfs *vfs, const char *name, int flags, int *out) {
    (void)vfs, (void)flags;
    *out = diario_web_has_name(name);
    return SQLITE_OK;
}

static int whole_name(sqlite3_vfs *vfs, const char *name, int room, char *out) {
    (void)vfs;
    if ((int)strlen(name) >= room) return SQLITE_CANTOPEN;
    strcpy(out, name);
    return SQLITE_OK;
}

static int randomness(sqlite3_vfs *vfs, int count, char *out) {
    (void)vfs;
    diario_web_random(out, (size_t)count);
    return count;
}

/* Whoever is told "busy" asks again at once: nobody else runs meanwhile. */
static int rest(sqlite3_vfs *vfs, int microseconds) { return (void)vfs, microseconds; }

static int now_in_milliseconds(sqlite3_vfs *vfs, sqlite3_int64 *out) {
    (void)vfs;
    /* From the noon of the year -4713 on which days of Julius begin. */
    *out = 210866760000000 + (sqlite3_int64)diario_web_now();
    return SQLITE_OK;
}

static int now_in_days(sqlite3_vfs *vfs, double *out) {
    sqlite3_int64 time;
    now_in_milliseconds(vfs, &time);
    *out = (double)time / 86400000;
    return SQLITE_OK;
}

static int last_error(sqlite3_vfs *vfs, int room, char *out) {
    (void)vfs, (void)room, (void)out;
    return 0;
}

static sqlite3_vfs page = {
    .iVersion = 2,
    .szOsFile = sizeof(struct file),
    .mxPathname = 512,
    .zName = "page",
    .xOpen = open_file,
    .xDelete = remove_file,
    .xAccess = has_file,
    .xFullPathname = whole_name,
    .xRandomness = randomness,
    .xSleep = rest,
    .xCurrentTime = now_in_days,
    .xGetLastError = last_error,
    .xCurrentTimeInt64 = now_in_milliseconds,
};

int sqlite3_os_init(void) { return sqlite3_vfs_register(&page, 1); }
int sqlite3_os_end(void) { return SQLITE_OK; }
