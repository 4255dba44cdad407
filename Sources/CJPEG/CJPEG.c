#include "CJPEG.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#include <setjmp.h>

/* Where the library's errors end, with what it said. */
typedef struct {
    struct jpeg_error_mgr base; /* first, so that the library's pointer to it is one to this */
    jmp_buf place;
    int32_t outcome;
    char failure[JMSG_LENGTH_MAX];
} errors;

struct diario_jpeg_reader {
    struct jpeg_decompress_struct library;
    struct jpeg_progress_mgr progress;
    errors errors;
    int32_t scan_count_max;
};

struct diario_jpeg_writer {
    struct jpeg_compress_struct library;
    struct jpeg_destination_mgr destination;
    errors errors;
    uint8_t *bytes;
    size_t count, capacity;
};

/* MARK: Errors */

static void fail(j_common_ptr library) {
    errors *own = (errors *)library->err;
    int code = own->base.msg_code;
    own->outcome = code == JERR_OUT_OF_MEMORY || code == JERR_NO_BACKING_STORE
                       ? DIARIO_JPEG_MEMORY
                       : DIARIO_JPEG_FAILED;
    own->base.format_message(library, own->failure);
    longjmp(own->place, 1);
}

/* The library would go on with grey where bytes are missing or wrong: that is an error here. */
static void tell(j_common_ptr library, int level) {
    if (level >= 0) return;
    switch (library->err->msg_code) {
    /* Cameras do these, and no pixel is another one for it. */
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_ADOBE_XFORM:
    case JWRN_JFIF_MAJOR: return;
    default: fail(library);
    }
}

static void print_nothing(j_common_ptr library) { (void)library; }

static struct jpeg_error_mgr *prepare(errors *own) {
    jpeg_std_error(&own->base);
    own->base.error_exit = fail;
    own->base.emit_message = tell;
    own->base.output_message = print_nothing;
    return &own->base;
}

/* MARK: Reading */

static void count_scans(j_common_ptr library) {
    j_decompress_ptr decoder = (j_decompress_ptr)library;
    diario_jpeg_reader *reader = (diario_jpeg_reader *)decoder->client_data;
    if (decoder->input_scan_number <= reader->scan_count_max) return;
    reader->errors.outcome = DIARIO_JPEG_SCANS;
    longjmp(reader->errors.place, 1);
}

diario_jpeg_reader *diario_jpeg_read(const uint8_t *bytes, size_t count) {
    diario_jpeg_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) return NULL;
    reader->library.err = prepare(&reader->errors);
    if (setjmp(reader->errors.place) != 0) {
        diario_jpeg_read_end(reader);
        return NULL;
    }
    jpeg_create_decompress(&reader->library);
    reader->library.client_data = reader;
    reader->progress.progress_monitor = count_scans;
    reader->library.progress = &reader->progress;
    jpeg_mem_src(&reader->library, bytes, count);
    return reader;
}

int32_t diario_jpeg_read_head(diario_jpeg_reader *reader, diario_jpeg_head *head) {
    if (setjmp(reader->errors.place) != 0) return reader->errors.outcome;
    j_decompress_ptr library = &reader->library;
    jpeg_read_header(library, TRUE);
    head->width = library->image_width;
    head->height = library->image_height;
    head->is_arithmetic = library->arith_code;
    switch (library->jpeg_color_space) {
    case JCS_GRAYSCALE:
        head->channels = DIARIO_JPEG_GREY;
        library->out_color_space = JCS_GRAYSCALE;
        break;
    case JCS_YCbCr:
    case JCS_RGB:
        head->channels = DIARIO_JPEG_COLOUR;
        library->out_color_space = JCS_RGB;
        break;
    default: head->channels = DIARIO_JPEG_OTHER;
    }
    return DIARIO_JPEG_DONE;
}

int32_t diario_jpeg_begin_rows(diario_jpeg_reader *reader, int32_t scan_count_max,
                               size_t memory_max) {
    if (setjmp(reader->errors.place) != 0) return reader->errors.outcome;
    reader->scan_count_max = scan_count_max;
    reader->library.mem->max_memory_to_use = (long)memory_max;
    reader->library.dct_method = JDCT_ISLOW;
    jpeg_start_decompress(&reader->library);
    return DIARIO_JPEG_DONE;
}

int32_t diario_jpeg_read_row(diario_jpeg_reader *reader, uint8_t *row) {
    if (setjmp(reader->errors.place) != 0) return reader->errors.outcome;
    JSAMPROW rows[1] = {row};
    jpeg_read_scanlines(&reader->library, rows, 1);
    return DIARIO_JPEG_DONE;
}

int32_t diario_jpeg_end_rows(diario_jpeg_reader *reader) {
    if (setjmp(reader->errors.place) != 0) return reader->errors.outcome;
    jpeg_finish_decompress(&reader->library);
    return DIARIO_JPEG_DONE;
}

const char *diario_jpeg_read_failure(const diario_jpeg_reader *reader) {
    return reader->errors.failure;
}

void diario_jpeg_read_end(diario_jpeg_reader *reader) {
    jpeg_destroy_decompress(&reader->library);
    free(reader);
}

/* MARK: Writing */

static void begin_bytes(j_compress_ptr library) {
    diario_jpeg_writer *writer = (diario_jpeg_writer *)library->client_data;
    writer->destination.next_output_byte = writer->bytes;
    writer->destination.free_in_buffer = writer->capacity;
}

static boolean grow_bytes(j_compress_ptr library) {
    diario_jpeg_writer *writer = (diario_jpeg_writer *)library->client_data;
    uint8_t *larger = realloc(writer->bytes, 2 * writer->capacity);
    if (larger == NULL) ERREXIT1(library, JERR_OUT_OF_MEMORY, 0);
    writer->bytes = larger;
    writer->destination.next_output_byte = larger + writer->capacity;
    writer->destination.free_in_buffer = writer->capacity;
    writer->capacity *= 2;
    return TRUE;
}

static void end_bytes(j_compress_ptr library) {
    diario_jpeg_writer *writer = (diario_jpeg_writer *)library->client_data;
    writer->count = writer->capacity - writer->destination.free_in_buffer;
}

diario_jpeg_writer *diario_jpeg_write(void) {
    diario_jpeg_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL) return NULL;
    writer->capacity = 64 * 1024;
    writer->bytes = malloc(writer->capacity);
    writer->library.err = prepare(&writer->errors);
    if (writer->bytes == NULL || setjmp(writer->errors.place) != 0) {
        diario_jpeg_write_end(writer);
        return NULL;
    }
    jpeg_create_compress(&writer->library);
    writer->library.client_data = writer;
    writer->destination.init_destination = begin_bytes;
    writer->destination.empty_output_buffer = grow_bytes;
    writer->destination.term_destination = end_bytes;
    writer->library.dest = &writer->destination;
    return writer;
}

int32_t diario_jpeg_write_head(diario_jpeg_writer *writer, uint32_t width, uint32_t height,
                               int32_t channels, int32_t quality) {
    if (setjmp(writer->errors.place) != 0) return writer->errors.outcome;
    j_compress_ptr library = &writer->library;
    library->image_width = width;
    library->image_height = height;
    library->input_components = channels;
    library->in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(library);
    jpeg_set_quality(library, quality, TRUE);
    library->dct_method = JDCT_ISLOW;
    jpeg_start_compress(library, TRUE);
    return DIARIO_JPEG_DONE;
}

int32_t diario_jpeg_write_row(diario_jpeg_writer *writer, const uint8_t *row) {
    if (setjmp(writer->errors.place) != 0) return writer->errors.outcome;
    /* The library reads rows and takes them as if it might write. */
    JSAMPROW rows[1] = {(JSAMPROW)row};
    jpeg_write_scanlines(&writer->library, rows, 1);
    return DIARIO_JPEG_DONE;
}

int32_t diario_jpeg_end_writing(diario_jpeg_writer *writer, const uint8_t **bytes, size_t *count) {
    if (setjmp(writer->errors.place) != 0) return writer->errors.outcome;
    jpeg_finish_compress(&writer->library);
    *bytes = writer->bytes;
    *count = writer->count;
    return DIARIO_JPEG_DONE;
}

void diario_jpeg_write_end(diario_jpeg_writer *writer) {
    jpeg_destroy_compress(&writer->library);
    free(writer->bytes);
    free(writer);
}
