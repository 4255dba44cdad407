/*
 * CRC-32C (Castagnoli), as in iSCSI (RFC 3720), ext4 and SSE 4.2.
 *
 * Polynomial 0x1edc6f41, bits reflected, start and end inverted. The CRC of "123456789" is
 * 0xe3069283.
 */
#ifndef DIARIO_CCHECKSUM_H
#define DIARIO_CCHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/*
 * The CRC of some bytes, when `crc` is that of the bytes before them (0 if there are none). Takes
 * the processor's own instructions where it has them.
 */
uint32_t diario_crc32c(uint32_t crc, const void *bytes, size_t count);

/* The same without special instructions; for processors that have none, and for tests. */
uint32_t diario_crc32c_portable(uint32_t crc, const void *bytes, size_t count);

#endif
