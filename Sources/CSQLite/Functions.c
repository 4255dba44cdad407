#define _GNU_SOURCE
#include "CSQLite.h"

#include <stdlib.h>
#include <string.h>

// Functions of SQL with the library's names and results. Its own take the product of two lengths,
// in one step that nothing ends: minutes for a text of a mebibyte.

static int is_continuation(unsigned char byte) { return (byte & 0xc0) == 0x80; }

// The first place of `part` in `bytes`; glibc's search takes the sum of the lengths.
static const unsigned char *find(
    const unsigned char *bytes, size_t count, const unsigned char *part, size_t part_count
) {
    return memmem(bytes, count, part, part_count);
}

// As `find` for texts: a place is where a character begins.
static const unsigned char *find_text(
    const unsigned char *bytes, size_t count, const unsigned char *part, size_t part_count
) {
    if (!is_continuation(part[0])) return find(bytes, count, part, part_count);
    // No character begins with this byte, but one that is cut off may stand at the start.
    int is_there = count >= part_count && memcmp(bytes, part, part_count) == 0;
    return is_there ? bytes : NULL;
}

// A value as text: a copy if it is a blob, so that the value stays one.
struct text {
    const unsigned char *bytes;
    size_t count;
    sqlite3_value *copy;
};

static int read_text(sqlite3_value *value, struct text *text) {
    text->copy = sqlite3_value_type(value) == SQLITE_BLOB ? sqlite3_value_dup(value) : NULL;
    sqlite3_value *read = text->copy != NULL ? text->copy : value;
    text->bytes = sqlite3_value_text(read);
    text->count = (size_t)sqlite3_value_bytes(read);
    return text->bytes != NULL || text->count == 0;
}

// instr(X, Y): where Y begins in X, in characters, or in bytes if both are blobs.
static void instr(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL) return;
    if (sqlite3_value_type(values[1]) == SQLITE_NULL) return;
    if (sqlite3_value_bytes(values[1]) == 0) return sqlite3_result_int(context, 1);
    if (sqlite3_value_type(values[0]) == SQLITE_BLOB &&
        sqlite3_value_type(values[1]) == SQLITE_BLOB) {
        size_t size = (size_t)sqlite3_value_bytes(values[0]);
        const unsigned char *bytes = sqlite3_value_blob(values[0]);
        const unsigned char *part = sqlite3_value_blob(values[1]);
        const unsigned char *place =
            size == 0 ? NULL : find(bytes, size, part, (size_t)sqlite3_value_bytes(values[1]));
        return sqlite3_result_int64(context, place == NULL ? 0 : place - bytes + 1);
    }
    struct text whole = {NULL, 0, NULL}, part = {NULL, 0, NULL};
    if (!read_text(values[0], &whole) || !read_text(values[1], &part)) {
        sqlite3_result_error_nomem(context);
    } else {
        const unsigned char *place =
            whole.count == 0 ? NULL : find_text(whole.bytes, whole.count, part.bytes, part.count);
        sqlite3_int64 number = 0;
        if (place != NULL) {
            number = 1;
            for (const unsigned char *byte = whole.bytes + 1; byte <= place; byte += 1) {
                if (!is_continuation(*byte)) number += 1;
            }
        }
        sqlite3_result_int64(context, number);
    }
    sqlite3_value_free(whole.copy);
    sqlite3_value_free(part.copy);
}

// replace(X, Y, Z): X with Z in all places of Y.
static void replace(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    const unsigned char *text = sqlite3_value_text(values[0]);
    if (text == NULL) return;
    size_t size = (size_t)sqlite3_value_bytes(values[0]);
    const unsigned char *part = sqlite3_value_text(values[1]);
    if (part == NULL) return;
    if (part[0] == 0) return sqlite3_result_value(context, values[0]);
    size_t part_size = (size_t)sqlite3_value_bytes(values[1]);
    const unsigned char *other = sqlite3_value_text(values[2]);
    if (other == NULL) return;
    size_t other_size = (size_t)sqlite3_value_bytes(values[2]);

    const unsigned char *end = text + size, *place;
    size_t place_count = 0;
    for (const unsigned char *rest = text;
         (place = find(rest, (size_t)(end - rest), part, part_size)) != NULL;
         rest = place + part_size) {
        place_count += 1;
    }
    sqlite3 *database = sqlite3_context_db_handle(context);
    size_t size_max = (size_t)sqlite3_limit(database, SQLITE_LIMIT_LENGTH, -1);
    // Neither product can overflow: each value is shorter than 2^31.
    size_t made_size = size - place_count * part_size + place_count * other_size;
    if (made_size > size_max) return sqlite3_result_error_toobig(context);
    unsigned char *made = sqlite3_malloc64(made_size + 1), *next = made;
    if (made == NULL) return sqlite3_result_error_nomem(context);
    for (const unsigned char *rest = text;; rest = place + part_size) {
        place = place_count == 0 ? NULL : find(rest, (size_t)(end - rest), part, part_size);
        size_t kept = (size_t)((place == NULL ? end : place) - rest);
        memcpy(next, rest, kept);
        next += kept;
        if (place == NULL) break;
        memcpy(next, other, other_size);
        next += other_size;
        place_count -= 1;
    }
    *next = 0;
    sqlite3_result_text64(context, (char *)made, made_size, sqlite3_free, SQLITE_UTF8);
}

enum { trims_start = 1, trims_end = 2, trimmed_max = 256 };

struct characters {
    const unsigned char *start[trimmed_max];
    unsigned char size[trimmed_max];
    int count;
};

// Tells the characters of `text` apart as the library does; 0 if there are too many.
static int read_characters(const unsigned char *text, struct characters *characters) {
    characters->count = 0;
    while (*text != 0) {
        const unsigned char *start = text;
        text += 1;
        if (*start >= 0xc0) {
            while (is_continuation(*text)) text += 1;
        }
        if (characters->count == trimmed_max || text - start > 255) return 0;
        characters->start[characters->count] = start;
        characters->size[characters->count] = (unsigned char)(text - start);
        characters->count += 1;
    }
    return 1;
}

// The size of the character that `bytes` begins, or ends, with; 0 if it is none of these.
static size_t trimmed(
    const struct characters *characters, const unsigned char *bytes, size_t count, int at_end
) {
    for (int index = 0; index < characters->count; index += 1) {
        size_t size = characters->size[index];
        if (size > count) continue;
        const unsigned char *place = at_end ? bytes + count - size : bytes;
        if (memcmp(place, characters->start[index], size) == 0) return size;
    }
    return 0;
}

// trim, ltrim, rtrim(X[, Y]): X without the characters of Y (or spaces) at its ends.
static void trim(sqlite3_context *context, int count, sqlite3_value **values) {
    if (sqlite3_value_type(values[0]) == SQLITE_NULL) return;
    const unsigned char *text = sqlite3_value_text(values[0]);
    if (text == NULL) return;
    size_t size = (size_t)sqlite3_value_bytes(values[0]);
    const unsigned char *list =
        count == 1 ? (const unsigned char *)" " : sqlite3_value_text(values[1]);
    if (list == NULL) return;
    struct characters characters;
    if (!read_characters(list, &characters)) {
        return sqlite3_result_error(context, "trim takes up to 256 characters", -1);
    }
    int ends = (int)(intptr_t)sqlite3_user_data(context);
    size_t step;
    while (ends & trims_start && (step = trimmed(&characters, text, size, 0)) > 0) {
        text += step;
        size -= step;
    }
    while (ends & trims_end && (step = trimmed(&characters, text, size, 1)) > 0) size -= step;
    sqlite3_result_text64(context, (const char *)text, size, SQLITE_TRANSIENT, SQLITE_UTF8);
}

int diario_sqlite_add_text_functions(sqlite3 *database) {
    static const struct {
        const char *name;
        int count;
        intptr_t ends;
        void (*call)(sqlite3_context *, int, sqlite3_value **);
    } functions[] = {
        {"instr", 2, 0, instr},           {"replace", 3, 0, replace},
        {"trim", 1, trims_start | trims_end, trim},
        {"trim", 2, trims_start | trims_end, trim},
        {"ltrim", 1, trims_start, trim},  {"ltrim", 2, trims_start, trim},
        {"rtrim", 1, trims_end, trim},    {"rtrim", 2, trims_end, trim},
    };
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    for (size_t index = 0; index < sizeof functions / sizeof *functions; index += 1) {
        int result = sqlite3_create_function_v2(
            database, functions[index].name, functions[index].count, flags,
            (void *)functions[index].ends, functions[index].call, NULL, NULL, NULL
        );
        if (result != SQLITE_OK) return result;
    }
    return SQLITE_OK;
}
