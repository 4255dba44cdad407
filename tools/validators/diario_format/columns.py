"""Streams and columns of one block (schema/format/segments.md, sections 5 and 7)."""

from itertools import accumulate

from . import zstd
from .primitives import SEQUENCE_MAX, Reader, origin_text, wrapped

PACKED_WIDTH_MAX = 8
PLAIN, DELTA, NEW, SAME = range(1, 5)
FORM_BYTES, FORM_ORIGINS = 1, 2
TEXTS_PLAIN, TEXTS_DICTIONARY, TEXTS_POOL, TEXTS_SHARED = range(1, 5)
# Names of the envelope's columns as keys.
KEY_TYPES, KEY_REPLICAS = 0, 1


class Context:
    """The columns that can be keys, each with one value for each row, None where it is absent.

    `rows` are those that the column at hand has values for; None for all.
    """

    def __init__(self, columns=None, rows=None):
        self.columns = {} if columns is None else columns
        self.rows = rows

    def select(self, rows):
        return Context(self.columns, rows)

    def key(self, number):
        values = self.columns[number]
        return values if self.rows is None else [values[row] for row in self.rows]


NOTHING = Context()


class BlockReader(Reader):
    """Takes the parts of one block; the streams may not exceed the block's expanded size."""

    def __init__(self, data, expanded_size, replicas=()):
        super().__init__(data)
        self.expanded_size = expanded_size
        self.expanded_left = expanded_size
        self.replicas = replicas
        self.pools = []
        # By number of the pool, the indices of the rows at hand; only for fields that are strings.
        self.shared = {}
        self.allows_shared = False

    def end(self):
        super().end()
        if self.expanded_left:
            raise self.error(f"streams that are {self.expanded_left} bytes too short")

    def choice(self, what, choices):
        value = self.u8()
        if value not in choices:
            raise self.error(f"{what} {value}")
        return value

    def stream(self, size):
        """A stream whose size before compression is known."""
        if size > self.expanded_left:
            raise self.error(f"a stream of {size} bytes, {self.expanded_left} are left")
        self.expanded_left -= size
        head = self.varint()
        stored_size = head >> 1
        if head & 1:
            if self.varint() != size or size <= stored_size:
                raise self.error(f"a compressed stream that does not have {size} bytes")
            return zstd.decompress(self.raw(stored_size), size)
        if stored_size != size:
            raise self.error(f"a stream of {stored_size} bytes instead of {size}")
        return self.raw(size)

    # Numbers, as i64

    def packed(self, count):
        if count == 0:
            return []
        width = self.choice("packed numbers of width", range(PACKED_WIDTH_MAX + 1))
        base, factor = self.zigzag(), self.varint()
        if factor == 0:
            raise self.error("a factor of 0")
        if width == 0:
            return [base] * count
        planes = [self.stream(count) for _ in range(width)]
        return [wrapped(base + factor * int.from_bytes(parts, "little"))
                for parts in zip(*planes)]

    def simple(self, count):
        if count == 0:
            return []
        return self.simple_by(self.choice("a method of simple numbers", (PLAIN, DELTA, NEW)), count)

    def simple_by(self, method, count):
        if method == PLAIN:
            return self.packed(count)
        if method == DELTA:
            return [wrapped(value) for value in accumulate(self.packed(count))]
        start = self.varint()
        values = []
        for word in self.packed(count):
            if word == 0:
                values.append(wrapped(start))
                start += 1
            else:
                values.append(wrapped(word - 1))
        return values

    def ints(self, count, context=NOTHING):
        if count == 0:
            return []
        method = self.choice("a method of numbers", (PLAIN, DELTA, NEW, SAME))
        return self.same(count, context) if method == SAME else self.simple_by(method, count)

    def same(self, count, context):
        number = self.varint()
        if number not in context.columns:
            raise self.error(f"column {number} is no key here")
        marks = self.bits(count)
        exceptions = iter(self.simple(sum(marks)))
        last, values = {}, []
        for key, is_exception in zip(context.key(number), marks):
            if is_exception:
                last[key] = next(exceptions)
            elif key not in last:
                raise self.error("the first value of a key that is no exception")
            values.append(last[key])
        return values

    def bits(self, count):
        data = self.stream((count + 7) // 8)
        bits = [byte >> place & 1 for byte in data for place in range(8)]
        if any(bits[count:]):
            raise self.error("unused bits that are not zero")
        return bits[:count]

    def count_within(self, count):
        found = self.varint()
        if not 1 <= found <= count:
            raise self.error(f"{found} values of {count}")
        return found

    def indices(self, count, bound, context=NOTHING, what="an index"):
        return self.checked(self.ints(count, context), bound, what)

    def checked(self, values, bound, what):
        for value in values:
            if not 0 <= value < bound:
                raise self.error(f"{what} of {value}, there are {bound}")
        return values

    # Strings and texts

    def strings(self, count):
        if count == 0:
            return []
        if self.choice("a form of strings", (FORM_BYTES, FORM_ORIGINS)) == FORM_ORIGINS:
            return self.origins(count)
        sizes = self.checked(self.simple(count), self.expanded_size + 1, "a size")
        data = self.stream(sum(sizes))
        ends = list(accumulate(sizes))
        return [data[end - size : end] for size, end in zip(sizes, ends)]

    def origins(self, count):
        replicas = self.checked(self.simple(count), len(self.replicas), "a replica")
        sequences = [value % 2**64 for value in self.simple(count)]
        if any(not 1 <= sequence <= SEQUENCE_MAX for sequence in sequences):
            raise self.error("an origin with a sequence that cannot be")
        return [origin_text(self.replicas[replica], sequence).encode("ascii")
                for replica, sequence in zip(replicas, sequences)]

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
            words = self.strings(self.count_within(count))
            indices = self.indices(count, len(words), context, "an index of a dictionary")
            self.check_dictionary(words, indices)
        else:
            number = self.varint()
            if number >= len(self.pools):
                raise self.error(f"pool {number}, there are {len(self.pools)}")
            words = self.pools[number]
            if method == TEXTS_POOL:
                indices = self.indices(count, len(words), context, "an index of a pool")
            else:
                indices = self.shared_indices(number, count)
        return [words[index] for index in indices], indices

    def shared_indices(self, number, count):
        if number not in self.shared or not self.allows_shared:
            raise self.error(f"pool {number} has no column of this type, or not for such a field")
        if len(self.shared[number]) != count:
            raise self.error("a shared column for rows of which some have no value")
        return self.shared[number]

    def check_dictionary(self, words, indices):
        """Distinct words, in order of first sight, all of them used."""
        if len(set(words)) != len(words):
            raise self.error("words that are not distinct")
        if list(dict.fromkeys(indices)) != list(range(len(words))):
            raise self.error("indices that are not in order of first sight")
