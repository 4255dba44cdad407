"""Random values of given schemas, written the way users write them, for the harness."""

import base64
import json
import math
import uuid

from .calendar import MILLISECONDS_PER_DAY, date_from_days
from .canonical import number_text
from .patterns import Pattern

JSON_INTEGER_MAX = 2**53 - 1
TEXT_LENGTH_MAX = 60
FIRST_DAY = -719_162        # 0001-01-01
LAST_DAY = 2_932_530        # 9998-12-31
LETTERS = (
    "abcdefghijklmnopqrstuvwxyz", "ABCXYZ0189", " .,;:-_/#'", "\"\\\b\t\n\f\r\x01\x1f\x7f",
    "\u00e0\u00e8\u00f1\u00fc\u00df\u0301", "\u2028\u2029\ufeff\ufffd\ud7ff\ue000",
    "\u4e2d\u6587\u0416\u05d0", "\U0001f41f\U0001f3fd\U0010fffd",
)


class Literal:
    """A number with its spelling."""

    def __init__(self, text):
        self.text = text


def written(value):
    """JSON text of a value that may hold literals; now and then with needless escapes."""
    if isinstance(value, Literal):
        return value.text
    if isinstance(value, list):
        return "[" + ",".join(written(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{written(k)}: {written(v)}" for k, v in value.items()) + "}"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=len(value) % 2 == 0)
    return json.dumps(value)


class Generator:
    """Values from one source of chance."""

    def __init__(self, random):
        self.random = random

    def chance(self, probability):
        return self.random.random() < probability

    def spread(self, low, high):
        """An integer in the range: often small, sometimes at the edge."""
        choice = self.random.random()
        if choice < 0.1:
            return self.random.choice((low, high))
        if choice < 0.2 and low <= 0 <= high:
            return 0
        width = self.random.randint(1, max(high - low, 1).bit_length())
        value = min(self.random.getrandbits(width), high - low)
        return low + value if self.chance(0.5) else high - value

    # Values

    def integer(self, schema):
        low = max(schema.get("minimum", -JSON_INTEGER_MAX), -JSON_INTEGER_MAX)
        high = min(schema.get("maximum", JSON_INTEGER_MAX), JSON_INTEGER_MAX)
        value = self.spread(math.ceil(low), math.floor(high))
        style = self.random.random()
        if style < 0.1:
            return Literal(f"{value}.0")
        if style < 0.2 and value % 1000 == 0:
            return Literal(f"{value // 1000}e3")
        if style < 0.25 and value == 0:
            return Literal("-0")
        return value

    def number(self, schema):
        low, high = schema.get("minimum", -1e300), schema.get("maximum", 1e300)
        style = self.random.random()
        if style < 0.1 and low <= 0 <= high:
            return Literal(self.random.choice(("0", "-0", "-0.0", "0e5")))
        if style < 0.2:
            return self.spread(max(math.ceil(low), -10**6), min(math.floor(high), 10**6))
        value = low + (high - low) * self.random.random()
        if style < 0.5:
            value *= 10.0 ** -self.random.randint(1, 320)
        if style > 0.8:
            value = round(value, self.random.randint(0, 6))
        value = min(max(value, low), high)
        return Literal(repr(value) if self.chance(0.5) else number_text(value))

    def text(self, length_min, length_max, avoid_hash=False):
        length = self.random.randint(length_min, min(length_max, length_min + TEXT_LENGTH_MAX))
        pool = LETTERS[: self.random.randint(1, len(LETTERS))]
        letters = [self.random.choice(self.random.choice(pool)) for _ in range(length)]
        if avoid_hash and letters and letters[0] == "#":
            letters[0] = "x"
        return "".join(letters)

    def string(self, schema):
        length_min, length_max = schema.get("minLength", 0), schema.get("maxLength", 200)
        if "pattern" not in schema:
            return self.text(length_min, length_max, avoid_hash="x-diario-id" in schema)
        pattern = Pattern(schema["pattern"])
        while True:
            value = pattern.make(self.random)
            if length_min <= len(value) <= length_max:
                return value

    def day(self):
        return self.spread(FIRST_DAY, LAST_DAY) if self.chance(0.3) else self.spread(0, 30_000)

    def instant(self):
        rest = self.random.randrange(MILLISECONDS_PER_DAY)
        second, fraction = divmod(rest, 1000)
        time = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
        digits = self.random.randint(0, 3)
        if digits:
            time += "." + f"{fraction:03}"[:digits]
        if self.chance(0.5):
            offset = "Z"
        else:
            sign, hours = self.random.choice("+-"), self.random.randint(0, 23)
            offset = f"{sign}{hours:02}:{self.random.choice((0, 30, 45, 59)):02}"
        # On the first day of all an offset would lead out of the years 1 to 9999 of UTC.
        return f"{date_from_days(max(self.day(), FIRST_DAY + 1))}T{time}{offset}"

    def uuid(self):
        text = str(uuid.UUID(int=self.random.getrandbits(128)))
        return text.upper() if self.chance(0.3) else text

    def binary(self, schema):
        size = self.random.randint(0, schema.get("maxLength", 80) // 4 * 3)
        return base64.b64encode(self.random.randbytes(size)).decode("ascii")

    def value(self, schema):
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        if schema["type"] == "object":
            return self.members(schema)
        if schema["type"] == "array":
            least = schema.get("minItems", 0)
            most = min(schema.get("maxItems", least + 5), least + 5)
            return [self.value(schema["items"]) for _ in range(self.random.randint(least, most))]
        if schema["type"] == "boolean":
            return self.chance(0.5)
        if schema["type"] == "integer":
            return self.integer(schema)
        if schema["type"] == "number":
            return self.number(schema)
        return self.formatted_string(schema)

    def formatted_string(self, schema):
        if schema.get("contentEncoding") == "base64":
            return self.binary(schema)
        formats = {
            "date": lambda: date_from_days(self.day()),
            "date-time": self.instant,
            "uuid": self.uuid,
        }
        return formats.get(schema.get("format"), lambda: self.string(schema))()

    def members(self, schema):
        """An object with all that is required and some of the rest, in any order."""
        share = self.random.random()
        names = [name for name in schema["properties"]
                 if name in schema["required"] or self.chance(share)]
        self.random.shuffle(names)
        return {name: self.value(schema["properties"][name]) for name in names}
