"""Random events in the order of a log, for the harness that seals them."""

import json

from .calendar import date_from_days
from .canonical import parse_json
from .generate import FIRST_DAY, Generator, written
from .primitives import SEQUENCE_MAX, clock_text, id_text, origin_text
from .schemas import EventType

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
URL_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
# Ids as people's programs make them: a text before, an alphabet, a number of digits.
STYLES = (
    ("", CROCKFORD, 26), ("", CROCKFORD.lower(), 13), ("thing_", URL_DIGITS, 22),
    ("", "0123456789abcdef", 32), ("X-", "0123456789ABCDEF", 16), ("", "0123456789", 9),
)
LINE_KEYS = ("type", "version", "payload", "actor", "subject", "at")
WORDS = ("lake", "north", "spruce", "hut", "door", "bread", "old", "stone", "river", "bank")
START = 1_700_000_000_000
MILLISECONDS_OF_DAY = 86_400_000

KINDS = {
    "anInteger": {"type": "integer"},
    "aNumber": {"type": "number"},
    "aString": {"type": "string", "maxLength": 200},
    "aBoolean": {"type": "boolean"},
    "anEnum": {"enum": ["red", "green", "blue"]},
    "aDate": {"type": "string", "format": "date"},
    "aTime": {"type": "string", "format": "date-time"},
    "aUuid": {"type": "string", "format": "uuid"},
    "someBytes": {"type": "string", "contentEncoding": "base64", "maxLength": 80},
    "anArray": {"type": "array", "items": {"type": "number"}, "maxItems": 9},
    "aThing": {"type": "string", "maxLength": 64, "x-diario-id": "thing"},
}


def probe_schema(name, properties, subject=None, version=1):
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"probe.{name}", "description": "Only for tests.", "x-diario-version": version,
        "type": "object", "additionalProperties": False,
        "required": [subject] if subject and "x-diario-id" not in properties[subject] else [],
        "properties": properties,
    }
    if subject:
        schema["x-diario-subject"] = subject
    return schema


def probe_schemas():
    """Types that together have every kind of field, public and personal, and every subject."""
    new_id = {"type": "string", "maxLength": 64, "x-diario-id": "new"}
    personal = {f"p{name}": {**schema, "x-diario-personal": True}
                for name, schema in KINDS.items()}
    few = {name: KINDS[name] for name in ("anInteger", "aDate", "aTime")}
    key = {"type": "string", "minLength": 1, "maxLength": 32}
    return [
        probe_schema("thing.made", {"id": new_id, **KINDS}, "id", 3),
        probe_schema("thing.told", {"open": {"type": "integer"}, **personal}),
        probe_schema("thing.both", {"zMade": new_id, **KINDS, **personal}, version=65535),
        probe_schema("number.seen", {"about": {"type": "integer"}, **few}, "about"),
        probe_schema("uuid.seen", {"about": {"type": "string", "format": "uuid"}}, "about"),
        probe_schema("point.seen", {"key": key, **few}, "key"),
        probe_schema("point.left", {"key": key}, "key"),
        probe_schema("nothing.passed", {}),
        probe_schema("only.personal", {"pDay": personal["paDate"]}),
    ]


def probe_types():
    texts = [json.dumps(schema) for schema in probe_schemas()]
    return texts, [EventType(parse_json(text)) for text in texts]


class Writer:
    """A replica that takes part, with what it wrote last."""

    def __init__(self, replica, sequence, milliseconds, is_authority):
        self.replica = replica
        self.sequence = sequence
        self.milliseconds = milliseconds
        self.is_authority = is_authority
        self.seeds = {}


class LogGenerator(Generator):
    """Events of several writers one after the other; values come again, as those of people do."""

    def __init__(self, types, random, positioned=True):
        super().__init__(random)
        self.positioned = positioned
        self.engine_types = [t for t in types if t.pack_name == "engine"]
        self.other_types = [t for t in types if t.pack_name != "engine"]
        self.position = random.choice((1, 2, random.getrandbits(random.randint(3, 40)) | 1))
        self.first_position = self.position if positioned else None
        self.writers = []
        for _ in range(random.randint(1, 5) if positioned else 1):
            self.writers.append(self.writer(is_authority=False))
        if positioned:
            self.writers.append(self.writer(is_authority=True))
        self.accepted_at = START + random.randrange(10**9)
        self.known = {}
        self.style = random.choice(STYLES)
        self.separator = random.choice((" ", "/", ", ", "::"))
        self.words_likely = self.chance(0.3)
        self.given = random.choice((0, 0.4, 1))
        self.things = []
        self.actors = [self.text(1, 20) for _ in range(random.randint(1, 9))]
        self.repeat = random.choice((0.2, 0.6, 0.95))
        self.day_step = random.choice((10, 10_000, 10**8))

    def writer(self, is_authority):
        random = self.random
        replica = random.choice((random.getrandbits(64) | 1, random.randint(1, 100)))
        while replica in {writer.replica for writer in self.writers}:
            replica += 1
        sequence = random.choice((0, random.getrandbits(random.randint(1, 53))))
        return Writer(replica, sequence, START + random.randrange(10**9), is_authority)

    # Values

    def day(self):
        """Not the first of all days, which an offset of the time could leave."""
        return max(super().day(), FIRST_DAY + 1)

    def remembered(self, key, make):
        """One of the values given before for this key, or a new one."""
        values = self.known.setdefault(key, [])
        if values and self.chance(self.repeat):
            return self.random.choice(values[-20:])
        values.append(make())
        return values[-1]

    def field_value(self, event_type, field, writer):
        schema = field.schema
        if "x-diario-id" in schema and "pattern" not in schema:
            return self.thing(event_type, field)
        if field.kind == "date" and self.chance(0.5):
            from_day = writer.milliseconds // MILLISECONDS_OF_DAY
            return date_from_days(from_day - self.random.choice((0, 0, 0, 1)))
        if field.kind == "number" and "maximum" not in schema and self.chance(0.7):
            return self.random.randint(-10**4, 10**6) / self.random.choice((1, 10, 1000))
        if field.kind == "string" and "pattern" not in schema and self.words_likely:
            return self.words()[: schema.get("maxLength", 200)]
        owner = event_type.name
        if field.kind == "string" and field.name == event_type.subject_field:
            # Types with the same subject tell of the same things.
            owner = event_type.pack_name, schema.get("pattern"), schema.get("maxLength")
        return self.remembered((owner, field.name), lambda: self.value(schema))

    def thing(self, event_type, field):
        """An id: an earlier event's own one, one that was given, or one of elsewhere."""
        choice = self.random.random()
        if self.things and choice < 0.7:
            return self.random.choice(self.things[-30:])
        if choice < 0.8:
            replica = self.random.getrandbits(64) | 1
            return origin_text(replica, self.random.randint(1, SEQUENCE_MAX))
        if choice < 0.9:
            return self.random_id()
        return self.remembered((event_type.name, field.name), lambda: "thing " + self.text(1, 20))

    def random_id(self):
        before, digits, count = self.style
        return before + "".join(self.random.choice(digits) for _ in range(count))

    def words(self):
        """A text of few words, as names and paths are."""
        count = self.random.randint(1, 4)
        return self.separator.join(self.random.choice(WORDS) for _ in range(count))

    def own_payload(self, event_type, origin, writer):
        required = event_type.schema.get("required", [])
        share = self.random.random()
        payload = {}
        for field in event_type.fields:
            if field.is_new_id:
                if self.chance(self.given):
                    is_random = self.chance(0.8)
                    payload[field.name] = (
                        self.random_id() if is_random else self.thing(event_type, field))
                self.things.append(payload.get(field.name, origin))
            elif field.name in required or self.chance(share):
                payload[field.name] = self.field_value(event_type, field, writer)
        return payload

    # Events

    def batch(self, room):
        """The requests of one batch of at most `room` events."""
        random = self.random
        writer = random.choice(self.writers)
        if self.chance(0.1) and self.positioned:
            writer.sequence += random.randint(1, 5)     # some were refused
        if self.chance(0.3):
            self.accepted_at += random.randrange(100_000)
        writer.milliseconds += random.randrange(self.day_step)
        count = 1 if self.chance(0.6) else random.randint(1, min(room, random.choice((3, 40))))
        first = writer.sequence + 1
        base = random.choice((0, max(self.position - 1 - random.randint(0, 50), 0)))
        return [self.event(writer, first, place, count, base) for place in range(count)]

    def event(self, writer, first, place, count, base):
        random = self.random
        writer.sequence += 1
        types = self.engine_types if writer.is_authority and self.chance(0.5) else self.other_types
        event_type = random.choice(types)
        origin = origin_text(writer.replica, writer.sequence)
        group = (writer.sequence - 1) // 1024
        at = writer.milliseconds - random.choice((0, 0, 1000, random.randrange(10**9)))
        request = {
            "type": event_type.name, "version": event_type.version,
            "payload": self.own_payload(event_type, origin, writer),
            "replica": id_text(writer.replica), "sequence": writer.sequence,
            "batchFirst": first, "batchCount": count,
            "clock": clock_text(writer.milliseconds << 16 | place), "at": at, "base": base,
            "seed": writer.seeds.setdefault(group, random.randbytes(16).hex()),
            "acceptedAt": self.accepted_at,
        }
        if writer.is_authority:
            request["authority"] = True
        if self.chance(0.6):
            request["actor"] = random.choice(self.actors)
        if event_type.subject_field is None and self.chance(0.4):
            request["subject"] = origin if self.chance(0.05) else self.remembered(
                "subject", lambda: self.text(1, 50, True))
        if self.chance(0.1):
            request["ifUnchanged"] = True
        self.position += 1
        return event_type, request

    def events(self, count):
        found = []
        while len(found) < count:
            found += self.batch(count - len(found))
        return found

    def lines(self, count):
        """Events as the program records them, in place of requests."""
        found = []
        for _, request in self.events(count):
            kept = {key: request[key] for key in LINE_KEYS if key in request}
            found.append(written(kept) + "\n")
        return found
