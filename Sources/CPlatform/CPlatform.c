#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "CPlatform.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

const int32_t diario_error_not_found = -ENOENT;
const int32_t diario_error_exists = -EEXIST;
const int32_t diario_error_space = -ENOSPC;
const int32_t diario_error_quota = -EDQUOT;
const int32_t diario_error_read_only = -EROFS;
const int32_t diario_error_access = -EACCES;
const int32_t diario_error_permission = -EPERM;
const int32_t diario_error_would_block = -EWOULDBLOCK;
const int32_t diario_error_process_files = -EMFILE;
const int32_t diario_error_system_files = -ENFILE;
const int32_t diario_error_not_directory = -ENOTDIR;
const int32_t diario_error_is_directory = -EISDIR;
const int32_t diario_error_link_loop = -ELOOP;
const int32_t diario_error_name_too_long = -ENAMETOOLONG;
const int32_t diario_error_not_empty = -ENOTEMPTY;
const int32_t diario_error_io = -EIO;

/* Makes a call again as long as a signal breaks it off. */
#define DIARIO_RETRY(result, call)                                                                 \
    do {                                                                                           \
        (result) = (call);                                                                         \
    } while ((result) < 0 && errno == EINTR)

static int32_t outcome(int result) { return result < 0 ? -errno : result; }

size_t diario_error_text(int32_t code, uint8_t *text, size_t capacity) {
    char buffer[256];
    int number = code < 0 ? -code : code;
#if defined(__GLIBC__)
    /* GNU's strerror_r may return a constant text instead of filling the buffer. */
    const char *found = strerror_r(number, buffer, sizeof buffer);
#else
    const char *found =
        strerror_r(number, buffer, sizeof buffer) == 0 ? buffer : "unknown error";
#endif
    size_t length = strlen(found);
    if (length > capacity) length = capacity;
    memcpy(text, found, length);
    return length;
}

const int32_t diario_current_directory = AT_FDCWD;

#if !defined(O_PATH)
#define O_PATH O_RDONLY
#endif

/* Where `path` is from the current directory, its links are those of the user, who named it. */
static int nofollow(int32_t directory) { return directory == AT_FDCWD ? 0 : O_NOFOLLOW; }

/* Goes to the folder that holds what `path` names, through no link; `name` is its name there. What
 * is returned goes to `leave`, or is an error. */
static int32_t enter(int32_t directory, const char *path, const char **name) {
    int32_t folder = directory;
    const char *slash;
    *name = path;
    while (directory != AT_FDCWD && (slash = strchr(*name, '/')) != NULL) {
        char part[256];
        size_t length = (size_t)(slash - *name);
        int32_t next = -ENAMETOOLONG;
        if (length < sizeof part) {
            memcpy(part, *name, length);
            part[length] = 0;
            DIARIO_RETRY(next,
                         openat(folder, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
            next = outcome(next);
        }
        if (folder != directory) (void)close(folder);
        if (next < 0) return next;
        folder = next;
        *name = slash + 1;
    }
    return folder;
}

/* Closes what `enter` opened, and passes an outcome on. */
static int32_t leave(int32_t directory, int32_t folder, int32_t answer) {
    if (folder != directory) (void)close(folder);
    return answer;
}

/* Does something in the folder that holds what `path` names, by its name there. */
#define DIARIO_WITHIN(directory, path, folder, name, call)                                         \
    do {                                                                                           \
        const char *name;                                                                          \
        int32_t folder = enter(directory, path, &name);                                            \
        if (folder < 0 && directory != AT_FDCWD) return folder;                                    \
        int within_result;                                                                         \
        DIARIO_RETRY(within_result, call);                                                         \
        return leave(directory, folder, outcome(within_result));                                   \
    } while (0)

int32_t diario_open_directory(int32_t directory, const char *path) {
    int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | nofollow(directory);
    DIARIO_WITHIN(directory, path, folder, name, openat(folder, name, flags));
}

static int32_t open_file(int32_t directory, const char *path, int flags, mode_t mode) {
    DIARIO_WITHIN(directory, path, folder, name, openat(folder, name, flags, mode));
}

int32_t diario_open(int32_t directory, const char *path, int32_t access) {
    /* Without waiting, else a pipe does until somebody writes to it; files do not mind. */
    int flags = O_CLOEXEC | O_NONBLOCK | nofollow(directory);
    mode_t mode = 0666;
    switch (access) {
    case DIARIO_OPEN_READ: flags |= O_RDONLY; break;
    case DIARIO_OPEN_READ_WRITE: flags |= O_RDWR; break;
    case DIARIO_OPEN_CREATE: flags |= O_RDWR | O_CREAT; break;
    case DIARIO_OPEN_CREATE_NEW: flags |= O_RDWR | O_CREAT | O_EXCL; break;
    case DIARIO_OPEN_CREATE_PRIVATE: flags |= O_RDWR | O_CREAT | O_EXCL; mode = 0600; break;
    default: return -EINVAL;
    }
    int32_t result = -EPERM;
#if defined(O_NOATIME)
    /* When a file was read last is of no use to anybody, and to write that down takes longer than
     * to read a small file. Only its owner may have it left out. */
    if (access == DIARIO_OPEN_READ) result = open_file(directory, path, flags | O_NOATIME, mode);
#endif
    if (result == -EPERM) result = open_file(directory, path, flags, mode);
    /* A socket. */
    if (result == -ENXIO) return -EISDIR;
    if (result < 0) return result;
    struct stat found;
    if (fstat(result, &found) == 0 && S_ISREG(found.st_mode)) return result;
    (void)close(result);
    return -EISDIR;
}

/* Not repeated after a signal: the descriptor is gone all the same, or another thread's by now. */
void diario_close(int32_t descriptor) { (void)close(descriptor); }

int32_t diario_status(int32_t descriptor, diario_file_status *status) {
    return diario_status_at(descriptor, "", status);
}

int32_t diario_status_at(int32_t directory, const char *path, diario_file_status *status) {
#if defined(__linux__)
    struct statx found;
    int result;
    DIARIO_RETRY(result, statx(directory, path, path[0] == 0 ? AT_EMPTY_PATH : AT_SYMLINK_NOFOLLOW,
                               STATX_INO | STATX_SIZE | STATX_BTIME | STATX_MTIME,
                               &found));
    if (result < 0) return -errno;
    status->inode = found.stx_ino;
    status->size = (int64_t)found.stx_size;
    status->birth_nanoseconds =
        (found.stx_mask & STATX_BTIME) == 0
            ? 0
            : (int64_t)found.stx_btime.tv_sec * 1000000000 + found.stx_btime.tv_nsec;
    status->modified_nanoseconds =
        (int64_t)found.stx_mtime.tv_sec * 1000000000 + found.stx_mtime.tv_nsec;
#else
    struct stat found;
    int result;
    DIARIO_RETRY(result, path[0] == 0 ? fstat(directory, &found)
                                      : fstatat(directory, path, &found, AT_SYMLINK_NOFOLLOW));
    if (result < 0) return -errno;
    status->inode = (uint64_t)found.st_ino;
    status->size = (int64_t)found.st_size;
#if defined(__APPLE__)
    status->birth_nanoseconds = (int64_t)found.st_birthtimespec.tv_sec * 1000000000 +
                                found.st_birthtimespec.tv_nsec;
    status->modified_nanoseconds = (int64_t)found.st_mtimespec.tv_sec * 1000000000 +
                                   found.st_mtimespec.tv_nsec;
#else
    status->birth_nanoseconds = 0;
    status->modified_nanoseconds =
        (int64_t)found.st_mtim.tv_sec * 1000000000 + found.st_mtim.tv_nsec;
#endif
#endif
    return 0;
}

int64_t diario_size(int32_t descriptor) {
    struct stat found;
    int result;
    DIARIO_RETRY(result, fstat(descriptor, &found));
    return result < 0 ? -errno : (int64_t)found.st_size;
}

int32_t diario_is_nameless(int32_t descriptor) {
    int result;
#if defined(__linux__)
    /* Asked for this alone: a file whose times were looked at gets new ones with the next write,
     * which takes half as much processor time again as a write and its sync do. */
    struct statx found;
    DIARIO_RETRY(result, statx(descriptor, "", AT_EMPTY_PATH, STATX_NLINK, &found));
    if (result < 0) return -errno;
    return (found.stx_mask & STATX_NLINK) != 0 && found.stx_nlink == 0;
#else
    struct stat found;
    DIARIO_RETRY(result, fstat(descriptor, &found));
    return result < 0 ? -errno : found.st_nlink == 0;
#endif
}

int64_t diario_read(int32_t descriptor, void *bytes, size_t count, int64_t offset) {
    ssize_t result;
    DIARIO_RETRY(result, pread(descriptor, bytes, count, (off_t)offset));
    return result < 0 ? -errno : (int64_t)result;
}

int64_t diario_write(int32_t descriptor, const void *bytes, size_t count, int64_t offset) {
    ssize_t result;
    DIARIO_RETRY(result, pwrite(descriptor, bytes, count, (off_t)offset));
    return result < 0 ? -errno : (int64_t)result;
}

int32_t diario_truncate(int32_t descriptor, int64_t size) {
    int result;
    DIARIO_RETRY(result, ftruncate(descriptor, (off_t)size));
    return outcome(result);
}

int32_t diario_reserve(int32_t descriptor, int64_t size) {
    int result;
#if defined(__linux__)
    DIARIO_RETRY(result, fallocate(descriptor, 0, 0, (off_t)size));
    if (result == 0 || errno != EOPNOTSUPP) return outcome(result);
#endif
    struct stat found;
    DIARIO_RETRY(result, fstat(descriptor, &found));
    if (result < 0 || found.st_size >= (off_t)size) return outcome(result);
    DIARIO_RETRY(result, ftruncate(descriptor, (off_t)size));
    return outcome(result);
}

int32_t diario_sync(int32_t descriptor) {
    int result;
#if defined(__APPLE__)
    DIARIO_RETRY(result, fcntl(descriptor, F_FULLFSYNC));
    /* Some file systems (network shares) do not know it; then fsync is all there is. */
    if (result < 0 && (errno == ENOTSUP || errno == EINVAL || errno == ENOTTY)) {
        DIARIO_RETRY(result, fsync(descriptor));
    }
#else
    DIARIO_RETRY(result, fdatasync(descriptor));
#endif
    return outcome(result);
}

int32_t diario_sync_directory(int32_t directory) {
    int result;
    DIARIO_RETRY(result, fsync(directory));
    return outcome(result);
}

int32_t diario_lock(int32_t descriptor) {
    int result;
    DIARIO_RETRY(result, flock(descriptor, LOCK_EX | LOCK_NB));
    return outcome(result);
}

int32_t diario_unlock(int32_t descriptor) {
    int result;
    DIARIO_RETRY(result, flock(descriptor, LOCK_UN));
    return outcome(result);
}

const uint64_t *diario_map_words(int32_t descriptor) {
    void *words = mmap(NULL, 2 * sizeof(uint64_t), PROT_READ, MAP_SHARED, descriptor, 0);
    return words == MAP_FAILED ? NULL : words;
}

void diario_unmap_words(const uint64_t *words) {
    munmap((void *)(uintptr_t)words, 2 * sizeof *words);
}

uint64_t diario_mapped_word(const uint64_t *words, size_t index) {
    return __atomic_load_n(words + index, __ATOMIC_ACQUIRE);
}

int32_t diario_exists(int32_t directory, const char *path) {
    /* A link that leads nowhere is there too: its name is taken. */
    struct stat found;
    DIARIO_WITHIN(directory, path, folder, name,
                  fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW));
}

int32_t diario_writable(int32_t directory) {
    return outcome(faccessat(directory, ".", W_OK | X_OK, 0));
}

int32_t diario_make_directory(int32_t directory, const char *path) {
    DIARIO_WITHIN(directory, path, folder, name, mkdirat(folder, name, 0777));
}

/* Does something with two names in the folders that hold them. */
static int32_t with_both(int32_t directory, const char *first, const char *second,
                         int (*call)(int, const char *, int, const char *)) {
    const char *name;
    int32_t folder = enter(directory, second, &name);
    if (folder < 0) return folder;
    const char *first_name;
    int32_t first_folder = enter(directory, first, &first_name);
    if (first_folder < 0) return leave(directory, folder, first_folder);
    int result;
    DIARIO_RETRY(result, call(first_folder, first_name, folder, name));
    return leave(directory, folder, leave(directory, first_folder, outcome(result)));
}

int32_t diario_rename(int32_t directory, const char *old_path, const char *new_path) {
    return with_both(directory, old_path, new_path, renameat);
}

static int exchange(int first_folder, const char *first, int folder, const char *second) {
#if defined(__linux__)
    return renameat2(first_folder, first, folder, second, RENAME_EXCHANGE);
#elif defined(__APPLE__)
    return renameatx_np(first_folder, first, folder, second, RENAME_SWAP);
#else
    (void)first_folder, (void)first, (void)folder, (void)second;
    errno = ENOSYS;
    return -1;
#endif
}

int32_t diario_exchange(int32_t directory, const char *first, const char *second) {
    return with_both(directory, first, second, exchange);
}

static int add_name(int first_folder, const char *first, int folder, const char *second) {
    return linkat(first_folder, first, folder, second, 0);
}

int32_t diario_add_name(int32_t directory, const char *path, const char *name) {
    return with_both(directory, path, name, add_name);
}

static int remove_name(int folder, const char *name) {
    int result = unlinkat(folder, name, 0);
    /* A directory answers EISDIR on Linux and EPERM elsewhere, as POSIX has it. */
    if (result < 0 && (errno == EISDIR || errno == EPERM)) {
        int first = errno;
        result = unlinkat(folder, name, AT_REMOVEDIR);
        if (result < 0 && errno == ENOTDIR) errno = first;
    }
    return result;
}

int32_t diario_remove(int32_t directory, const char *path) {
    DIARIO_WITHIN(directory, path, folder, name, remove_name(folder, name));
}

int32_t diario_make_link(int32_t directory, const char *target, const char *path) {
    DIARIO_WITHIN(directory, path, folder, name, symlinkat(target, folder, name));
}

int32_t diario_read_link(int32_t directory, const char *path, uint8_t *target, size_t capacity) {
    DIARIO_WITHIN(directory, path, folder, name,
                  (int)readlinkat(folder, name, (char *)target, capacity));
}

int32_t diario_list_open(int32_t directory, const char *path, diario_listing **listing) {
    int32_t descriptor = diario_open_directory(directory, path);
    if (descriptor < 0) return descriptor;
    DIR *stream = fdopendir(descriptor);
    if (stream == NULL) {
        int32_t answer = -errno;
        (void)close(descriptor);
        return answer;
    }
    *listing = (diario_listing *)stream;
    return 0;
}

int32_t diario_list_next(diario_listing *listing, uint8_t *name, size_t capacity) {
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir((DIR *)listing);
        if (entry == NULL) return -errno;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        size_t length = strlen(entry->d_name);
        if (length > capacity) return -ENAMETOOLONG;
        memcpy(name, entry->d_name, length);
        return (int32_t)length;
    }
}

void diario_list_close(diario_listing *listing) { (void)closedir((DIR *)listing); }
