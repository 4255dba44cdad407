#include "CBaseline.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

double baseline_hash(const uint32_t *sizes, size_t count) {
    size_t room = (size_t)1 << 18;
    for (size_t index = 0; index < count; index++)
        if (sizes[index] > room) room = sizes[index];
    uint8_t *bytes = malloc(room);
    EVP_MD *digest = EVP_MD_fetch(NULL, "SHA256", NULL);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    double result = -EINVAL;
    if (bytes != NULL && digest != NULL && context != NULL) {
        memset(bytes, 0xa5, room);
        unsigned char hash[32];
        size_t offset = 0;
        int64_t start = baseline_process_nanoseconds();
        int is_done = 1;
        for (size_t index = 0; index < count && is_done; index++) {
            if (sizes[index] > room - offset) offset = 0;
            is_done = EVP_DigestInit_ex2(context, digest, NULL) &&
                      EVP_DigestUpdate(context, bytes + offset, sizes[index]) &&
                      EVP_DigestFinal_ex(context, hash, NULL);
            /* So that no hash can be left out. */
            bytes[offset] = hash[0];
            offset += sizes[index];
        }
        if (is_done) result = (double)(baseline_process_nanoseconds() - start) / 1e9;
    }
    EVP_MD_CTX_free(context);
    EVP_MD_free(digest);
    free(bytes);
    return result;
}
