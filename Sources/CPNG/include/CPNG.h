/*
 * libpng behind plain types: one picture is read or written row by row, with 8 bits a sample.
 *
 * The library reports errors by longjmp, which never leaves a function here: each sets its own
 * place to return to, and calls back nobody but what is here. No header of the library is included
 * here, so that importing this module brings nothing else along.
 */
#ifndef DIARIO_CPNG_H
#define DIARIO_CPNG_H

#include <stddef.h>
#include <stdint.h>

enum {
    DIARIO_PNG_DONE = 0,
    /* `failure` says what the library said. */
    DIARIO_PNG_FAILED = 1,
    DIARIO_PNG_MEMORY = 2,
};

typedef struct {
    uint32_t width;
    uint32_t height;
    /* Bytes of a pixel in the rows: 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha. */
    int32_t channels;
    /* Bits of a pixel in the file. */
    int32_t bit_count;
    int32_t is_interlaced;
} diario_png_head;

typedef struct diario_png_reader diario_png_reader;

/* NULL if there is no memory. The bytes must stay until the reader's end. A picture that is wider
 * or higher than `side_max` is an error. Chunks that the pixels do not need are skipped. */
diario_png_reader *diario_png_read(const uint8_t *bytes, size_t count, uint32_t side_max);
/* Reads up to the first pixel; no memory in the size of the picture is asked for, only in that of
 * a row. */
int32_t diario_png_read_head(diario_png_reader *reader, diario_png_head *head);
/* Reads the next row into `row`, which holds width times channels bytes. */
int32_t diario_png_read_row(diario_png_reader *reader, uint8_t *row);
/* Reads all rows of an interlaced picture, which come several times each, to `rows`. */
int32_t diario_png_read_interlaced(diario_png_reader *reader, uint8_t *rows, size_t row_size);
/* Reads what comes after the last row, up to the chunk that ends the picture. */
int32_t diario_png_end_rows(diario_png_reader *reader);
/* What the library said, as a text that ends with zero. */
const char *diario_png_read_failure(const diario_png_reader *reader);
/* Frees everything. */
void diario_png_read_end(diario_png_reader *reader);

typedef struct diario_png_writer diario_png_writer;

/* NULL if there is no memory. */
diario_png_writer *diario_png_write(void);
/* `channels` is 1 for grey or 3 for RGB. */
int32_t diario_png_write_head(diario_png_writer *writer, uint32_t width, uint32_t height,
                              int32_t channels);
int32_t diario_png_write_row(diario_png_writer *writer, const uint8_t *row);
/* To be called after the last row; the bytes live until the writer's end. */
int32_t diario_png_end_writing(diario_png_writer *writer, const uint8_t **bytes, size_t *count);
void diario_png_write_end(diario_png_writer *writer);

#endif
