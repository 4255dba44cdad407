#!/usr/bin/env python3
"""Compares what a page has in place of OpenSSL with OpenSSL: the same calls, drawn messages.

    web_crypto.py [--count N]

Compiles Sources/DiarioWeb/C/crypto.c for this machine. Takes no program: what is compared is C.
"""

import ctypes
import ctypes.util
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GET_TAG, SET_TAG = 0x10, 0x11


class Library:
    """The calls of one of the two libraries."""

    def __init__(self, path):
        self.calls = ctypes.CDLL(str(path))
        for name in ("EVP_CIPHER_CTX_new", "EVP_aes_256_gcm"):
            getattr(self.calls, name).restype = ctypes.c_void_p

    def sha256(self, parts):
        context = ctypes.create_string_buffer(256)
        self.calls.SHA256_Init(context)
        for part in parts:
            self.calls.SHA256_Update(context, part, ctypes.c_size_t(len(part)))
        digest = ctypes.create_string_buffer(32)
        self.calls.SHA256_Final(digest, context)
        return digest.raw

    def cipher(self, key):
        return Cipher(self.calls, key)


class Cipher:
    """AES-256-GCM under one key, called as DiarioCrypto does."""

    def __init__(self, calls, key):
        self.calls = calls
        self.context = ctypes.c_void_p(calls.EVP_CIPHER_CTX_new())
        kind = ctypes.c_void_p(calls.EVP_aes_256_gcm())
        assert calls.EVP_CipherInit_ex(self.context, kind, None, key, None, 1) == 1

    def run(self, nonce, header, text, tag=None):
        """The other text and the tag, or whether the tag that is given is right."""
        calls, context = self.calls, self.context
        assert calls.EVP_CipherInit_ex(context, None, None, None, nonce, int(tag is None)) == 1
        size = ctypes.c_int()
        if header:
            assert calls.EVP_CipherUpdate(context, None, ctypes.byref(size), header,
                                          len(header)) == 1
        out = ctypes.create_string_buffer(len(text) + 16)
        if text:
            assert calls.EVP_CipherUpdate(context, out, ctypes.byref(size), text, len(text)) == 1
        if tag is not None:
            assert calls.EVP_CIPHER_CTX_ctrl(context, SET_TAG, 16, tag) == 1
        isright = calls.EVP_CipherFinal_ex(context, out, ctypes.byref(size)) == 1
        made = ctypes.create_string_buffer(16)
        if tag is None:
            assert calls.EVP_CIPHER_CTX_ctrl(context, GET_TAG, 16, made) == 1
        return out.raw[:len(text)], made.raw, isright

    def close(self):
        self.calls.EVP_CIPHER_CTX_free(self.context)


def compare(ours, theirs, chance, count):
    for _ in range(count):
        parts = [chance.randbytes(chance.choice((0, 1, 55, 56, 63, 64, 65, chance.randrange(300))))
                 for _ in range(chance.randrange(1, 5))]
        assert ours.sha256(parts) == theirs.sha256(parts), [part.hex() for part in parts]
    for _ in range(count):
        key = chance.randbytes(32)
        ciphers = ours.cipher(key), theirs.cipher(key)
        for _ in range(3):
            nonce = chance.randbytes(12)
            header = chance.randbytes(chance.choice((0, 1, 15, 16, 17, chance.randrange(100))))
            text = chance.randbytes(chance.choice((0, 1, 15, 16, 17, 64, chance.randrange(200))))
            told = key.hex(), nonce.hex(), header.hex(), text.hex()
            sealed, other = (cipher.run(nonce, header, text) for cipher in ciphers)
            assert sealed == other, told
            hidden, tag, _ = sealed
            spoilt = bytearray(tag)
            spoilt[chance.randrange(16)] ^= 1 << chance.randrange(8)
            for cipher in ciphers:
                plain, _, isright = cipher.run(nonce, header, hidden, tag)
                assert isright and plain == text, told
                assert not cipher.run(nonce, header, hidden, bytes(spoilt))[2], told
        for cipher in ciphers:
            cipher.close()


def main():
    count = int(sys.argv[2]) if sys.argv[1:2] == ["--count"] else 300
    with tempfile.TemporaryDirectory() as folder:
        library = pathlib.Path(folder, "libweb.so")
        compiler = shutil.which("cc") or "clang"
        subprocess.run(
            [compiler, "-O2", "-shared", "-fPIC", "-w", "-o", library,
             ROOT / "Sources/DiarioWeb/C/crypto.c"],
            check=True)
        theirs = Library(ctypes.util.find_library("crypto"))
        compare(Library(library), theirs, random.Random(1), count)
    print(f"web_crypto.py: {count} hashes and {3 * count} messages as OpenSSL makes them")


if __name__ == "__main__":
    main()
