#ifndef DIARIO_CBASELINE_H
#define DIARIO_CBASELINE_H

#include <stddef.h>
#include <stdint.h>

/*
 * What plain C reaches, for the benchmarks to be compared with; and what they ask of the system
 * beside it. Functions that measure give seconds, or a negative errno (SQLite: -10000 - code).
 */

/* Writes `size` bytes that are not zero to a new file at `path`, and syncs them. */
int baseline_fill(const char *path, size_t size);

/*
 * Overwrites the file at `path` from its start, `frame_size` bytes for each commit, and calls
 * fdatasync after each; starts over at the end. Before each write, `hash_count` SHA-256 hashes of
 * `record_size` bytes are taken of the frame, with one prefetched EVP_MD and one context.
 */
double baseline_sync_loop(const char *path, size_t frame_size, size_t commits, size_t hash_count,
                          size_t record_size);

/*
 * Inserts `count` lines (the text `lines`, line i ends before `ends[i]`, its line feed left out)
 * `rounds` times into a new SQLite database at `path`: WAL, synchronous FULL, one prepared
 * statement, `batch` rows for each transaction.
 */
double baseline_sqlite(const char *path, const char *lines, const size_t *ends, size_t count,
                       size_t rounds, size_t batch);

/* A value that is bound to a parameter: `value` is an integer, the bits of a double, or where
 * `size` bytes of a text or blob begin. */
struct baseline_cell {
    uint32_t kind; /* 0 NULL, 1 integer, 2 real, 3 text, 4 blob */
    uint32_t size;
    int64_t value;
};

/* A statement that is run once with some cells. */
struct baseline_call {
    uint32_t statement;
    uint32_t cell_count;
    uint64_t first_cell;
    /* Whether it is the first one of an event. */
    uint32_t begins_event;
};

/*
 * Makes a new SQLite database at `path` by the statements `definitions`, prepares `statements`
 * (each ends with a zero, one behind the other), and runs all calls: WAL, synchronous NORMAL,
 * recursive triggers, foreign keys, secure_delete and a cache of 64 MiB, as read models have
 * them; a transaction for each `batch` events. Texts are bound where they lie. Calls that fail are
 * counted in `*failures`. Gives the processor time.
 */
double baseline_apply(const char *path, const char *definitions, const char *statements,
                      size_t statement_count, const struct baseline_call *calls, size_t call_count,
                      const struct baseline_cell *cells, const char *texts, size_t batch,
                      uint64_t *failures);

/*
 * Compresses the file at `path` as `zstd --long=<window_log> -<level>` does, with one thread, and
 * throws the result away; its bytes are `*size`.
 */
double baseline_zstd(const char *path, int level, int window_log, uint64_t *size);

/*
 * Maps the file at `path`, which holds records, and reads every field of every record. A record:
 * u32 its size, a multiple of 8; u32 number of cells; u64 which cells are texts; then the cells of
 * 8 bytes: a number, or u32 offset in the record and u32 size of a text. Adds all numbers, and
 * size and first byte of all texts, to `*sum`; gives the processor time.
 */
double baseline_scan(const char *path, uint64_t *sum, uint64_t *records);

/*
 * SHA-256 of `count` messages of these sizes, one after the other in memory that stays in the
 * cache, with one prefetched EVP_MD and one context; gives the processor time.
 */
double baseline_hash(const uint32_t *sizes, size_t count);

/* User and system time of this process, in nanoseconds. */
int64_t baseline_process_nanoseconds(void);

/* The same of those threads of this process that have this name; 0 where that is not told. */
int64_t baseline_thread_nanoseconds(const char *name);

/* Not 0 if files at `path` are in memory only. */
int baseline_is_memory_disk(const char *path);

/*
 * Runs `path` with `count` arguments, which lie in `arguments` with a zero byte after each, and
 * "NAME=value" added to its environment if `variable` is not empty; its output goes to the file
 * `output`. Gives its process id or -errno.
 */
int64_t baseline_spawn(const char *path, const char *arguments, size_t count,
                       const char *variable, const char *output);

/* Waits for a child: its exit code, 128 + signal, or a negative errno. */
int baseline_wait(int64_t process);

/* User and system time that a child has taken so far, in nanoseconds, or a negative errno. */
int64_t baseline_child_nanoseconds(int64_t process);

/* Whether a child has ended; it can be waited for all the same. */
int baseline_has_ended(int64_t process);

/* Makes a child end, by SIGKILL. */
void baseline_kill(int64_t process);

/*
 * A server on libmicrohttpd, with two threads that take connections as ours has: appends the body
 * of each request to the file at `path`, syncs it, and answers, by one thread for all; connections
 * are suspended meanwhile. It writes its address to standard output, and serves until its process
 * ends; a negative errno if it cannot.
 */
int baseline_serve_append(const char *path);

/* A connection to a server on this machine; a negative errno if there is none. */
int baseline_connect(uint16_t port);

/*
 * Sends a request and waits for its whole answer, of at most 2 MB with a length; gives the
 * nanoseconds that it took, or a negative errno.
 */
int64_t baseline_ask(int descriptor, const char *request, int *status);

/*
 * Clients that ask all the time, in a thread of their own: each sends its request, takes the answer
 * until the server closes, and asks again at once.
 */
typedef struct baseline_crowd baseline_crowd;

baseline_crowd *baseline_crowd_start(uint16_t port, const char *first, size_t first_count,
                                     const char *second, size_t second_count);

/* Ends them; counts answers of 200, of 503, and others. 0, or a negative errno. */
int baseline_crowd_end(baseline_crowd *crowd, int64_t *counts);

#endif
