/*
 * What Embedded Swift asks of a C library and wasi-libc does not have.
 */
#include "web.h"

#include <stdlib.h>

/* Salts, ids, and the seed of Swift's hashes. */
void arc4random_buf(void *bytes, size_t count) { diario_web_random(bytes, count); }

const char *_swift_stdlib_strtod_clocale(const char *text, double *number) {
    char *end;
    *number = strtod(text, &end);
    return end;
}
