#ifndef DIARIO_COPENSSL_SHIM_H
#define DIARIO_COPENSSL_SHIM_H

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * SHA-256 by the functions that OpenSSL 3 calls deprecated, since a message of 150 bytes takes
 * 126 ns by them, 156 ns by a prefetched EVP_MD and a reused context, 188 ns by EVP_Digest (AMD
 * Zen 4, OpenSSL 3.0.22, November 2026). They are in every 3.x library, use the same code inside,
 * need no memory and cannot fail. Should they go, this is all that has to change.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static inline void diario_sha256_start(SHA256_CTX *context) { (void)SHA256_Init(context); }

static inline void diario_sha256_update(SHA256_CTX *context, const void *bytes, size_t count) {
    (void)SHA256_Update(context, bytes, count);
}

/* Writes 32 bytes. */
static inline void diario_sha256_finish(SHA256_CTX *context, void *digest) {
    (void)SHA256_Final((unsigned char *)digest, context);
}

/*
 * The hash of a byte (none if `prefix` is negative) and two parts, in one call, since a context
 * that Swift owns is cleared twice.
 */
static inline void diario_sha256_message(int32_t prefix, const void *first, size_t first_count,
                                         const void *second, size_t second_count, void *digest) {
    SHA256_CTX context;
    diario_sha256_start(&context);
    if (prefix >= 0) {
        uint8_t byte = (uint8_t)prefix;
        diario_sha256_update(&context, &byte, 1);
    }
    diario_sha256_update(&context, first, first_count);
    if (second_count > 0) diario_sha256_update(&context, second, second_count);
    diario_sha256_finish(&context, digest);
}

/* Bytes that must follow a message which is padded in its place. */
#define DIARIO_SHA256_PADDING 72

/*
 * The hash of a message, in whole blocks that go through no buffer of the library: FIPS 180-4,
 * 5.1.1 pads it here, in the bytes behind it. A message of 41 bytes takes 46 ns instead of the 54
 * of diario_sha256_message, one of 150 takes 117 instead of 127 (clang 21, AMD Zen 4), and one of
 * several parts no call for each. The context holds nothing but the hash, so it is not cleared.
 */
static inline void diario_sha256_padded(uint8_t *message, size_t size, void *digest) {
    static const uint32_t start[8] = {0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
                                      0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};
    size_t end = (size + 9 + 63) / 64 * 64;
    uint64_t bits = (uint64_t)size << 3;
    message[size] = 0x80;
    memset(message + size + 1, 0, end - size - 9);
    for (int place = 1; place <= 8; place++) {
        message[end - place] = (uint8_t)bits;
        bits >>= 8;
    }
    SHA256_CTX context;
    memcpy(context.h, start, sizeof start);
    context.Nl = 0;
    context.Nh = 0;
    context.num = 0;
    context.md_len = SHA256_DIGEST_LENGTH;
    diario_sha256_update(&context, message, end);
    uint8_t *target = (uint8_t *)digest;
    for (int word = 0; word < 8; word++) {
        uint32_t value = context.h[word];
        *target++ = (uint8_t)(value >> 24);
        *target++ = (uint8_t)(value >> 16);
        *target++ = (uint8_t)(value >> 8);
        *target++ = (uint8_t)value;
    }
}

/* The hash of a byte and two hashes. */
static inline void diario_sha256_node(uint8_t prefix, const void *left, const void *right,
                                      void *digest) {
    uint8_t message[65 + DIARIO_SHA256_PADDING];
    message[0] = prefix;
    memcpy(message + 1, left, 32);
    memcpy(message + 33, right, 32);
    diario_sha256_padded(message, 65, digest);
}

#pragma GCC diagnostic pop

#endif
