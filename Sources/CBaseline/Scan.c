#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "CBaseline.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

double baseline_scan(const char *path, uint64_t *sum, uint64_t *records) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -errno;
    struct stat status;
    if (fstat(file, &status) != 0) {
        int code = errno;
        close(file);
        return -code;
    }
    size_t size = (size_t)status.st_size;
    const uint8_t *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED) return -errno;
    int64_t start = baseline_process_nanoseconds();
    uint64_t total = 0, count = 0;
    for (size_t offset = 0; offset < size;) {
        const uint8_t *record = bytes + offset;
        uint32_t record_size, cells;
        uint64_t texts;
        memcpy(&record_size, record, 4);
        memcpy(&cells, record + 4, 4);
        memcpy(&texts, record + 8, 8);
        for (uint32_t cell = 0; cell < cells; cell++) {
            uint64_t value;
            memcpy(&value, record + 16 + 8 * cell, 8);
            if (texts >> cell & 1) {
                uint32_t text_size = (uint32_t)(value >> 32);
                total += text_size;
                if (text_size > 0) total += record[(uint32_t)value];
            } else {
                total += value;
            }
        }
        count++;
        offset += record_size;
    }
    int64_t time = baseline_process_nanoseconds() - start;
    munmap((void *)bytes, size);
    *sum += total;
    *records += count;
    return (double)time / 1e9;
}
