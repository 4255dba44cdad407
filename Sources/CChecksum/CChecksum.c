#include "CChecksum.h"

#include <string.h>

/* The polynomial with its bits reflected: bit 31 stands for x^0, bit 0 for x^31. */
#define DIARIO_POLYNOMIAL 0x82f63b78u

/* Eight bytes, the first of which is the lowest. */
static inline uint64_t load_word(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* --- Without special instructions: eight bytes a step, by eight tables. --- */

/* tables[n][b]: what byte `b` does to the CRC when `n` bytes follow it in the same step. */
static uint32_t tables[8][256];

static void fill_tables(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? DIARIO_POLYNOMIAL : 0);
        tables[0][byte] = crc;
    }
    for (int step = 1; step < 8; step++) {
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t crc = tables[step - 1][byte];
            tables[step][byte] = crc >> 8 ^ tables[0][crc & 0xff];
        }
    }
}

static uint32_t update_portable(uint32_t crc, const uint8_t *bytes, size_t count) {
    for (; count >= 8; bytes += 8, count -= 8) {
        uint64_t word = load_word(bytes) ^ crc;
        crc = 0;
        for (int index = 0; index < 8; index++) {
            crc ^= tables[7 - index][word >> 8 * index & 0xff];
        }
    }
    for (; count > 0; bytes++, count--) crc = crc >> 8 ^ tables[0][(crc ^ *bytes) & 0xff];
    return crc;
}

/* --- x86-64: the instruction takes 8 bytes in 3 cycles but starts one in each. --- */

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

#define DIARIO_TARGET __attribute__((target("sse4.2,pclmul")))

/*
 * So three streams side by side go three times as fast. A, B and C, of `size` bytes each, have the
 * CRC a * x^(16 size) + b * x^(8 size) + c. A carry-less product of two reflected numbers of 32
 * bits stands for one power of x more, and the instruction on 8 bytes multiplies by x^32; so the
 * factors are x^(16 size - 33) and x^(8 size - 33), modulo the polynomial.
 */
DIARIO_TARGET static inline uint32_t update_three(uint32_t crc, const uint8_t *bytes, size_t size,
                                                  uint32_t factor_a, uint32_t factor_b) {
    uint64_t a = crc, b = 0, c = 0;
    for (size_t offset = 0; offset < size; offset += 8) {
        a = _mm_crc32_u64(a, load_word(bytes + offset));
        b = _mm_crc32_u64(b, load_word(bytes + size + offset));
        c = _mm_crc32_u64(c, load_word(bytes + 2 * size + offset));
    }
    __m128i left = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)a),
                                        _mm_cvtsi64_si128((long long)factor_a), 0);
    __m128i right = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)b),
                                         _mm_cvtsi64_si128((long long)factor_b), 0);
    uint64_t sum = (uint64_t)_mm_cvtsi128_si64(_mm_xor_si128(left, right));
    return (uint32_t)(_mm_crc32_u64(0, sum) ^ c);
}

DIARIO_TARGET static uint32_t update_sse(uint32_t crc, const uint8_t *bytes, size_t count) {
    for (; count >= 3 * 2048; bytes += 3 * 2048, count -= 3 * 2048) {
        crc = update_three(crc, bytes, 2048, 0x82f89c77, 0xa51b6135);
    }
    for (; count >= 3 * 128; bytes += 3 * 128, count -= 3 * 128) {
        crc = update_three(crc, bytes, 128, 0xb9e02b86, 0x0d3b6092);
    }
    /* A frame of one event has a few hundred bytes. */
    for (; count >= 3 * 32; bytes += 3 * 32, count -= 3 * 32) {
        crc = update_three(crc, bytes, 32, 0x9e4addf8, 0xba4fc28e);
    }
    uint64_t wide = crc;
    for (; count >= 8; bytes += 8, count -= 8) wide = _mm_crc32_u64(wide, load_word(bytes));
    crc = (uint32_t)wide;
    for (; count > 0; bytes++, count--) crc = _mm_crc32_u8(crc, *bytes);
    return crc;
}

static int has_instructions(void) {
    unsigned int a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_2) && (c & bit_PCLMUL);
}

#define update_fast update_sse

/* --- ARMv8: known when compiling; every Apple processor has it. --- */

#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>

static uint32_t update_arm(uint32_t crc, const uint8_t *bytes, size_t count) {
    for (; count >= 8; bytes += 8, count -= 8) crc = __crc32cd(crc, load_word(bytes));
    for (; count > 0; bytes++, count--) crc = __crc32cb(crc, *bytes);
    return crc;
}

static int has_instructions(void) { return 1; }

#define update_fast update_arm

#else

static int has_instructions(void) { return 0; }

#define update_fast update_portable

#endif

static uint32_t update_first(uint32_t crc, const uint8_t *bytes, size_t count);

/* Chosen once, before `main`, so that a call costs no more than a jump. */
static uint32_t (*update)(uint32_t crc, const uint8_t *bytes, size_t count) = update_first;

__attribute__((constructor)) static void choose(void) {
    fill_tables();
    update = has_instructions() ? update_fast : update_portable;
}

/* For a caller that runs before `choose`: another constructor, in the same thread. */
static uint32_t update_first(uint32_t crc, const uint8_t *bytes, size_t count) {
    choose();
    return update(crc, bytes, count);
}

uint32_t diario_crc32c(uint32_t crc, const void *bytes, size_t count) {
    return ~update(~crc, bytes, count);
}

uint32_t diario_crc32c_portable(uint32_t crc, const void *bytes, size_t count) {
    return ~update_portable(~crc, bytes, count);
}
