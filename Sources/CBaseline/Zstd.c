#include "CBaseline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <zstd.h>

/* Compresses all of `file`; -1 if memory, disk or library refuse. */
static int compress(ZSTD_CCtx *context, FILE *file, uint64_t *size) {
    size_t read_size = ZSTD_CStreamInSize(), write_size = ZSTD_CStreamOutSize();
    char *input = malloc(read_size), *output = malloc(write_size);
    int result = input != NULL && output != NULL ? 0 : -1;
    for (int is_last = 0; result == 0 && !is_last;) {
        size_t count = fread(input, 1, read_size, file);
        if (ferror(file)) result = -1;
        is_last = count < read_size;
        ZSTD_inBuffer from = {input, count, 0};
        size_t rest = 1;
        while (result == 0 && (is_last ? rest != 0 : from.pos < from.size)) {
            ZSTD_outBuffer to = {output, write_size, 0};
            ZSTD_EndDirective end = is_last ? ZSTD_e_end : ZSTD_e_continue;
            rest = ZSTD_compressStream2(context, &to, &from, end);
            if (ZSTD_isError(rest)) result = -1;
            *size += to.pos;
        }
    }
    free(input);
    free(output);
    return result;
}

double baseline_zstd(const char *path, int level, int window_log, uint64_t *size) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return -errno;
    ZSTD_CCtx *context = ZSTD_createCCtx();
    struct stat status;
    int result = context != NULL && fstat(fileno(file), &status) == 0 ? 0 : -1;
    *size = 0;
    int64_t start = baseline_process_nanoseconds();
    if (result == 0) {
        /* What the program does, which knows the size of a file and adds a checksum. */
        ZSTD_CCtx_setPledgedSrcSize(context, (unsigned long long)status.st_size);
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
        ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
        ZSTD_CCtx_setParameter(context, ZSTD_c_enableLongDistanceMatching, 1);
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
        result = compress(context, file, size);
    }
    int64_t time = baseline_process_nanoseconds() - start;
    ZSTD_freeCCtx(context);
    fclose(file);
    return result == 0 ? (double)time / 1e9 : -EIO;
}
