/*
 * What the engine takes of OpenSSL, under its names, for pages: SHA-256 (FIPS 180-4) and
 * AES-256-GCM (FIPS 197, SP 800-38D). Blobs are encrypted by the browser; this is for values of
 * some hundred bytes.
 *
 * No table is looked up by a secret byte and nothing branches on one: the inverses of AES are
 * computed, eight bytes in a word. That takes microseconds for a block, and tells a clock nothing.
 */
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- SHA-256 ---- */

static const uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t right(uint32_t word, int count) { return word >> count | word << (32 - count); }

/* A round; who calls it turns the names, so that nothing is moved. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                           \
    do {                                                                                           \
        uint32_t one = h + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) + (g ^ (e & (f ^ g))) +     \
                       rounds[start + i] + w[i];                                                   \
        d += one;                                                                                  \
        h = one + (right(a, 2) ^ right(a, 13) ^ right(a, 22)) + ((a & b) | (c & (a | b)));         \
    } while (0)

#define EIGHT_ROUNDS(i)                                                                            \
    do {                                                                                           \
        ROUND(a, b, c, d, e, f, g, h, i);                                                          \
        ROUND(h, a, b, c, d, e, f, g, i + 1);                                                      \
        ROUND(g, h, a, b, c, d, e, f, i + 2);                                                      \
        ROUND(f, g, h, a, b, c, d, e, i + 3);                                                      \
        ROUND(e, f, g, h, a, b, c, d, i + 4);                                                      \
        ROUND(d, e, f, g, h, a, b, c, i + 5);                                                      \
        ROUND(c, d, e, f, g, h, a, b, i + 6);                                                      \
        ROUND(b, c, d, e, f, g, h, a, i + 7);                                                      \
    } while (0)

static void compress(uint32_t state[8], const uint8_t *block) {
    uint32_t w[16];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int start = 0;; start += 16) {
        EIGHT_ROUNDS(0);
        EIGHT_ROUNDS(8);
        if (start == 48) break;
        /* The next 16 words, in place of those that these follow from. */
#pragma clang loop unroll(full)
        for (int i = 0; i < 16; i++) {
            uint32_t next = w[(i + 1) % 16], last = w[(i + 14) % 16];
            w[i] += (right(next, 7) ^ right(next, 18) ^ next >> 3) + w[(i + 9) % 16] +
                    (right(last, 17) ^ right(last, 19) ^ last >> 10);
        }
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

int SHA256_Init(SHA256_CTX *context) {
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memset(context, 0, sizeof *context);
    for (int i = 0; i < 8; i++) context->h[i] = start[i];
    context->md_len = SHA256_DIGEST_LENGTH;
    return 1;
}

int SHA256_Update(SHA256_CTX *context, const void *bytes, size_t count) {
    const uint8_t *source = bytes;
    uint8_t *kept = (uint8_t *)context->data;
    uint64_t bits = ((uint64_t)context->Nh << 32 | context->Nl) + ((uint64_t)count << 3);
    context->Nl = (uint32_t)bits;
    context->Nh = (uint32_t)(bits >> 32);
    if (context->num > 0) {
        size_t part = 64 - context->num < count ? 64 - context->num : count;
        memcpy(kept + context->num, source, part);
        context->num += (unsigned)part;
        source += part;
        count -= part;
        if (context->num < 64) return 1;
        compress(context->h, kept);
        context->num = 0;
    }
    for (; count >= 64; source += 64, count -= 64) compress(context->h, source);
    if (count > 0) memcpy(kept, source, count);
    context->num = (unsigned)count;
    return 1;
}

int SHA256_Final(unsigned char *digest, SHA256_CTX *context) {
    uint8_t *kept = (uint8_t *)context->data;
    uint64_t bits = (uint64_t)context->Nh << 32 | context->Nl;
    kept[context->num++] = 0x80;
    if (context->num > 56) {
        memset(kept + context->num, 0, 64 - context->num);
        compress(context->h, kept);
        context->num = 0;
    }
    memset(kept + context->num, 0, 56 - context->num);
    for (int i = 0; i < 8; i++) kept[56 + i] = (uint8_t)(bits >> (56 - 8 * i));
    compress(context->h, kept);
    for (int i = 0; i < 32; i++) digest[i] = (uint8_t)(context->h[i / 4] >> (24 - 8 * (i % 4)));
    return 1;
}

/* ---- AES-256 ---- */

enum { words = 60 };
static const uint64_t ones = 0x0101010101010101;

/* In each of eight bytes the product with x, modulo the polynomial of AES. */
static uint64_t doubled(uint64_t a) {
    return (a & 0x7f * ones) << 1 ^ (a >> 7 & ones) * 0x1b;
}

/* In each of eight bytes the product. */
static uint64_t product(uint64_t a, uint64_t b) {
    uint64_t sum = 0;
    for (int bit = 0; bit < 8; bit++) {
        sum ^= a & (b >> bit & ones) * 0xff;
        a = doubled(a);
    }
    return sum;
}

/* In each of eight bytes the bits turned left. */
static uint64_t turned(uint64_t a, int count) {
    uint64_t low = (ones << count) - ones;
    return (a & ~(low << (8 - count))) << count | (a >> (8 - count) & low);
}

/* SubBytes: the inverse, which is the power 254, and the affine map. */
static uint64_t substituted(uint64_t a) {
    uint64_t a2 = product(a, a), a3 = product(a2, a), a6 = product(a3, a3);
    uint64_t a12 = product(a6, a6), a15 = product(a12, a3), power = a15;
    for (int i = 0; i < 4; i++) power = product(power, power);
    uint64_t inverse = product(product(power, a12), a2);
    return inverse ^ turned(inverse, 1) ^ turned(inverse, 2) ^ turned(inverse, 3) ^
           turned(inverse, 4) ^ 0x63 * ones;
}

static void substitute(uint32_t state[4]) {
    for (int i = 0; i < 4; i += 2) {
        uint64_t both = substituted((uint64_t)state[i + 1] << 32 | state[i]);
        state[i] = (uint32_t)both;
        state[i + 1] = (uint32_t)(both >> 32);
    }
}

/* Words have their first byte lowest. */
static uint32_t word(const uint8_t *bytes) {
    return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
}

static void expand(uint32_t keys[words], const uint8_t key[32]) {
    for (int i = 0; i < 8; i++) keys[i] = word(key + 4 * i);
    uint32_t constant = 1;
    for (int i = 8; i < words; i++) {
        uint32_t last = keys[i - 1];
        if (i % 8 == 0) last = right(last, 8);
        if (i % 4 == 0) last = (uint32_t)substituted(last);
        if (i % 8 == 0) {
            last ^= constant;
            constant <<= 1;
        }
        keys[i] = keys[i - 8] ^ last;
    }
}

static void encrypt(const uint32_t keys[words], const uint8_t in[16], uint8_t out[16]) {
    uint32_t state[4];
    for (int i = 0; i < 4; i++) state[i] = word(in + 4 * i) ^ keys[i];
    for (int round = 1; round <= 14; round++) {
        substitute(state);
        uint32_t rows[4];
        for (int i = 0; i < 4; i++)
            rows[i] = (state[i] & 0xff) | (state[(i + 1) % 4] & 0xff00) |
                      (state[(i + 2) % 4] & 0xff0000) | (state[(i + 3) % 4] & 0xff000000);
        for (int i = 0; i < 4; i++) {
            uint32_t a = rows[i];
            if (round < 14) {
                uint32_t b = right(a, 8);
                a = (uint32_t)doubled(a ^ b) ^ b ^ right(a, 16) ^ right(a, 24);
            }
            state[i] = a ^ keys[4 * round + i];
        }
    }
    for (int i = 0; i < 16; i++) out[i] = (uint8_t)(state[i / 4] >> (8 * (i % 4)));
}

/* ---- GCM ---- */

/* A block as a polynomial: the first bit of the first byte is the coefficient of 1. */
struct element {
    uint64_t high, low;
};

struct evp_cipher_ctx_st {
    uint32_t keys[words];
    struct element hash_key, sum;
    uint8_t counter[16], stream[16], first[16], part[16], tag[16];
    uint64_t header_size, text_size;
    int part_size, is_encrypting;
};

struct evp_cipher_st {
    int nothing;
};

static struct element element(const uint8_t *bytes) {
    struct element e = {0, 0};
    for (int i = 0; i < 8; i++) {
        e.high = e.high << 8 | bytes[i];
        e.low = e.low << 8 | bytes[i + 8];
    }
    return e;
}

static struct element times(struct element a, struct element b) {
    struct element sum = {0, 0};
    for (int bit = 127; bit >= 0; bit--) {
        uint64_t taken = -((bit >= 64 ? a.high >> (bit - 64) : a.low >> bit) & 1);
        sum.high ^= b.high & taken;
        sum.low ^= b.low & taken;
        uint64_t carry = -(b.low & 1);
        b.low = b.low >> 1 | b.high << 63;
        b.high = b.high >> 1 ^ (carry & 0xe100000000000000);
    }
    return sum;
}

static void take_block(EVP_CIPHER_CTX *c, const uint8_t *block) {
    struct element e = element(block);
    c->sum.high ^= e.high;
    c->sum.low ^= e.low;
    c->sum = times(c->sum, c->hash_key);
}

/* The part of a block that is there, with zeroes behind it. */
static void take_part(EVP_CIPHER_CTX *c) {
    if (c->part_size == 0) return;
    memset(c->part + c->part_size, 0, (size_t)(16 - c->part_size));
    take_block(c, c->part);
    c->part_size = 0;
}

static void take_byte(EVP_CIPHER_CTX *c, uint8_t byte) {
    c->part[c->part_size++] = byte;
    if (c->part_size == 16) take_part(c);
}

static void next_stream(EVP_CIPHER_CTX *c) {
    for (int i = 15; i >= 12; i--)
        if (++c->counter[i] != 0) break;
    encrypt(c->keys, c->counter, c->stream);
}

EVP_CIPHER_CTX *EVP_CIPHER_CTX_new(void) { return calloc(1, sizeof(EVP_CIPHER_CTX)); }

void EVP_CIPHER_CTX_free(EVP_CIPHER_CTX *context) {
    /* Through a volatile pointer: else the compiler leaves it out, as nobody reads it again. */
    volatile uint8_t *bytes = (volatile uint8_t *)context;
    for (size_t i = 0; context != NULL && i < sizeof *context; i++) bytes[i] = 0;
    free(context);
}

const EVP_CIPHER *EVP_aes_256_gcm(void) {
    static const struct evp_cipher_st only;
    return &only;
}

int EVP_CipherInit_ex(EVP_CIPHER_CTX *c, const EVP_CIPHER *cipher, ENGINE *engine,
                      const unsigned char *key, const unsigned char *nonce, int is_encrypting) {
    (void)cipher;
    (void)engine;
    c->is_encrypting = is_encrypting;
    if (key != NULL) {
        uint8_t zero[16] = {0}, block[16];
        expand(c->keys, key);
        encrypt(c->keys, zero, block);
        c->hash_key = element(block);
    }
    if (nonce != NULL) {
        memcpy(c->counter, nonce, 12);
        memset(c->counter + 12, 0, 4);
        c->counter[15] = 1;
        encrypt(c->keys, c->counter, c->first);
        c->sum = (struct element){0, 0};
        c->header_size = c->text_size = 0;
        c->part_size = 0;
    }
    return 1;
}

int EVP_CipherUpdate(EVP_CIPHER_CTX *c, unsigned char *out, int *out_size, const unsigned char *in,
                     int size) {
    if (out == NULL) {
        for (int i = 0; i < size; i++) take_byte(c, in[i]);
        c->header_size += (uint64_t)size;
    } else {
        if (c->text_size == 0) take_part(c);
        for (int i = 0; i < size; i++) {
            if (c->text_size++ % 16 == 0) next_stream(c);
            uint8_t byte = in[i];
            out[i] = byte ^ c->stream[(c->text_size - 1) % 16];
            take_byte(c, c->is_encrypting ? out[i] : byte);
        }
    }
    *out_size = size;
    return 1;
}

int EVP_CipherFinal_ex(EVP_CIPHER_CTX *c, unsigned char *out, int *size) {
    (void)out;
    *size = 0;
    take_part(c);
    uint8_t sizes[16], tag[16], difference = 0;
    for (int i = 0; i < 8; i++) {
        sizes[i] = (uint8_t)(c->header_size << 3 >> (56 - 8 * i));
        sizes[i + 8] = (uint8_t)(c->text_size << 3 >> (56 - 8 * i));
    }
    take_block(c, sizes);
    for (int i = 0; i < 16; i++) {
        uint64_t half = i < 8 ? c->sum.high : c->sum.low;
        tag[i] = (uint8_t)(half >> (56 - 8 * (i % 8))) ^ c->first[i];
        difference |= tag[i] ^ c->tag[i];
    }
    if (!c->is_encrypting) return difference == 0;
    memcpy(c->tag, tag, 16);
    return 1;
}

int EVP_CIPHER_CTX_ctrl(EVP_CIPHER_CTX *c, int command, int size, void *tag) {
    if (size != 16) return 0;
    if (command == EVP_CTRL_AEAD_GET_TAG) memcpy(tag, c->tag, 16);
    if (command == EVP_CTRL_AEAD_SET_TAG) memcpy(c->tag, tag, 16);
    return command == EVP_CTRL_AEAD_GET_TAG || command == EVP_CTRL_AEAD_SET_TAG;
}

/* ---- The rest ---- */

int CRYPTO_memcmp(const void *left, const void *right, size_t count) {
    const volatile uint8_t *a = left, *b = right;
    uint8_t difference = 0;
    for (size_t i = 0; i < count; i++) difference |= a[i] ^ b[i];
    return difference;
}

const char *OpenSSL_version(int kind) {
    (void)kind;
    return "the page's own";
}
