"""rows.md, section 5: CRC32C, reflected, with an own table."""

REFLECTED_POLYNOMIAL = 0x82F63B78


def make_table():
    table = []
    for byte in range(256):
        remainder = byte
        for _ in range(8):
            low_bit = remainder & 1
            remainder >>= 1
            if low_bit:
                remainder ^= REFLECTED_POLYNOMIAL
        table.append(remainder)
    return table


TABLE = make_table()


def crc32c(*parts):
    """The checksum of the parts as if they stood one after the other."""
    remainder = 0xFFFFFFFF
    table = TABLE
    for part in parts:
        for byte in part:
            remainder = table[(remainder ^ byte) & 0xFF] ^ (remainder >> 8)
    return remainder ^ 0xFFFFFFFF
