"""Streams and columns of numbers (schema/format/segments.md, section 5)."""

from itertools import accumulate

from . import zstd
from .primitives import Reader, wrapped

PACKED_ZIGZAG = 16
PACKED_WIDTH_MAX = 11
COLUMN_TYPE = 0
COLUMN_REPLICA = 1
COLUMN_ACTOR = 2
COLUMN_FIELDS = 16
MILLISECONDS_OF_DAY = 86_400_000


def presence_column(field_index):
    return COLUMN_FIELDS + 2 * field_index


def value_column(field_index):
    return COLUMN_FIELDS + 2 * field_index + 1


class Context:
    """What columns of numbers may refer to, aligned with the rows at hand.

    `columns` maps the number of a column to one value for each row, None where it is absent.
    """

    def __init__(self, columns=None, times=None, rows=None):
        self.columns = {} if columns is None else columns
        self.times = times
        self.rows = rows

    def select(self, rows):
        """The same columns for some of the rows only, which must be all of them so far."""
        return Context(self.columns, self.times, rows)

    def copied(self, rows, numbers, has_times):
        """A context of its own with some of the columns, for some of the rows."""
        columns = {number: [self.columns[number][row] for row in rows] for number in numbers}
        return Context(columns, [self.times[row] for row in rows] if has_times else None)

    def without_times(self):
        """The same, but offsets to `at` are refused."""
        return Context(self.columns, None, self.rows)

    def column(self, number):
        values = self.columns[number]
        return values if self.rows is None else [values[row] for row in self.rows]

    def offsets(self, number):
        times = self.times if self.rows is None else [self.times[row] for row in self.rows]
        return times if number == 0 else [time // MILLISECONDS_OF_DAY for time in times]


NOTHING = Context()


class BlockReader(Reader):
    """Takes the parts of one block; the streams may not exceed the block's expanded size."""

    def __init__(self, data, expanded_size):
        super().__init__(data)
        self.expanded_size = expanded_size
        self.expanded_left = expanded_size

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
        head = self.u8()
        width = head & 15
        if head & ~31 or width > PACKED_WIDTH_MAX:
            raise self.error(f"packed numbers of width {head}")
        base, factor = self.zigzag(), self.varint()
        if factor == 0:
            raise self.error("a factor of 0")
        units = self.units(count, width)
        if head & PACKED_ZIGZAG:
            units = [(unit >> 1) ^ -(unit & 1) for unit in units]
        return [wrapped(base + factor * unit) for unit in units]

    def units(self, count, width):
        if width == 0:
            return [0] * count
        if width <= 3:
            return self.bit_units(count, 1 << (width - 1))
        planes = [self.stream(count) for _ in range(width - 3)]
        return [int.from_bytes(parts, "little") for parts in zip(*planes)]

    def bit_units(self, count, bits):
        data = self.stream((count * bits + 7) // 8)
        per_byte, mask = 8 // bits, (1 << bits) - 1
        shifts = [bits * place for place in range(per_byte)]
        units = [byte >> shift & mask for byte in data for shift in shifts]
        if any(units[count:]):
            raise self.error("unused bits that are not zero")
        return units[:count]

    def bits(self, count):
        return self.bit_units(count, 1)

    def simple(self, count):
        if count == 0:
            return []
        return self.simple_by(self.choice("a method of simple numbers", (1, 2, 3)), count)

    def simple_by(self, method, count):
        if method == 1:
            return self.packed(count)
        if method == 2:
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
        return self.ints_and_ids(count, context)[0]

    def ints_and_ids(self, count, context):
        """The numbers, and for method `distinct` their indices."""
        if count == 0:
            return [], []
        method = self.choice("a method of numbers", range(1, 9))
        if method <= 3:
            return self.simple_by(method, count), None
        if method == 7:
            return self.distinct(count)
        read = {4: self.runs, 5: self.same, 6: self.last, 8: self.offset}[method]
        return read(count, context), None

    def runs(self, count, _):
        run_count = self.count_within(count)
        values = self.simple(run_count)
        lengths = [length + 1 for length in self.packed(run_count)]
        if min(lengths) < 1 or sum(lengths) != count:
            raise self.error("lengths of runs that do not add up")
        return [value for value, length in zip(values, lengths) for _ in range(length)]

    def count_within(self, count):
        found = self.varint()
        if not 1 <= found <= count:
            raise self.error(f"{found} values of {count}")
        return found

    def keys(self, context):
        """One key for each row at hand."""
        numbers = [self.varint() for _ in range(self.choice("a number of keys", (1, 2)))]
        for number in numbers:
            if number not in context.columns:
                raise self.error(f"column {number} is no key here")
        return list(zip(*(context.column(number) for number in numbers)))

    def same(self, count, context):
        keys = self.keys(context)
        marks = self.bits(count)
        exceptions = iter(self.simple(sum(marks)))
        last, values = {}, []
        for key, is_exception in zip(keys, marks):
            if is_exception:
                last[key] = next(exceptions)
            elif key not in last:
                raise self.error("the first value of a key that is no exception")
            values.append(last[key])
        return values

    def last(self, count, context):
        last, values = {}, []
        for key, difference in zip(self.keys(context), self.packed(count)):
            last[key] = wrapped(last.get(key, 0) + difference)
            values.append(last[key])
        return values

    def distinct(self, count):
        values = self.simple(self.count_within(count))
        indices = self.simple(count)
        self.check_dictionary(values, indices)
        return [values[index] for index in indices], indices

    def check_dictionary(self, values, indices):
        """Distinct values, in order of first sight, all of them used."""
        if len(set(values)) != len(values):
            raise self.error("values that are not distinct")
        first_sight = list(dict.fromkeys(indices))
        if first_sight != list(range(len(values))):
            raise self.error("indices that are not in order of first sight")

    def offset(self, count, context):
        column = self.choice("a column of offsets", (0, 1))
        if context.times is None:
            raise self.error("an offset to `at` where there is none")
        offsets = context.offsets(column)
        return [wrapped(value + offset) for value, offset in zip(self.simple(count), offsets)]

    def indices(self, count, bound, context=NOTHING, what="an index"):
        return self.checked(self.ints(count, context), bound, what)

    def checked(self, values, bound, what):
        for value in values:
            if not 0 <= value < bound:
                raise self.error(f"{what} of {value}, there are {bound}")
        return values
