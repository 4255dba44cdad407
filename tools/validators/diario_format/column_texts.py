"""Texts and other byte strings in columns (schema/format/segments.md, section 7)."""

from .columns import NOTHING, BlockReader
from .primitives import SEQUENCE_MAX, origin_text

(FORM_BYTES, FORM_PATTERN, FORM_ORIGINS, FORM_FIXED, FORM_PARTS, FORM_HEADED,
 FORM_PIECES) = range(1, 8)
FORMS_OF_PARTS = (FORM_BYTES, FORM_PATTERN, FORM_ORIGINS, FORM_FIXED, FORM_PIECES)
TEXTS_PLAIN, TEXTS_DICTIONARY, TEXTS_POOL, TEXTS_MIXED, TEXTS_SHARED = range(1, 6)
HEAD_SIZE = 3
SEPARATOR_SIZE_MAX = 4
PARTS_MAX = 4
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
ALPHABETS = {
    1: b"0123456789abcdef",
    2: b"0123456789ABCDEF",
    3: CROCKFORD.encode("ascii"),
    4: CROCKFORD.lower().encode("ascii"),
    5: (LETTERS + LETTERS.lower() + "0123456789-_").encode("ascii"),
}
DIGIT_BITS_MAX = 6
LITERAL_MIN = 32


class Pattern:
    """A pattern of texts: what stands for itself, and digits of an alphabet."""

    def __init__(self, reader):
        size = reader.fixed_size()
        self.alphabet = ALPHABETS[reader.choice("an alphabet", ALPHABETS)]
        self.bytes = reader.raw(size)
        if any(DIGIT_BITS_MAX < byte < LITERAL_MIN or byte == 0 for byte in self.bytes):
            raise reader.error("a pattern with another byte")
        self.bit_count = sum(byte for byte in self.bytes if byte < LITERAL_MIN)
        self.plane_count = (self.bit_count + 7) // 8

    def __eq__(self, other):
        return (self.alphabet, self.bytes) == (other.alphabet, other.bytes)

    def texts(self, reader, count, planes):
        packed = zip(*planes) if planes else [()] * count
        return [self.filled(reader, bytes(parts)) for parts in packed]

    def filled(self, reader, packed):
        left = 8 * len(packed)
        number = int.from_bytes(packed, "big")
        if number & ((1 << (left - self.bit_count)) - 1):
            raise reader.error("unused bits that are not zero")
        text = bytearray()
        for byte in self.bytes:
            if byte < LITERAL_MIN:
                left -= byte
                digit = number >> left & ((1 << byte) - 1)
                if digit >= len(self.alphabet):
                    raise reader.error(f"digit {digit}, which the alphabet does not have")
                byte = self.alphabet[digit]
            text.append(byte)
        return bytes(text)


class Heads:
    """The first bytes of texts that follow a pattern, from a block of their own."""

    def __init__(self, reader, count):
        self.count = count
        self.pattern = Pattern(reader)
        if self.pattern.plane_count < HEAD_SIZE:
            raise reader.error("a pattern that is shorter than heads")
        self.planes = [reader.stream(count) for _ in range(HEAD_SIZE)]


class TextReader(BlockReader):
    """A block reader that knows what texts refer to: replicas, pools, shared blocks, heads."""

    def __init__(self, data, expanded_size, replicas=()):
        super().__init__(data, expanded_size)
        self.replicas = replicas
        self.pools = {}
        # Words and the indices of the rows at hand; only for fields that are strings.
        self.shared = {}
        self.allows_shared = False
        # Only while the subject field is read; what was made of them is kept beside.
        self.heads = None
        self.headed_texts = None

    # Strings

    def strings(self, count):
        if count == 0:
            return []
        form = self.choice("a form of strings", range(FORM_BYTES, FORM_PIECES + 1))
        return self.parts(count) if form == FORM_PARTS else self.strings_by(form, count)

    def strings_by(self, form, count):
        return {
            FORM_BYTES: self.plain_strings,
            FORM_PATTERN: self.pattern,
            FORM_ORIGINS: self.origins,
            FORM_FIXED: self.fixed_strings,
            FORM_HEADED: self.headed,
            FORM_PIECES: self.pieces,
        }[form](count)

    def plain_strings(self, count):
        sizes = self.checked(self.simple(count), self.expanded_size + 1, "a size")
        data = self.stream(sum(sizes))
        strings, start = [], 0
        for size in sizes:
            strings.append(data[start : start + size])
            start += size
        return strings

    def fixed_size(self):
        size = self.varint()
        if not 1 <= size <= 255:
            raise self.error(f"texts of {size} bytes")
        return size

    def fixed_strings(self, count):
        planes = [self.stream(count) for _ in range(self.fixed_size())]
        return [bytes(parts) for parts in zip(*planes)]

    def pattern(self, count):
        pattern = Pattern(self)
        return pattern.texts(self, count, [self.stream(count) for _ in range(pattern.plane_count)])

    def headed(self, count):
        pattern = Pattern(self)
        if self.heads is None or self.headed_texts is not None:
            raise self.error("heads that are not there, or used twice")
        if self.heads.pattern != pattern or self.heads.count != count:
            raise self.error("heads of other texts")
        planes = [self.stream(count) for _ in range(pattern.plane_count - HEAD_SIZE)]
        self.headed_texts = pattern.texts(self, count, self.heads.planes + planes)
        return self.headed_texts

    def pieces(self, count):
        separator = self.bytes()
        if not 1 <= len(separator) <= SEPARATOR_SIZE_MAX:
            raise self.error(f"a separator of {len(separator)} bytes")
        numbers = [number + 1 for number in
                   self.checked(self.simple(count), self.expanded_size, "a number of separators")]
        total = sum(numbers)
        piece_count = self.count_within(total)
        self.choice("a form of pieces", (FORM_BYTES,))
        pieces = self.plain_strings(piece_count)
        if len(set(pieces)) != len(pieces):
            raise self.error("pieces that are not distinct")
        indices = iter(self.checked(self.simple(total), len(pieces), "an index of a piece"))
        return [separator.join(pieces[next(indices)] for _ in range(number))
                for number in numbers]

    def origins(self, count):
        replicas = self.checked(self.simple(count), len(self.replicas), "a replica")
        sequences = [value % 2**64 for value in self.simple(count)]
        if any(not 1 <= sequence <= SEQUENCE_MAX for sequence in sequences):
            raise self.error("an origin with a sequence that cannot be")
        return [origin_text(self.replicas[replica], sequence).encode("ascii")
                for replica, sequence in zip(replicas, sequences)]

    def parts(self, count):
        part_of = self.checked(self.simple(count), PARTS_MAX, "a part")
        counts = [part_of.count(part) for part in range(max(part_of) + 1)]
        if 0 in counts:
            raise self.error("a part without strings before one that has some")
        parts = []
        for part_count in counts:
            form = self.choice("a form of a part", FORMS_OF_PARTS)
            parts.append(iter(self.strings_by(form, part_count)))
        return [next(parts[part]) for part in part_of]

    # Texts

    def texts(self, count, context=NOTHING):
        return self.texts_and_ids(count, context)[0]

    def texts_and_ids(self, count, context=NOTHING):
        """The texts, and the indices that make them a key, or None."""
        if count == 0:
            return [], []
        method = self.choice("a method of texts", range(TEXTS_PLAIN, TEXTS_SHARED + 1))
        if method == TEXTS_PLAIN:
            return self.strings(count), None
        if method == TEXTS_DICTIONARY:
            return self.dictionary(count, context)
        if method == TEXTS_SHARED:
            return self.shared_texts(count)
        pool = self.pool(self.varint())
        if method == TEXTS_POOL:
            indices = self.indices(count, len(pool), context, "an index of a pool")
            return [pool[index] for index in indices], indices
        return self.mixed(count, pool, context), None

    def dictionary(self, count, context):
        words = self.strings(self.count_within(count))
        indices = self.indices(count, len(words), context, "an index of a dictionary")
        self.check_dictionary(words, indices)
        return [words[index] for index in indices], indices

    def shared_texts(self, count):
        number = self.varint()
        if number not in self.shared or not self.allows_shared:
            raise self.error(f"shared block {number} is not named, or for no such field")
        words, indices = self.shared[number]
        if len(indices) != count:
            raise self.error("a shared block for rows of which some have no value")
        return [words[index] for index in indices], indices

    def pool(self, number):
        if number not in self.pools:
            raise self.error(f"pool {number} is not named")
        return self.pools[number]

    def mixed(self, count, pool, context):
        indices = self.indices(count, len(pool) + 1, context, "an index of a pool")
        others = iter(self.strings(indices.count(0)))
        return [pool[index - 1] if index else next(others) for index in indices]
