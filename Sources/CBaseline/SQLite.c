#include "CBaseline.h"

#include <sqlite3.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int insert(sqlite3 *database, sqlite3_stmt *statement, const char *lines,
                  const size_t *ends, size_t count, size_t rounds, size_t batch) {
    size_t total = count * rounds;
    for (size_t row = 0; row < total; row++) {
        size_t index = row % count;
        size_t start = index == 0 ? 0 : ends[index - 1];
        int code = SQLITE_OK;
        if (row % batch == 0) code = sqlite3_exec(database, "BEGIN", NULL, NULL, NULL);
        if (code == SQLITE_OK)
            code = sqlite3_bind_text(statement, 1, lines + start,
                                     (int)(ends[index] - start) - 1, SQLITE_STATIC);
        if (code == SQLITE_OK && sqlite3_step(statement) != SQLITE_DONE)
            code = sqlite3_errcode(database);
        if (code == SQLITE_OK) code = sqlite3_reset(statement);
        if (code == SQLITE_OK && (row % batch == batch - 1 || row == total - 1))
            code = sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

double baseline_sqlite(const char *path, const char *lines, const size_t *ends, size_t count,
                       size_t rounds, size_t batch) {
    sqlite3 *database = NULL;
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_open(path, &database);
    if (code == SQLITE_OK)
        code = sqlite3_exec(database,
                            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                            "CREATE TABLE event (position INTEGER PRIMARY KEY, line TEXT NOT NULL)",
                            NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(database, "INSERT INTO event (line) VALUES (?1)", -1, &statement,
                                  NULL);
    double result = 0;
    if (code == SQLITE_OK) {
        double start = now();
        code = insert(database, statement, lines, ends, count, rounds, batch);
        result = now() - start;
    }
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return code == SQLITE_OK ? result : -10000.0 - code;
}
