#ifndef DIARIO_WEB_H
#define DIARIO_WEB_H

#include <stddef.h>
#include <stdint.h>

/*
 * What the worker that holds the module gives it. Files are slots of a pool that the worker opened;
 * offsets are doubles, which hold each whole number up to 2^53. A result below 0 is a failure.
 */
#define DIARIO_WEB(name) __attribute__((import_module("diario"), import_name(name)))

DIARIO_WEB("random") extern void diario_web_random(void *bytes, size_t count);
/* Milliseconds since 1970, and since some moment that is never set back. */
DIARIO_WEB("now") extern double diario_web_now(void);
DIARIO_WEB("elapsed") extern double diario_web_elapsed(void);

DIARIO_WEB("read") extern int diario_web_read(int slot, void *bytes, int count, double at);
/* The bytes that were written; fewer if the quota is full. */
DIARIO_WEB("write") extern int diario_web_write(int slot, const void *bytes, int count, double at);
DIARIO_WEB("size") extern double diario_web_size(int slot);
DIARIO_WEB("truncate") extern int diario_web_truncate(int slot, double size);
DIARIO_WEB("flush") extern int diario_web_flush(int slot);

#endif
