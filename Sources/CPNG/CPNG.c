#include "CPNG.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

/* Where the library's errors end, with what it said. */
typedef struct {
    jmp_buf place;
    int32_t outcome;
    char failure[200];
} errors;

struct diario_png_reader {
    errors errors;
    png_structp library;
    png_infop info;
    const uint8_t *bytes;
    size_t count, offset;
    int pass_count;
};

struct diario_png_writer {
    errors errors;
    png_structp library;
    png_infop info;
    uint8_t *bytes;
    size_t count, capacity;
};

/* MARK: Errors */

static void fail(png_structp library, png_const_charp message) {
    errors *own = png_get_error_ptr(library);
    /* What it says when it has no memory, and of nothing else. */
    own->outcome = strstr(message, "ut of memory") != NULL || strstr(message, "ufficient memory")
                       ? DIARIO_PNG_MEMORY
                       : DIARIO_PNG_FAILED;
    strncpy(own->failure, message, sizeof own->failure - 1);
    longjmp(own->place, 1);
}

static void ignore(png_structp library, png_const_charp message) {
    (void)library;
    (void)message;
}

/* MARK: Reading */

static void give_bytes(png_structp library, png_bytep target, size_t count) {
    diario_png_reader *reader = png_get_io_ptr(library);
    if (count > reader->count - reader->offset) png_error(library, "the file ends too early");
    memcpy(target, reader->bytes + reader->offset, count);
    reader->offset += count;
}

diario_png_reader *diario_png_read(const uint8_t *bytes, size_t count, uint32_t side_max) {
    diario_png_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) return NULL;
    reader->bytes = bytes;
    reader->count = count;
    if (setjmp(reader->errors.place) != 0) {
        diario_png_read_end(reader);
        return NULL;
    }
    reader->library =
        png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader->errors, fail, ignore);
    if (reader->library != NULL) reader->info = png_create_info_struct(reader->library);
    if (reader->info == NULL) {
        diario_png_read_end(reader);
        return NULL;
    }
    png_set_read_fn(reader->library, reader, give_bytes);
    png_set_user_limits(reader->library, side_max, side_max);
    png_set_chunk_cache_max(reader->library, 1); /* none is kept */
    /* Without a list: what the library does not know. With it: texts, colour profiles and the
     * like, which it would decompress. Only the palette and tRNS change what pixels are. */
    static const uint8_t unneeded[] = "bKGD\0cHRM\0eXIf\0gAMA\0hIST\0iCCP\0iTXt\0oFFs\0pCAL\0"
                                      "pHYs\0sBIT\0sCAL\0sPLT\0sRGB\0sTER\0tEXt\0tIME\0zTXt";
    png_set_keep_unknown_chunks(reader->library, PNG_HANDLE_CHUNK_NEVER, NULL, 0);
    png_set_keep_unknown_chunks(reader->library, PNG_HANDLE_CHUNK_NEVER, unneeded,
                                sizeof unneeded / 5);
    return reader;
}

int32_t diario_png_read_head(diario_png_reader *reader, diario_png_head *head) {
    if (setjmp(reader->errors.place) != 0) return reader->errors.outcome;
    png_structp library = reader->library;
    png_read_info(library, reader->info);
    int bits = png_get_bit_depth(library, reader->info);
    head->bit_count = bits * png_get_channels(library, reader->info);
    head->is_interlaced = png_get_interlace_type(library, reader->info) != PNG_INTERLACE_NONE;
    /* Palettes become RGB, few bits 8, transparent colours alpha. */
    png_set_expand(library);
    png_set_scale_16(library);
    reader->pass_count = png_set_interlace_handling(library);
    png_read_update_info(library, reader->info);
    head->width = png_get_image_width(library, reader->info);
    head->height = png_get_image_height(library, reader->info);
    head->channels = png_get_channels(library, reader->info);
    if (png_get_rowbytes(library, reader->info) != (size_t)head->width * (size_t)head->channels) {
        png_error(library, "rows of an unknown form");
    }
    return DIARIO_PNG_DONE;
}

int32_t diario_png_read_row(diario_png_reader *reader, uint8_t *row) {
    if (setjmp(reader->errors.place) != 0) return reader->errors.outcome;
    png_read_row(reader->library, row, NULL);
    return DIARIO_PNG_DONE;
}

int32_t diario_png_read_interlaced(diario_png_reader *reader, uint8_t *rows, size_t row_size) {
    if (setjmp(reader->errors.place) != 0) return reader->errors.outcome;
    png_uint_32 height = png_get_image_height(reader->library, reader->info);
    for (int pass = 0; pass < reader->pass_count; pass++) {
        for (png_uint_32 row = 0; row < height; row++) {
            png_read_row(reader->library, rows + row * row_size, NULL);
        }
    }
    return DIARIO_PNG_DONE;
}

int32_t diario_png_end_rows(diario_png_reader *reader) {
    if (setjmp(reader->errors.place) != 0) return reader->errors.outcome;
    png_read_end(reader->library, NULL);
    return DIARIO_PNG_DONE;
}

const char *diario_png_read_failure(const diario_png_reader *reader) {
    return reader->errors.failure;
}

void diario_png_read_end(diario_png_reader *reader) {
    png_destroy_read_struct(&reader->library, &reader->info, NULL);
    free(reader);
}

/* MARK: Writing */

static void take_bytes(png_structp library, png_bytep source, size_t count) {
    diario_png_writer *writer = png_get_io_ptr(library);
    size_t wanted = writer->count + count;
    if (wanted > writer->capacity) {
        size_t next = wanted > 2 * writer->capacity ? wanted : 2 * writer->capacity;
        uint8_t *larger = realloc(writer->bytes, next);
        if (larger == NULL) png_error(library, "Out of memory");
        writer->bytes = larger;
        writer->capacity = next;
    }
    memcpy(writer->bytes + writer->count, source, count);
    writer->count = wanted;
}

static void flush_nothing(png_structp library) { (void)library; }

diario_png_writer *diario_png_write(void) {
    diario_png_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL) return NULL;
    if (setjmp(writer->errors.place) != 0) {
        diario_png_write_end(writer);
        return NULL;
    }
    writer->library =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, &writer->errors, fail, ignore);
    if (writer->library != NULL) writer->info = png_create_info_struct(writer->library);
    if (writer->info == NULL) {
        diario_png_write_end(writer);
        return NULL;
    }
    png_set_write_fn(writer->library, writer, take_bytes, flush_nothing);
    return writer;
}

int32_t diario_png_write_head(diario_png_writer *writer, uint32_t width, uint32_t height,
                              int32_t channels) {
    if (setjmp(writer->errors.place) != 0) return writer->errors.outcome;
    png_set_IHDR(writer->library, writer->info, width, height, 8,
                 channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(writer->library, writer->info);
    return DIARIO_PNG_DONE;
}

int32_t diario_png_write_row(diario_png_writer *writer, const uint8_t *row) {
    if (setjmp(writer->errors.place) != 0) return writer->errors.outcome;
    png_write_row(writer->library, row);
    return DIARIO_PNG_DONE;
}

int32_t diario_png_end_writing(diario_png_writer *writer, const uint8_t **bytes, size_t *count) {
    if (setjmp(writer->errors.place) != 0) return writer->errors.outcome;
    png_write_end(writer->library, writer->info);
    *bytes = writer->bytes;
    *count = writer->count;
    return DIARIO_PNG_DONE;
}

void diario_png_write_end(diario_png_writer *writer) {
    png_destroy_write_struct(&writer->library, &writer->info);
    free(writer->bytes);
    free(writer);
}
