/*
 * libjpeg-turbo behind plain types: one picture is read or written row by row.
 *
 * The library reports errors by longjmp, which never leaves a function here: each sets its own
 * place to return to, and calls back nobody but the library's own parts. No header of the library
 * is included here, so that importing this module brings nothing else along.
 */
#ifndef DIARIO_CJPEG_H
#define DIARIO_CJPEG_H

#include <stddef.h>
#include <stdint.h>

enum {
    DIARIO_JPEG_DONE = 0,
    /* `failure` says what the library said. */
    DIARIO_JPEG_FAILED = 1,
    DIARIO_JPEG_MEMORY = 2,
    /* More scans than were allowed. */
    DIARIO_JPEG_SCANS = 3,
};

/* How colours are stored. */
enum {
    DIARIO_JPEG_GREY = 1,
    /* YCbCr or RGB: rows are RGB. */
    DIARIO_JPEG_COLOUR = 3,
    /* Four inks, or anything else: no rows can be had. */
    DIARIO_JPEG_OTHER = 0,
};

typedef struct {
    uint32_t width;
    uint32_t height;
    /* One of the above; it is also the number of bytes for each pixel. */
    int32_t channels;
    int32_t is_arithmetic;
} diario_jpeg_head;

typedef struct diario_jpeg_reader diario_jpeg_reader;

/* NULL if there is no memory. The bytes must stay until the reader's end. */
diario_jpeg_reader *diario_jpeg_read(const uint8_t *bytes, size_t count);
/* Reads up to the first scan; no memory in the size of the picture is asked for. */
int32_t diario_jpeg_read_head(diario_jpeg_reader *reader, diario_jpeg_head *head);
/* Begins to decode, with at most so many scans and so much memory. */
int32_t diario_jpeg_begin_rows(diario_jpeg_reader *reader, int32_t scan_count_max,
                               size_t memory_max);
/* Decodes the next row into `row`, which holds width times channels bytes. */
int32_t diario_jpeg_read_row(diario_jpeg_reader *reader, uint8_t *row);
/* Reads what comes after the last row, up to the mark of the picture's end. */
int32_t diario_jpeg_end_rows(diario_jpeg_reader *reader);
/* What the library said, as a text that ends with zero. */
const char *diario_jpeg_read_failure(const diario_jpeg_reader *reader);
/* Frees everything. */
void diario_jpeg_read_end(diario_jpeg_reader *reader);

typedef struct diario_jpeg_writer diario_jpeg_writer;

/* NULL if there is no memory. */
diario_jpeg_writer *diario_jpeg_write(void);
/* `channels` is 1 for grey or 3 for RGB, `quality` from 1 to 100. */
int32_t diario_jpeg_write_head(diario_jpeg_writer *writer, uint32_t width, uint32_t height,
                               int32_t channels, int32_t quality);
int32_t diario_jpeg_write_row(diario_jpeg_writer *writer, const uint8_t *row);
/* To be called after the last row; the bytes live until the writer's end. */
int32_t diario_jpeg_end_writing(diario_jpeg_writer *writer, const uint8_t **bytes, size_t *count);
void diario_jpeg_write_end(diario_jpeg_writer *writer);

#endif
