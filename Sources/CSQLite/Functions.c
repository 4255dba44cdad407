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

// What a directive of printf says of how a value is written.
struct directive {
    char flags[8];
    int flag_count;
    long long width;     // -1 if there is none
    long long precision; // -1 if there is none
    char type;
};

// The library pads up to 2^31 characters one by one, in a step that nothing ends.
enum { padding_max = 1000000 };

// The arguments of printf that are still to come.
struct arguments {
    sqlite3_value **values;
    int count;
};

static sqlite3_value *next_value(struct arguments *arguments) {
    if (arguments->count == 0) return NULL;
    arguments->count -= 1;
    return *arguments->values++;
}

static sqlite3_int64 next_integer(struct arguments *arguments) {
    sqlite3_value *value = next_value(arguments);
    return value == NULL ? 0 : sqlite3_value_int64(value);
}

static double next_real(struct arguments *arguments) {
    sqlite3_value *value = next_value(arguments);
    return value == NULL ? 0 : sqlite3_value_double(value);
}

static const char *next_text(struct arguments *arguments) {
    sqlite3_value *value = next_value(arguments);
    return value == NULL ? NULL : (const char *)sqlite3_value_text(value);
}

// A number of digits from `*format` on; above the bound it stays there.
static long long read_number(const char **format) {
    long long number = 0;
    for (; **format >= '0' && **format <= '9'; *format += 1) {
        if (number <= padding_max) number = 10 * number + (**format - '0');
    }
    return number;
}

// Reads what follows a percent sign, in the order in which the library takes it.
static void read_directive(
    const char **format, struct directive *directive, struct arguments *arguments
) {
    directive->flag_count = 0;
    directive->width = directive->precision = -1;
    while (**format != 0 && strchr("-+ #!0,", **format) != NULL) {
        char flag = *(*format)++;
        if (memchr(directive->flags, flag, (size_t)directive->flag_count) != NULL) continue;
        directive->flags[directive->flag_count++] = flag;
    }
    if (**format == '*') {
        *format += 1;
        int width = (int)next_integer(arguments);
        if (width < 0 && memchr(directive->flags, '-', (size_t)directive->flag_count) == NULL) {
            directive->flags[directive->flag_count++] = '-';
        }
        directive->width = width < 0 ? -(long long)width : width;
    } else if (**format >= '1' && **format <= '9') {
        directive->width = read_number(format);
    }
    if (**format == '.') {
        *format += 1;
        if (**format == '*') {
            *format += 1;
            int precision = (int)next_integer(arguments);
            directive->precision = precision < 0 ? -(long long)precision : precision;
        } else {
            directive->precision = read_number(format);
        }
    }
    for (int count = 0; count < 2 && **format == 'l'; count += 1) *format += 1;
    directive->type = **format;
    if (**format != 0) *format += 1;
}

// The directive with its numbers, for a value of the C type that `type` names.
static void write_directive(const struct directive *directive, const char *type, char *text) {
    *text++ = '%';
    for (int index = 0; index < directive->flag_count; index += 1) {
        *text++ = directive->flags[index];
    }
    if (directive->width >= 0) {
        sqlite3_snprintf(12, text, "%lld", directive->width);
        text += strlen(text);
    }
    if (directive->precision >= 0) {
        sqlite3_snprintf(12, text, ".%lld", directive->precision);
        text += strlen(text);
    }
    strcpy(text, type);
}

// A character, so many times, beside the blanks that the width asks for. As the library counts, a
// byte that goes on with a character has no width, even if none begins before it.
static void append_padded(
    sqlite3_str *made, const struct directive *directive, const char *character, int size,
    long long count
) {
    int is_left = memchr(directive->flags, '-', (size_t)directive->flag_count) != NULL;
    long long width = directive->width - (count - 1);
    if (count > 1 && width > 1 && !is_left) {
        sqlite3_str_appendchar(made, (int)width - 1, ' ');
        width = 0;
    }
    for (long long index = 1; index < count; index += 1) sqlite3_str_append(made, character, size);
    for (int index = 0; index < size && width > 0; index += 1) {
        if (is_continuation((unsigned char)character[index])) width += 1;
    }
    int padding = width > size ? (int)width - size : 0;
    if (!is_left) sqlite3_str_appendchar(made, padding, ' ');
    sqlite3_str_append(made, character, size);
    if (is_left) sqlite3_str_appendchar(made, padding, ' ');
}

// %c: the first character of a text, as many times as the precision says.
static void append_character(
    sqlite3_str *made, struct directive *directive, struct arguments *arguments
) {
    const char *text = next_text(arguments);
    char character[5] = {0};
    int size = 1;
    if (text != NULL) character[0] = *text;
    if (((unsigned char)character[0] & 0xc0) == 0xc0) {
        text += 1;
        while (size < 4 && is_continuation((unsigned char)*text)) character[size++] = *text++;
    }
    long long count = directive->precision > 1 ? directive->precision : 1;
    append_padded(made, directive, character, size, count);
}

// Whether a value could be written; what follows one that could not is left out, as by the library.
static int append_value(
    sqlite3_str *made, struct directive *directive, struct arguments *arguments
) {
    char text[48];
    switch (directive->type) {
    case 'd': case 'i': case 'u': case 'x': case 'X': case 'o': case 'r':
    case 'p': {
        char type[4] = {'l', 'l', directive->type, 0};
        write_directive(directive, type, text);
        sqlite3_str_appendf(made, text, next_integer(arguments));
        return 1;
    }
    case 'e': case 'E': case 'f': case 'g': case 'G': {
        char type[2] = {directive->type, 0};
        write_directive(directive, type, text);
        sqlite3_str_appendf(made, text, next_real(arguments));
        return 1;
    }
    case 's': case 'z': case 'q': case 'Q': case 'w': {
        char type[2] = {directive->type == 'z' ? 's' : directive->type, 0};
        write_directive(directive, type, text);
        sqlite3_str_appendf(made, text, next_text(arguments));
        return 1;
    }
    case 'c': append_character(made, directive, arguments); return 1;
    case '%': append_padded(made, directive, "%", 1, 1); return 1;
    // To C it would give the length so far.
    case 'n': sqlite3_str_append(made, "", 0); return 1;
    default: return 0;
    }
}

// printf(FORMAT, ...), which is format(FORMAT, ...) as well, with bounded widths and precisions.
static void formatted(sqlite3_context *context, int count, sqlite3_value **values) {
    const char *format = count == 0 ? NULL : (const char *)sqlite3_value_text(values[0]);
    if (format == NULL) return;
    struct arguments arguments = {values + 1, count - 1};
    sqlite3_str *made = sqlite3_str_new(sqlite3_context_db_handle(context));
    while (*format != 0 && sqlite3_str_errcode(made) == SQLITE_OK) {
        size_t plain = strcspn(format, "%");
        if (plain > 0) sqlite3_str_append(made, format, (int)plain);
        format += plain;
        if (*format == 0) break;
        format += 1;
        if (*format == 0) {
            sqlite3_str_appendchar(made, 1, '%');
            break;
        }
        struct directive directive;
        read_directive(&format, &directive, &arguments);
        if (directive.width > padding_max || directive.precision > padding_max) {
            sqlite3_free(sqlite3_str_finish(made));
            return sqlite3_result_error_toobig(context);
        }
        if (!append_value(made, &directive, &arguments)) break;
    }
    int error = sqlite3_str_errcode(made);
    int size = sqlite3_str_length(made);
    char *text = sqlite3_str_finish(made);
    if (error == SQLITE_TOOBIG) {
        sqlite3_free(text);
        sqlite3_result_error_toobig(context);
    } else if (error != SQLITE_OK) {
        sqlite3_free(text);
        sqlite3_result_error_nomem(context);
    } else {
        // NULL if nothing was appended, not even an empty text.
        sqlite3_result_text(context, text, size, sqlite3_free);
    }
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
        {"printf", -1, 0, formatted},     {"format", -1, 0, formatted},
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
