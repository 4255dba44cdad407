/*
 * System calls that Swift cannot reach (variadic, macros, differing by system), with plain types.
 *
 * A negative result is an error number with its sign changed; `errno` is never looked at by the
 * caller. Calls broken off by a signal are made again. No system header is included here, so that
 * importing this module brings nothing else along. A path is relative to `directory`, a descriptor.
 */
#ifndef DIARIO_CPLATFORM_H
#define DIARIO_CPLATFORM_H

#include <stddef.h>
#include <stdint.h>

/* The error numbers that have a meaning of their own here, with their sign as in a result. */
extern const int32_t diario_error_not_found;
extern const int32_t diario_error_exists;
extern const int32_t diario_error_space;
extern const int32_t diario_error_quota;
extern const int32_t diario_error_read_only;
extern const int32_t diario_error_access;
extern const int32_t diario_error_permission;
extern const int32_t diario_error_would_block;
extern const int32_t diario_error_process_files;
extern const int32_t diario_error_system_files;
extern const int32_t diario_error_not_directory;
extern const int32_t diario_error_is_directory;
extern const int32_t diario_error_link_loop;
extern const int32_t diario_error_name_too_long;
extern const int32_t diario_error_not_empty;
extern const int32_t diario_error_io;

/* Writes the text of error `code` (of either sign) to `text`; returns its length. */
size_t diario_error_text(int32_t code, uint8_t *text, size_t capacity);

enum {
    DIARIO_OPEN_READ = 0,
    DIARIO_OPEN_READ_WRITE = 1,
    DIARIO_OPEN_CREATE = 2,
    DIARIO_OPEN_CREATE_NEW = 3,
    /* A new one that nobody but its owner may read. */
    DIARIO_OPEN_CREATE_PRIVATE = 4,
};

/* Stands for the process's current directory where a directory's descriptor is asked for. */
extern const int32_t diario_current_directory;

int32_t diario_open_directory(int32_t directory, const char *path);
/* Opens a file, close-on-exec; a new one gets the permissions that the umask leaves of 0666. */
int32_t diario_open(int32_t directory, const char *path, int32_t access);
void diario_close(int32_t descriptor);

typedef struct {
    uint64_t inode;
    int64_t birth_nanoseconds; /* since 1970; 0 when the file system does not say */
    int64_t size;
    int64_t modified_nanoseconds; /* of its bytes, since 1970 */
} diario_file_status;

int32_t diario_status(int32_t descriptor, diario_file_status *status);
/* The same of what is at a path, which must not be empty. */
int32_t diario_status_at(int32_t directory, const char *path, diario_file_status *status);
/* The size in bytes; cheaper than all of the status. */
int64_t diario_size(int32_t descriptor);
/* 1 if no name leads to the file any more, else 0. */
int32_t diario_is_nameless(int32_t descriptor);

/* One transfer, which may be short. Returns the number of bytes. */
int64_t diario_read(int32_t descriptor, void *bytes, size_t count, int64_t offset);
int64_t diario_write(int32_t descriptor, const void *bytes, size_t count, int64_t offset);
int32_t diario_truncate(int32_t descriptor, int64_t size);
/* Room for the first `size` bytes of a file, all of whose bytes stay as they are: a hole, read by
 * way of memory, ends the process with SIGBUS where no room is left. */
int32_t diario_reserve(int32_t descriptor, int64_t size);
/* Brings the bytes of a file to the medium: fdatasync, F_FULLFSYNC on Apple's systems. */
int32_t diario_sync(int32_t descriptor);
/* Brings the names in a directory to the medium; allowed on a descriptor for reading. */
int32_t diario_sync_directory(int32_t directory);

/* flock for one writer, without waiting; `diario_error_would_block` if somebody has it. */
int32_t diario_lock(int32_t descriptor);
int32_t diario_unlock(int32_t descriptor);

/* Shows the first 16 bytes of a file in memory, as they are at any time, whoever writes to it. The
 * file must not get shorter than that. NULL if the file system cannot do it. */
const uint64_t *diario_map_words(int32_t descriptor);
void diario_unmap_words(const uint64_t *words);
/* One of two mapped words, as it is now. */
uint64_t diario_mapped_word(const uint64_t *words, size_t index);

/* 0 if the path is there. */
int32_t diario_exists(int32_t directory, const char *path);
/* 0 if this process may make and change names in `directory`. */
int32_t diario_writable(int32_t directory);
int32_t diario_make_directory(int32_t directory, const char *path);
int32_t diario_rename(int32_t directory, const char *old_path, const char *new_path);
/* Gives each of two files or directories the name of the other, at once; not everywhere. */
int32_t diario_exchange(int32_t directory, const char *first, const char *second);
/* Gives a file a second name (a hard link). Not every file system can. */
int32_t diario_add_name(int32_t directory, const char *path, const char *name);
/* Removes a file or an empty directory. */
int32_t diario_remove(int32_t directory, const char *path);
/* Makes a symbolic link that holds `target`. */
int32_t diario_make_link(int32_t directory, const char *target, const char *path);
/* Copies what a symbolic link holds, at most `capacity` bytes; returns how many. */
int32_t diario_read_link(int32_t directory, const char *path, uint8_t *target, size_t capacity);

/* Goes through the names in a directory, in no order, without `.` and `..`. */
typedef struct diario_listing diario_listing;
int32_t diario_list_open(int32_t directory, const char *path, diario_listing **listing);
/* Copies the next name; returns its length, 0 at the end. 256 bytes are enough. */
int32_t diario_list_next(diario_listing *listing, uint8_t *name, size_t capacity);
void diario_list_close(diario_listing *listing);

/* Names the thread that calls this, for the system's tools; longer names are cut. */
void diario_name_thread(const uint8_t *name, size_t length);
/* Lets other threads go before the one that calls this, where the system can do that. */
void diario_yield_priority(void);

int32_t diario_process_id(void);
int64_t diario_wall_milliseconds(void);
int64_t diario_monotonic_nanoseconds(void);
void diario_sleep(int64_t nanoseconds);
/* 64 bits from the system's generator. Cannot fail on a system that has finished starting. */
uint64_t diario_random(void);
/* Copies the host's name; returns its length. */
size_t diario_host_name(uint8_t *name, size_t capacity);

#endif
