#include "CBaseline.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* The day of an instant as text: what the engine's function of that name gives. */
static void day_of(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL) return;
    int64_t time = sqlite3_value_int64(values[0]) + sqlite3_value_int64(values[1]) * 60000;
    int64_t days = time / 86400000 - (time % 86400000 < 0);
    /* Days since 0000-03-01, in eras of 400 years. */
    int64_t shifted = days + 719468;
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t in_era = shifted - era * 146097;
    int64_t year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    int64_t day = in_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * day + 2) / 153;
    char text[32];
    sqlite3_snprintf(sizeof text, text, "%04lld-%02lld-%02lld",
                     (long long)(year + era * 400 + (month >= 10)),
                     (long long)(month < 10 ? month + 3 : month - 9),
                     (long long)(day - (153 * month + 2) / 5 + 1));
    sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static int bind(sqlite3_stmt *statement, int index, const struct baseline_cell *cell,
                const char *texts) {
    double real;
    switch (cell->kind) {
    case 1: return sqlite3_bind_int64(statement, index, cell->value);
    case 2:
        memcpy(&real, &cell->value, sizeof real);
        return sqlite3_bind_double(statement, index, real);
    case 3:
        return sqlite3_bind_text(statement, index, texts + cell->value, (int)cell->size,
                                 SQLITE_STATIC);
    case 4:
        return sqlite3_bind_blob(statement, index, texts + cell->value, (int)cell->size,
                                 SQLITE_STATIC);
    default: return sqlite3_bind_null(statement, index);
    }
}

static int run(sqlite3 *database, sqlite3_stmt **statements, const struct baseline_call *calls,
               size_t call_count, const struct baseline_cell *cells, const char *texts,
               size_t batch, uint64_t *failures) {
    size_t events = 0;
    int code = sqlite3_exec(database, "BEGIN", NULL, NULL, NULL);
    for (size_t index = 0; code == SQLITE_OK && index < call_count; index++) {
        const struct baseline_call *call = calls + index;
        sqlite3_stmt *statement = statements[call->statement];
        if (call->begins_event && ++events % batch == 0) {
            code = sqlite3_exec(database, "COMMIT; BEGIN", NULL, NULL, NULL);
        }
        for (uint32_t cell = 0; cell < call->cell_count; cell++) {
            bind(statement, (int)cell + 1, cells + call->first_cell + cell, texts);
        }
        int result = sqlite3_step(statement);
        while (result == SQLITE_ROW) result = sqlite3_step(statement);
        if (result != SQLITE_DONE) *failures += 1;
        sqlite3_reset(statement);
    }
    if (code == SQLITE_OK) code = sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
    return code;
}

double baseline_apply(const char *path, const char *definitions, const char *statements,
                      size_t statement_count, const struct baseline_call *calls, size_t call_count,
                      const struct baseline_cell *cells, const char *texts, size_t batch,
                      uint64_t *failures) {
    sqlite3 *database = NULL;
    sqlite3_stmt **prepared = calloc(statement_count + 1, sizeof *prepared);
    int code = prepared == NULL ? SQLITE_NOMEM : sqlite3_open(path, &database);
    if (code == SQLITE_OK) {
        code = sqlite3_exec(database,
                            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                            "PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -65536;"
                            "PRAGMA recursive_triggers = ON; PRAGMA foreign_keys = ON;"
                            "PRAGMA secure_delete = ON; PRAGMA trusted_schema = ON;"
                            "PRAGMA temp_store = MEMORY",
                            NULL, NULL, NULL);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_create_function(database, "day_of", 2,
                                       SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
                                       day_of, NULL, NULL);
    }
    if (code == SQLITE_OK) code = sqlite3_exec(database, definitions, NULL, NULL, NULL);
    for (size_t index = 0; code == SQLITE_OK && index < statement_count; index++) {
        code = sqlite3_prepare_v3(database, statements, -1, SQLITE_PREPARE_PERSISTENT,
                                  prepared + index, NULL);
        statements += strlen(statements) + 1;
    }
    double result = 0;
    if (code == SQLITE_OK) {
        int64_t start = baseline_process_nanoseconds();
        code = run(database, prepared, calls, call_count, cells, texts, batch, failures);
        if (code == SQLITE_OK) {
            code = sqlite3_wal_checkpoint_v2(database, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL,
                                             NULL);
        }
        result = (double)(baseline_process_nanoseconds() - start) / 1e9;
    }
    for (size_t index = 0; prepared != NULL && index < statement_count; index++) {
        sqlite3_finalize(prepared[index]);
    }
    free(prepared);
    sqlite3_close(database);
    return code == SQLITE_OK ? result : -10000.0 - code;
}
