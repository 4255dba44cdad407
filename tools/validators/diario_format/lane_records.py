"""frames.md: the records that speak of pending events without holding them."""

from .primitives import FormatError, Reader, moment

COUNT_MAX = (1 << 32) - 1


class SealedRows:
    """A record `sealed`: events that lie in private segments."""

    def __init__(self, content):
        reader = Reader(content)
        self.replica, self.first, self.count = reader.id(), reader.u64(), reader.u64()
        self.position, self.accepted_at = reader.u64(), moment(reader.i64(), "acceptance")
        self.clock = reader.u64()
        reader.end()
        if self.first == 0 or not 1 <= self.count <= COUNT_MAX:
            raise FormatError(f"a sealed record of {self.count} events from {self.first} on")
        if self.clock if self.position else self.accepted_at:
            raise FormatError("a sealed record with a clock and positions, or a time and none")
