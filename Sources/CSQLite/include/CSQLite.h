#ifndef DIARIO_CSQLITE_H
#define DIARIO_CSQLITE_H

// Debian's library is built with both; its header hides them otherwise.
#define SQLITE_ENABLE_PREUPDATE_HOOK
#define SQLITE_ENABLE_SESSION
#include <sqlite3.h>
#include <stdint.h>

// Variadic functions and macros with casts are out of Swift's reach.

// Switches an option of one connection that takes "on or off".
static inline int diario_sqlite_configure(sqlite3 *database, int option, int isOn) {
    return sqlite3_db_config(database, option, isOn, (int *)0);
}

// Where the database at `path` is, with no links among its folders; to be freed with
// `sqlite3_free`. NULL if it or a file that SQLite keeps beside it is a pipe or a device, which to
// open may wait for ever. A link in its place is refused by SQLite itself, if told so.
char *diario_sqlite_place(const char *path);

// Sets memory aside for the small, short-lived values of one connection.
static inline int diario_sqlite_set_aside(sqlite3 *database, int size, int count) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_LOOKASIDE, (void *)0, size, count);
}

// Lets the connections of this process take memory of which each thread counts its own part; the
// library's own count takes a lock that all threads share. Only before the first connection.
int diario_sqlite_count_by_thread(void);
// The bytes that this thread took and did not give back; below 0 if it gave back those of others.
int64_t diario_sqlite_thread_bytes(void);

// Prepares a statement for which no more than `bytes_max` may be taken; then the result is this
// one, which is none of the library's. There is no such bound where memory is not counted by
// thread.
enum { DIARIO_SQLITE_TOO_INVOLVED = SQLITE_TOOBIG | 127 << 8 };
int diario_sqlite_prepare(
    sqlite3 *database, const char *text, int size, unsigned flags, int64_t bytes_max,
    sqlite3_stmt **statement, const char **tail
);

static inline int diario_sqlite_bind_text(
    sqlite3_stmt *statement, int index, const void *bytes, int count
) {
    return sqlite3_bind_text(statement, index, (const char *)bytes, count, SQLITE_TRANSIENT);
}

static inline int diario_sqlite_bind_blob(
    sqlite3_stmt *statement, int index, const void *bytes, int count
) {
    // A null pointer would bind NULL.
    if (count == 0) return sqlite3_bind_zeroblob(statement, index, 0);
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

// The bytes stay where they are until the statement has run or something else is bound.
static inline int diario_sqlite_bind_lent_text(
    sqlite3_stmt *statement, int index, const void *bytes, int count
) {
    return sqlite3_bind_text(statement, index, (const char *)bytes, count, SQLITE_STATIC);
}

static inline int diario_sqlite_bind_lent_blob(
    sqlite3_stmt *statement, int index, const void *bytes, int count
) {
    if (count == 0) return sqlite3_bind_zeroblob(statement, index, 0);
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_STATIC);
}

static inline void diario_sqlite_result_text(
    sqlite3_context *context, const void *bytes, int count
) {
    sqlite3_result_text(context, (const char *)bytes, count, SQLITE_TRANSIENT);
}

static inline void diario_sqlite_result_blob(
    sqlite3_context *context, const void *bytes, int count
) {
    if (count == 0) sqlite3_result_zeroblob(context, 0);
    else sqlite3_result_blob(context, bytes, count, SQLITE_TRANSIENT);
}

#endif
