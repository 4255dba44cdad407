"""A second implementation of read models, made from schema/README.md and
schema/format/models.md alone, on whatever SQLite the module it is given has."""

import base64
import datetime
import hashlib
import json
import re
import sqlite3
import struct

from diario_format.primitives import parse_clock, parse_id
from diario_format.schemas import read_schema, with_blob_fields
from diario_models.text_key import text_key

CLOCK_LEAD = 300_000
DAY_ZERO = datetime.date(1970, 1, 1)


def milliseconds(value):
    """A time as an export writes it, or as a number."""
    if isinstance(value, int):
        return value
    moment = datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
    delta = moment - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return round(delta / datetime.timedelta(milliseconds=1))


def believed(clock, accepted):
    """A clock as far as it counts for an event that was accepted then."""
    bound = accepted + CLOCK_LEAD
    return bound << 16 | 0xffff if clock >> 16 > max(bound, 0) else clock


def day_of(time, offset):
    if time is None or offset is None:
        return None
    return (DAY_ZERO + datetime.timedelta((time + offset * 60_000) // 86_400_000)).isoformat()


def day_add(day, count):
    if day is None or count is None:
        return None
    return (datetime.date.fromisoformat(day) + datetime.timedelta(count)).isoformat()


def day_diff(day, other):
    if day is None or other is None:
        return None
    return (datetime.date.fromisoformat(day) - datetime.date.fromisoformat(other)).days


def weekday_of(day):
    return None if day is None else datetime.date.fromisoformat(day).isoweekday()


FUNCTIONS = [("day_of", day_of, 2), ("day_add", day_add, 2), ("day_diff", day_diff, 2),
             ("weekday_of", weekday_of, 1), ("text_key", text_key, 2)]


def statements(text):
    """The statements of a text, without comments at the ends of lines."""
    found, current = [], ""
    for part in re.split(r"(;)", re.sub(r"--[^\n]*", "", text)):
        current += part
        if part == ";" and sqlite3.complete_statement(current):
            found.append(current.strip())
            current = ""
    if current.strip():
        raise ValueError(f"a statement without an end: {current.strip()[:80]}")
    return found


class Model:
    """A read model of a pack, as its file tells."""

    def __init__(self, path):
        parts = re.split(r"^-- on (.*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        self.name = path.stem
        self.definitions = statements(parts[0])
        self.blocks = [([name.strip() for name in heading.split(",")], statements(body))
                       for heading, body in zip(parts[1::2], parts[2::2])]

    def changes(self, type_name):
        return [change for names, changes in self.blocks if type_name in names
                for change in changes]


class Pack:
    """A pack in a folder: its types with their upcasts, and its read models."""

    def __init__(self, folder):
        self.name = json.loads((folder / "pack.json").read_text(encoding="utf-8"))["name"]
        self.types = {}
        for path in sorted((folder / "events").glob("*.json")):
            schema = with_blob_fields(read_schema(path))
            self.types.setdefault(schema["title"], {})[schema["x-diario-version"]] = schema
        self.upcasts = {}
        for path in sorted((folder / "events").glob("*.sql")):
            name, versions = path.stem.rsplit(".", 1)
            old, new = map(int, versions.split("-"))
            (select,) = statements(path.read_text(encoding="utf-8"))
            self.upcasts[f"{self.name}.{name}", old] = (new, select)
        self.models = [Model(path) for path in sorted((folder / "readmodel").glob("*.sql"))]

    def fields(self, title, version, payload):
        """The fields of the newest version of a type, as parameters."""
        schema = self.types[title][version]
        values = {name: bound(payload.get(name), field)
                  for name, field in schema["properties"].items()}
        while version != max(self.types[title]):
            version, select = self.upcasts[title, version]
            names = set(re.findall(r":(\w+)", select))
            cursor = sqlite3.connect(":memory:").execute(
                select, {name: values[name] for name in names})
            found = dict(zip([column[0] for column in cursor.description], cursor.fetchone()))
            properties = self.types[title][version]["properties"]
            values = {name: again(found.get(name), field) for name, field in properties.items()}
        return values


def bound(value, field):
    """A value of a payload as SQL has it."""
    if value is None:
        return None
    if "contentEncoding" in field:
        return base64.b64decode(value)
    if field.get("format") == "date-time":
        return milliseconds(value)
    if field.get("type") in ("object", "array"):
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    if field.get("type") == "number":
        return float(value)
    if field.get("type") == "boolean":
        return int(value)
    return value


def again(value, field):
    """A value that an upcast gave, as one of an event of the newer version."""
    if value is not None and field.get("type") in ("object", "array"):
        return bound(json.loads(value), field)
    return float(value) if value is not None and field.get("type") == "number" else value


class Event:
    """The parameters of statements: fields by name, and the envelope."""

    def __init__(self, line, pack):
        self.type = line["type"]
        self.values = pack.fields(line["type"], line["version"], line["payload"])
        replica, sequence = line["origin"].rsplit("-", 1)
        accepted = milliseconds(line["acceptedAt"]) if "acceptedAt" in line else None
        clock = parse_clock(line["clock"])
        if accepted is not None:
            clock = believed(clock, accepted)
        subject = pack.types[line["type"]][line["version"]].get("x-diario-subject")
        about = line.get("subject") if subject is None else line["payload"].get(subject)
        self.values.update({
            "_position": line.get("position"), "_replica": replica, "_sequence": int(sequence),
            "_origin": line["origin"], "_type": line["type"], "_version": line["version"],
            "_at": milliseconds(line["at"]), "_accepted": accepted, "_actor": line.get("actor"),
            "_clock": clock,
            "_stamp": struct.pack(">QQQ", clock, parse_id(replica), int(sequence)),
            "_subject": None if about is None else str(about), "_base": line.get("base"),
        })


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def counted(data):
    return varint(len(data)) + data


def encoded(value):
    if value is None:
        return b"\0"
    if isinstance(value, int):
        return b"\1" + struct.pack("<q", value)
    if isinstance(value, float):
        return b"\2" + struct.pack("<d", value)
    if isinstance(value, str):
        return b"\3" + counted(value.encode("utf-8"))
    return b"\4" + counted(bytes(value))


class Tables:
    """The tables of a pack's read models, made of events one by one."""

    def __init__(self, pack, door):
        self.pack = pack
        self.door = door
        self.quarantine = []
        self.owned = {}
        for name, function, count in FUNCTIONS:
            door.function(name, function, count)
        door.run("PRAGMA recursive_triggers = ON")
        door.run("PRAGMA foreign_keys = ON")
        for model in pack.models:
            before = self.plain()
            for definition in model.definitions:
                door.run(definition)
            self.owned[model.name] = sorted(self.plain() - before)

    def plain(self):
        return {row[0] for row in self.door.run(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' "
            "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")}

    def take(self, event):
        for model in self.pack.models:
            changes = model.changes(event.type)
            if not changes:
                continue
            self.door.run("SAVEPOINT event")
            try:
                for change in changes:
                    self.door.run(change, event.values)
            except self.door.errors as error:
                self.door.run("ROLLBACK TO event")
                self.quarantine.append((model.name, event.values["_origin"], str(error)))
            self.door.run("RELEASE event")

    def digest(self, model_name):
        digest = hashlib.sha256()
        for table in self.owned[model_name]:
            info = self.door.run(f'SELECT name, pk, hidden FROM pragma_table_xinfo("{table}")')
            columns = [row[0] for row in info]
            key = [row[0] for row in sorted((row for row in info if row[1]),
                                            key=lambda row: row[1])]
            digest.update(counted(table.encode()) + varint(len(columns)))
            for column in columns:
                digest.update(counted(column.encode()))
            names = ", ".join(f'"{column}"' for column in columns)
            order = ", ".join(f'"{column}"' for column in key)
            for row in self.door.run(f'SELECT {names} FROM "{table}" ORDER BY {order}'):
                digest.update(b"\1" + b"".join(encoded(value) for value in row))
            digest.update(b"\0")
        return digest.hexdigest()


class Standard:
    """Python's own SQLite."""

    errors = (sqlite3.Error,)
    version = sqlite3.sqlite_version

    def __init__(self):
        self.connection = sqlite3.connect(":memory:", isolation_level=None)

    def function(self, name, function, count):
        self.connection.create_function(name, count, function, deterministic=True)

    def run(self, sql, values=None):
        names = set(re.findall(r":(\w+)", sql)) if values else ()
        return self.connection.execute(sql, {name: values[name] for name in names}).fetchall()


def newer():
    """A door to another build of SQLite, if it is installed; else None."""
    try:
        import apsw
    except ImportError:
        return None

    class Newer:
        errors = (apsw.Error,)
        version = apsw.sqlitelibversion()

        def __init__(self):
            self.connection = apsw.Connection(":memory:")

        def function(self, name, function, count):
            self.connection.create_scalar_function(name, function, count, deterministic=True)

        def run(self, sql, values=None):
            names = set(re.findall(r":(\w+)", sql)) if values else ()
            return list(self.connection.execute(sql, {name: values[name] for name in names}))

    return Newer
