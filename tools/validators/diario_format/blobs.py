"""blobs.md: how the bytes of a blob are stored, written and read a second time.

AES-256-GCM itself is left to `libcrypto`.
"""

import ctypes
import ctypes.util
import hashlib

from .primitives import FormatError

MAGIC = b"dblb"
HEADER = MAGIC + bytes([1, 0, 0, 0])
CHUNK_SIZE = 65_536
TAG_SIZE = 16
KEY_SIZE = 32
BLOB_SIZE_MAX = 1 << 30
GET_TAG, SET_TAG = 0x10, 0x11


class BlobFault(FormatError):
    """Why a blob does not read: `kind` in the words of the vectors, and the chunk if one is bad."""

    def __init__(self, kind, chunk=None):
        super().__init__(kind if chunk is None else f"{kind} {chunk}")


def chunk_count(plain_size):
    return max(1, -(-plain_size // CHUNK_SIZE))


def stored_size(plain_size):
    return len(HEADER) + plain_size + TAG_SIZE * chunk_count(plain_size)


def plain_size(size):
    """P of S; the second step of section 5."""
    body = size - len(HEADER)
    count = max(1, -(-body // (CHUNK_SIZE + TAG_SIZE)))
    last = body - (count - 1) * (CHUNK_SIZE + TAG_SIZE)
    if last < TAG_SIZE or (count > 1 and last == TAG_SIZE):
        raise BlobFault("cut")
    if body - TAG_SIZE * count > BLOB_SIZE_MAX:
        raise BlobFault("too large")
    return body - TAG_SIZE * count


def nonce(index, is_last):
    return index.to_bytes(8, "little") + bytes([is_last, 0, 0, 0])


def library():
    name = ctypes.util.find_library("crypto")
    if name is None:
        raise FormatError("there is no libcrypto on this machine")
    crypto = ctypes.CDLL(name)
    crypto.EVP_CIPHER_CTX_new.restype = ctypes.c_void_p
    crypto.EVP_aes_256_gcm.restype = ctypes.c_void_p
    return crypto


def gcm(key, index, is_last, data, tag=None):
    """Encrypts a chunk and gives it with its tag; with a tag, decrypts it, or gives None."""
    crypto, encrypts = library(), tag is None
    context = ctypes.c_void_p(crypto.EVP_CIPHER_CTX_new())
    length = ctypes.c_int()
    output = ctypes.create_string_buffer(len(data) + TAG_SIZE)
    try:
        crypto.EVP_CipherInit_ex(
            context, ctypes.c_void_p(crypto.EVP_aes_256_gcm()), None, key,
            nonce(index, is_last), int(encrypts))
        crypto.EVP_CipherUpdate(context, None, ctypes.byref(length), HEADER, len(HEADER))
        if data:
            crypto.EVP_CipherUpdate(context, output, ctypes.byref(length), data, len(data))
        if not encrypts:
            crypto.EVP_CIPHER_CTX_ctrl(context, SET_TAG, TAG_SIZE, tag)
        rest = ctypes.create_string_buffer(TAG_SIZE)
        if crypto.EVP_CipherFinal_ex(context, rest, ctypes.byref(length)) != 1:
            return None
        result = output.raw[:len(data)]
        if encrypts:
            crypto.EVP_CIPHER_CTX_ctrl(context, GET_TAG, TAG_SIZE, rest)
            result += rest.raw
        return result
    finally:
        crypto.EVP_CIPHER_CTX_free(context)


def write(plain, key):
    """The stored bytes; of a public blob, which has no key, they are the plain ones."""
    if key is None:
        return plain
    count = chunk_count(len(plain))
    return HEADER + b"".join(
        gcm(key, index, index == count - 1, plain[index * CHUNK_SIZE : (index + 1) * CHUNK_SIZE])
        for index in range(count)
    )


def read(stored, key, size=None, chunks=None):
    """The plain bytes of a private blob, or of some of its chunks."""
    if key is None:
        raise BlobFault("erased")
    plain = plain_size(len(stored))
    if stored[:4] != MAGIC:
        raise BlobFault("no blob")
    if stored[4] != 1:
        raise BlobFault("newer")
    if stored[5:8] != bytes(3):
        raise BlobFault("damaged")
    if size is not None and size != plain:
        raise BlobFault("cut")
    count = chunk_count(plain)
    return b"".join(read_chunk(stored, key, index, count)
                    for index in (range(count) if chunks is None else chunks))


def read_chunk(stored, key, index, count):
    start = len(HEADER) + index * (CHUNK_SIZE + TAG_SIZE)
    chunk = stored[start : start + CHUNK_SIZE + TAG_SIZE]
    plain = gcm(key, index, index == count - 1, chunk[:-TAG_SIZE], chunk[-TAG_SIZE:])
    if plain is None:
        raise BlobFault("chunk", index)
    return plain


def sample(size):
    """The plain bytes of the vectors that do not write theirs out."""
    return bytes((7 * index + index // 256) % 256 for index in range(size))


def edited(stored, steps):
    """Stored bytes as a case of the vectors changes them."""
    stored = bytearray(stored)
    for step in steps:
        if "cut" in step:
            del stored[step["cut"]:]
        if "append" in step:
            stored += bytes.fromhex(step["append"])
        if "flip" in step:
            stored[step["flip"]] ^= 1
        if "swap" in step:
            first, second = ((len(HEADER) + index * (CHUNK_SIZE + TAG_SIZE),
                              len(HEADER) + (index + 1) * (CHUNK_SIZE + TAG_SIZE))
                             for index in step["swap"])
            stored[slice(*first)], stored[slice(*second)] = (
                stored[slice(*second)], stored[slice(*first)])
    return bytes(stored)


def compare_blobs(compare, vectors):
    for case in vectors["sizes"]:
        compare.equal(f"S of {case['plain']}", stored_size(case["plain"]), case["stored"])
        compare.equal(f"P of {case['stored']}", plain_size(case["stored"]), case["plain"])
    for size in vectors["noSizes"]:
        compare.refused(f"P of {size}", lambda size=size: plain_size(size))
    for case in vectors["blobs"]:
        where = case["shows"]
        plain = bytes.fromhex(case["plain"]) if "plain" in case else sample(case["size"])
        key = bytes.fromhex(case["key"]) if "key" in case else None
        stored = write(plain, key)
        compare.equal(f"id of {where}", hashlib.sha256(stored).hexdigest(), case["id"])
        compare.equal(f"size of {where}", len(stored), case["storedSize"])
        if "stored" in case:
            compare.equal(f"bytes of {where}", stored.hex(), case["stored"])
        if key is not None:
            compare.equal(f"plain bytes of {where}", read(stored, key), plain)
    for case in vectors["faults"]:
        key = bytes.fromhex(case["key"]) if "key" in case else None
        stored = edited(write(sample(case["size"]), bytes.fromhex(case["writtenWith"])),
                        case["steps"])
        compare.equal(case["shows"], fault(stored, key, case.get("expectedSize")), case["fault"])


def fault(stored, key, size):
    try:
        read(stored, key, size)
    except BlobFault as error:
        return str(error)
    return None
