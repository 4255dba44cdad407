"""blocks.md: the body of a compressed block is one zstd frame that states its content size.

The decompression itself is left to a library: the module of Python 3.14, `libzstd`, or the
program `zstd`, whichever is there.
"""

import ctypes
import ctypes.util
import shutil
import subprocess

from .primitives import FormatError

MAGIC = b"\x28\xb5\x2f\xfd"


class Unavailable(Exception):
    """There is nothing on this machine that can decompress zstd."""


def content_size(frame):
    """The size that the frame header states, or None if it states none."""
    if frame[:4] != MAGIC or len(frame) < 6:
        raise FormatError("a body that is not a zstd frame")
    descriptor = frame[4]
    single_segment = descriptor >> 5 & 1
    size_of_size = (1 if single_segment else 0, 2, 4, 8)[descriptor >> 6]
    if size_of_size == 0:
        return None
    start = 5 + (0 if single_segment else 1) + (0, 1, 2, 4)[descriptor & 3]
    size = int.from_bytes(frame[start : start + size_of_size], "little")
    return size + 256 if size_of_size == 2 else size


def frame_length(frame):
    """The end of the frame, found by stepping over its blocks."""
    descriptor = frame[4]
    single_segment = descriptor >> 5 & 1
    at = 5 + (0 if single_segment else 1) + (0, 1, 2, 4)[descriptor & 3]
    at += (1 if single_segment else 0, 2, 4, 8)[descriptor >> 6]
    last = False
    while not last:
        if at + 3 > len(frame):
            raise FormatError("a zstd frame that is cut")
        header = int.from_bytes(frame[at : at + 3], "little")
        last, kind, size = header & 1, header >> 1 & 3, header >> 3
        at += 3 + (1 if kind == 1 else size)
    return at + (4 if descriptor & 4 else 0)


def decompress(frame, size):
    """Exactly `size` bytes from exactly one frame."""
    if content_size(frame) != size:
        raise FormatError("a zstd frame that does not state the size of the block's header")
    if frame_length(frame) != len(frame):
        raise FormatError("a body that is not exactly one zstd frame")
    data = decompress_with_library(frame, size)
    if data is None:
        data = decompress_with_program(frame)
    if len(data) != size:
        raise FormatError(f"{len(data)} bytes decompressed, {size} stated")
    return data


def decompress_with_library(frame, size):
    name = ctypes.util.find_library("zstd")
    if name is None:
        return None
    library = ctypes.CDLL(name)
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_isError.argtypes = [ctypes.c_size_t]
    buffer = ctypes.create_string_buffer(max(size, 1))
    result = library.ZSTD_decompress(
        buffer, ctypes.c_size_t(size), frame, ctypes.c_size_t(len(frame))
    )
    if library.ZSTD_isError(result):
        raise FormatError("a zstd frame that does not decompress")
    return buffer.raw[:result]


def decompress_with_program(frame):
    if shutil.which("zstd") is None:
        raise Unavailable("neither libzstd nor the program zstd is here")
    done = subprocess.run(["zstd", "-dcq"], input=frame, capture_output=True, check=False)
    if done.returncode != 0:
        raise FormatError("a zstd frame that does not decompress")
    return done.stdout
