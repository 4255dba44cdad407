"""JSON: a reader that keeps numbers exact, and the canonical form of RFC 8785.

Integers of 64 bits keep all their digits, as `rows.md` says.
"""

import json
import math
from decimal import Decimal

from .primitives import FormatError

SHORT_ESCAPES = {
    '"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r",
}
INTEGER_DIGITS_MAX = 20


class WrittenNumber(float):
    """A number with a point or an exponent, together with how it was written."""

    def __new__(cls, text):
        number = super().__new__(cls, text)
        number.text = text
        return number


def parse_json(text):
    """Reads one JSON value; integers stay integers, and a key may not come twice."""
    try:
        return json.loads(
            text,
            parse_float=WrittenNumber,
            parse_constant=refuse_constant,
            object_pairs_hook=unique_members,
        )
    except ValueError as error:
        raise FormatError(f"not JSON: {error}") from None


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def unique_members(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key that comes twice")
    return members


def whole_number(value):
    """The integer of a JSON value: 7, 7.0, 7e0, or "7"."""
    if isinstance(value, bool):
        raise FormatError("a boolean where an integer belongs")
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        return whole_number(parse_json(value))
    if not isinstance(value, float):
        raise FormatError(f"not an integer: {value!r}")
    exact = Decimal(value.text if isinstance(value, WrittenNumber) else repr(value))
    if exact.is_zero():
        return 0
    if exact.adjusted() > INTEGER_DIGITS_MAX or exact != exact.to_integral_value():
        raise FormatError(f"not an integer of 64 bits: {value!r}")
    return int(exact)


def shortest_digits(number):
    """The digits d1 d2 .. dk and the n for which the number is 0.d1d2..dk times 10 to the n."""
    mantissa, _, exponent = repr(number).partition("e")
    whole, _, fraction = mantissa.partition(".")
    point = len(whole) + int(exponent or "0")
    digits = whole + fraction
    leading = len(digits) - len(digits.lstrip("0"))
    return digits.strip("0"), point - leading


def number_text(value):
    """A binary64 as ECMAScript writes it (RFC 8785, section 3.2.2.3)."""
    try:
        number = float(value)
    except OverflowError:
        raise FormatError("a number beyond binary64") from None
    if not math.isfinite(number):
        raise FormatError("a number that is not finite")
    if number == 0:
        return "0"
    if number < 0:
        return "-" + number_text(-number)
    digits, point = shortest_digits(number)
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    exponent = point - 1
    sign = "+" if exponent > 0 else "-"
    fraction = "." + digits[1:] if count > 1 else ""
    return f"{digits[0]}{fraction}e{sign}{abs(exponent)}"


def string_text(value):
    return '"' + "".join(escaped(letter) for letter in value) + '"'


def escaped(letter):
    if letter in SHORT_ESCAPES:
        return SHORT_ESCAPES[letter]
    return f"\\u{ord(letter):04x}" if letter < " " else letter


def by_utf16(name):
    """RFC 8785 sorts the names of members by their UTF-16 code units."""
    return name.encode("utf-16-be", "surrogatepass")


def canonical_json(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and -2**63 <= value < 2**63:
        return str(value)
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, str):
        return string_text(value)
    if isinstance(value, list):
        return "[" + ",".join(canonical_json(item) for item in value) + "]"
    members = (f"{string_text(name)}:{canonical_json(value[name])}"
               for name in sorted(value, key=by_utf16))
    return "{" + ",".join(members) + "}"
