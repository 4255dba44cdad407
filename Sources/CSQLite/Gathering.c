#include "CSQLite.h"

#include <stdlib.h>
#include <string.h>

// A file system for SQLite that writes the frames of a transaction to the write-ahead log in one
// piece. By itself the library asks the system twice for each frame, once for its header and once
// for its page, and that is half of what a small transaction costs.
//
// Frames are held back only while nobody else can be interested in them: until one that commits, or
// until anything but the next frame behind them is asked of the file. So the log has all frames of
// a transaction when the library tells others of it, and when a commit returns. What is held of a
// transaction that is taken back is dropped before another process may write.
//
// The log's format is described in SQLite's documentation: https://www.sqlite.org/fileformat2.html

enum {
    // Has room for the largest frame. The library's own writing takes less than 128 KiB at once.
    held_max = 96 * 1024,
    frame_header_size = 24,
    page_size_min = 512,
    page_size_max = 65536,
    // The lock of who writes to the log, among those that connections share.
    write_lock = 0,
};

struct file {
    sqlite3_file base;
    sqlite3_io_methods methods;
    // The file of the system's own way to open it; it lies behind this one.
    sqlite3_file *real;
    // Of a database: its log, if that is open.
    struct file *log;
    // Of a log: its database.
    struct file *database;
    // Of a log: what is held back, and where in the file it begins.
    unsigned char *held;
    int held_count;
    sqlite3_int64 held_start;
    // Of a log: where the frame ends that was written last, and the next one would begin.
    sqlite3_int64 end;
    // Of a log: where the page goes whose frame was begun, or -1, and whether that frame commits.
    sqlite3_int64 page_start;
    int is_commit;
};

static sqlite3_file *real_of(sqlite3_file *file) { return ((struct file *)file)->real; }

// Writes what is held back.
static int write_held(struct file *log) {
    int count = log->held_count;
    if (count == 0) return SQLITE_OK;
    // Even if this fails: the library takes back the transaction then.
    log->held_count = 0;
    return log->real->pMethods->xWrite(log->real, log->held, count, log->held_start);
}

// Adds to what is held back, which is then at most `held_max` bytes; or writes.
static int hold(struct file *log, const void *bytes, int count, sqlite3_int64 offset) {
    int code = SQLITE_OK;
    int follows = offset == log->held_start + log->held_count;
    if (!follows || log->held_count + count > held_max) code = write_held(log);
    if (code != SQLITE_OK) return code;
    if (log->held == NULL) log->held = malloc(held_max);
    if (log->held == NULL) return log->real->pMethods->xWrite(log->real, bytes, count, offset);
    if (log->held_count == 0) log->held_start = offset;
    memcpy(log->held + log->held_count, bytes, (size_t)count);
    log->held_count += count;
    return SQLITE_OK;
}

static int write_through(struct file *log, const void *bytes, int count, sqlite3_int64 offset) {
    int code = write_held(log);
    return code == SQLITE_OK ? log->real->pMethods->xWrite(log->real, bytes, count, offset) : code;
}

static int write_log(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    struct file *log = (struct file *)file;
    if (count == frame_header_size) {
        const unsigned char *size = (const unsigned char *)bytes + 4;
        log->page_start = offset + count;
        // The header of a frame that commits says how many pages the database has then.
        log->is_commit = (size[0] | size[1] | size[2] | size[3]) != 0;
        // One that is not behind all others may be an old one, with a new checksum and no page.
        return offset == log->end ? hold(log, bytes, count, offset)
                                  : write_through(log, bytes, count, offset);
    }
    int is_page =
        offset == log->page_start && count >= page_size_min && count <= page_size_max;
    log->page_start = -1;
    // Else a part of something, or a page that is overwritten.
    if (!is_page) return write_through(log, bytes, count, offset);
    log->end = offset + count;
    int code = hold(log, bytes, count, offset);
    return code == SQLITE_OK && log->is_commit ? write_held(log) : code;
}

// All else that is asked of the log finds what was written.

static int read_log(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    int code = write_held((struct file *)file);
    sqlite3_file *real = real_of(file);
    return code == SQLITE_OK ? real->pMethods->xRead(real, bytes, count, offset) : code;
}

static int truncate_log(sqlite3_file *file, sqlite3_int64 size) {
    int code = write_held((struct file *)file);
    sqlite3_file *real = real_of(file);
    return code == SQLITE_OK ? real->pMethods->xTruncate(real, size) : code;
}

static int sync_log(sqlite3_file *file, int flags) {
    int code = write_held((struct file *)file);
    sqlite3_file *real = real_of(file);
    return code == SQLITE_OK ? real->pMethods->xSync(real, flags) : code;
}

static int size_of_log(sqlite3_file *file, sqlite3_int64 *size) {
    int code = write_held((struct file *)file);
    sqlite3_file *real = real_of(file);
    return code == SQLITE_OK ? real->pMethods->xFileSize(real, size) : code;
}

static int control_log(sqlite3_file *file, int operation, void *argument) {
    int code = write_held((struct file *)file);
    sqlite3_file *real = real_of(file);
    return code == SQLITE_OK ? real->pMethods->xFileControl(real, operation, argument) : code;
}

static int close_log(sqlite3_file *file) {
    struct file *log = (struct file *)file;
    // What is still held was never committed.
    free(log->held);
    if (log->database != NULL) log->database->log = NULL;
    return log->real->pMethods->xClose(log->real);
}

// A database passes all on, but looks when the lock of its writer is given back.

static int lock_shared(sqlite3_file *file, int offset, int count, int flags) {
    struct file *log = ((struct file *)file)->log;
    int is_end = (flags & SQLITE_SHM_UNLOCK) && (flags & SQLITE_SHM_EXCLUSIVE);
    if (log != NULL && is_end && offset == write_lock) log->held_count = 0;
    sqlite3_file *real = real_of(file);
    return real->pMethods->xShmLock(real, offset, count, flags);
}

static int close_database(sqlite3_file *file) {
    struct file *database = (struct file *)file;
    if (database->log != NULL) database->log->database = NULL;
    return database->real->pMethods->xClose(database->real);
}

static int pass_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    return real_of(file)->pMethods->xRead(real_of(file), bytes, count, offset);
}

static int pass_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    return real_of(file)->pMethods->xWrite(real_of(file), bytes, count, offset);
}

static int pass_truncate(sqlite3_file *file, sqlite3_int64 size) {
    return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int pass_sync(sqlite3_file *file, int flags) {
    return real_of(file)->pMethods->xSync(real_of(file), flags);
}

static int pass_file_size(sqlite3_file *file, sqlite3_int64 *size) {
    return real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int pass_lock(sqlite3_file *file, int level) {
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int pass_unlock(sqlite3_file *file, int level) {
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int pass_check_lock(sqlite3_file *file, int *is_reserved) {
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), is_reserved);
}

static int pass_control(sqlite3_file *file, int operation, void *argument) {
    return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}

static int pass_sector_size(sqlite3_file *file) {
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int pass_traits(sqlite3_file *file) {
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int pass_map(sqlite3_file *file, int page, int size, int extends, void volatile **memory) {
    return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extends, memory);
}

// Comes before others are told of a transaction, of which nothing is held any more, unless a later
// version of the library has ways that are not known here. A failure of that cannot be told: it is
// found as a transaction that is not there, and what is not there is applied again.
static void tell_others(sqlite3_file *file) {
    struct file *log = ((struct file *)file)->log;
    if (log != NULL) (void)write_held(log);
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int pass_unmap(sqlite3_file *file, int deletes) {
    return real_of(file)->pMethods->xShmUnmap(real_of(file), deletes);
}

static int pass_fetch(sqlite3_file *file, sqlite3_int64 offset, int count, void **memory) {
    return real_of(file)->pMethods->xFetch(real_of(file), offset, count, memory);
}

static int pass_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *memory) {
    return real_of(file)->pMethods->xUnfetch(real_of(file), offset, memory);
}

static const sqlite3_io_methods passing = {
    .xRead = pass_read,
    .xWrite = pass_write,
    .xTruncate = pass_truncate,
    .xSync = pass_sync,
    .xFileSize = pass_file_size,
    .xLock = pass_lock,
    .xUnlock = pass_unlock,
    .xCheckReservedLock = pass_check_lock,
    .xFileControl = pass_control,
    .xSectorSize = pass_sector_size,
    .xDeviceCharacteristics = pass_traits,
    .xShmMap = pass_map,
    .xShmLock = lock_shared,
    .xShmBarrier = tell_others,
    .xShmUnmap = pass_unmap,
    .xFetch = pass_fetch,
    .xUnfetch = pass_unfetch,
};

// The system's own way to open files.
static sqlite3_vfs *real_system(sqlite3_vfs *system) { return system->pAppData; }

static int open_file(
    sqlite3_vfs *system, const char *name, sqlite3_file *opened, int flags, int *flags_out
) {
    sqlite3_vfs *real = real_system(system);
    if (!(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL))) {
        return real->xOpen(real, name, opened, flags, flags_out);
    }
    struct file *file = (struct file *)opened;
    memset(file, 0, sizeof *file);
    file->real = (sqlite3_file *)(file + 1);
    int code = real->xOpen(real, name, file->real, flags, flags_out);
    // Without methods there is nothing to close.
    if (file->real->pMethods == NULL) return code;
    file->methods = passing;
    file->methods.iVersion = file->real->pMethods->iVersion;
    if (flags & SQLITE_OPEN_WAL) {
        // The library keeps this file where it keeps the name of the log.
        file->database = (struct file *)sqlite3_database_file_object(name);
        file->database->log = file;
        file->methods.xClose = close_log;
        file->methods.xRead = read_log;
        file->methods.xWrite = write_log;
        file->methods.xTruncate = truncate_log;
        file->methods.xSync = sync_log;
        file->methods.xFileSize = size_of_log;
        file->methods.xFileControl = control_log;
    } else {
        file->methods.xClose = close_database;
    }
    file->base.pMethods = &file->methods;
    return code;
}

static int delete_file(sqlite3_vfs *system, const char *name, int syncs) {
    return real_system(system)->xDelete(real_system(system), name, syncs);
}

static int access_file(sqlite3_vfs *system, const char *name, int flags, int *result) {
    return real_system(system)->xAccess(real_system(system), name, flags, result);
}

static int full_path(sqlite3_vfs *system, const char *name, int size, char *path) {
    return real_system(system)->xFullPathname(real_system(system), name, size, path);
}

static int random_bytes(sqlite3_vfs *system, int count, char *bytes) {
    return real_system(system)->xRandomness(real_system(system), count, bytes);
}

static int sleep_for(sqlite3_vfs *system, int microseconds) {
    return real_system(system)->xSleep(real_system(system), microseconds);
}

static int current_time(sqlite3_vfs *system, double *days) {
    return real_system(system)->xCurrentTime(real_system(system), days);
}

static int current_milliseconds(sqlite3_vfs *system, sqlite3_int64 *time) {
    return real_system(system)->xCurrentTimeInt64(real_system(system), time);
}

static int last_error(sqlite3_vfs *system, int size, char *text) {
    return real_system(system)->xGetLastError(real_system(system), size, text);
}

int diario_sqlite_register_gathering(void) {
    static sqlite3_vfs system = {
        .iVersion = 2,
        .zName = DIARIO_SQLITE_GATHERING,
        .xOpen = open_file,
        .xDelete = delete_file,
        .xAccess = access_file,
        .xFullPathname = full_path,
        .xRandomness = random_bytes,
        .xSleep = sleep_for,
        .xCurrentTime = current_time,
        .xGetLastError = last_error,
        .xCurrentTimeInt64 = current_milliseconds,
    };
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    if (real == NULL || real->iVersion < 2) return SQLITE_ERROR;
    system.szOsFile = (int)sizeof(struct file) + real->szOsFile;
    system.mxPathname = real->mxPathname;
    system.pAppData = real;
    return sqlite3_vfs_register(&system, 0);
}
