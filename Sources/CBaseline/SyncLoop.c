#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "CBaseline.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int sync_data(int descriptor) {
#if defined(__APPLE__)
    return fcntl(descriptor, F_FULLFSYNC);
#else
    return fdatasync(descriptor);
#endif
}

static int write_all(int descriptor, const uint8_t *bytes, size_t size, off_t offset) {
    while (size > 0) {
        ssize_t written = pwrite(descriptor, bytes, size, offset);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return -1;
        bytes += written;
        size -= (size_t)written;
        offset += written;
    }
    return 0;
}

int baseline_fill(const char *path, size_t size) {
    int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) return -errno;
    size_t piece = 1 << 20;
    uint8_t *bytes = malloc(piece);
    int result = 0;
    if (bytes == NULL) result = -ENOMEM;
    for (size_t offset = 0; result == 0 && offset < size; offset += piece) {
        size_t count = size - offset < piece ? size - offset : piece;
        memset(bytes, 0x5a, count);
        if (write_all(descriptor, bytes, count, (off_t)offset) < 0) result = -errno;
    }
    if (result == 0 && fsync(descriptor) < 0) result = -errno;
    free(bytes);
    close(descriptor);
    return result;
}

/* SHA-256 of each of the frame's records. */
static int hash_records(EVP_MD_CTX *context, const EVP_MD *digest, const uint8_t *frame,
                        size_t frame_size, size_t count, size_t record_size) {
    unsigned char hash[32];
    for (size_t index = 0; index < count; index++) {
        size_t start = index * record_size;
        if (start + record_size > frame_size) start = 0;
        if (!EVP_DigestInit_ex2(context, digest, NULL) ||
            !EVP_DigestUpdate(context, frame + start, record_size) ||
            !EVP_DigestFinal_ex(context, hash, NULL))
            return -1;
    }
    return 0;
}

double baseline_sync_loop(const char *path, size_t frame_size, size_t commits, size_t hash_count,
                          size_t record_size) {
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return -errno;
    off_t file_size = lseek(descriptor, 0, SEEK_END);
    uint8_t *frame = malloc(frame_size);
    EVP_MD *digest = EVP_MD_fetch(NULL, "SHA256", NULL);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    double result = 0;
    if (frame == NULL || digest == NULL || context == NULL || record_size > frame_size ||
        file_size < (off_t)frame_size) {
        result = -EINVAL;
    } else {
        memset(frame, 0xa5, frame_size);
        off_t offset = 0;
        double start = now();
        for (size_t commit = 0; commit < commits && result == 0; commit++) {
            /* Each commit has bytes of its own, as a log has. */
            memcpy(frame, &commit, sizeof commit < frame_size ? sizeof commit : frame_size);
            if (hash_records(context, digest, frame, frame_size, hash_count, record_size) < 0)
                result = -EINVAL;
            if (offset + (off_t)frame_size > file_size) offset = 0;
            if (write_all(descriptor, frame, frame_size, offset) < 0) result = -errno;
            if (sync_data(descriptor) < 0) result = -errno;
            offset += (off_t)frame_size;
        }
        if (result == 0) result = now() - start;
    }
    EVP_MD_CTX_free(context);
    EVP_MD_free(digest);
    free(frame);
    close(descriptor);
    return result;
}
