"""Packs as sections 3 to 5 need them: types, kinds of fields, fingerprints."""

import json
import os

from .canonical import parse_json, whole_number
from .hashes import pack_fingerprint, schema_fingerprint
from .primitives import FormatError


def with_types(schema, types):
    """The schema with the types of types.json in the place of their names."""
    if isinstance(schema, list):
        return [with_types(each, types) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" not in schema:
        return {key: with_types(value, types) for key, value in schema.items()}
    named = types[schema["$ref"].split("#/")[1]]
    content = {key: value for key, value in named.items() if key != "description"}
    own = {key: value for key, value in schema.items() if key != "$ref"}
    return with_types(content, types) | own


def read_schema(path):
    """The schema in a file of a pack, as it would be without names."""
    types = path.parent.parent / "types.json"
    known = json.loads(types.read_text(encoding="utf-8")) if types.exists() else {}
    return with_types(json.loads(path.read_text(encoding="utf-8")), known)


class Field:
    """One property of a type."""

    def __init__(self, name, schema):
        self.name = name
        self.schema = schema
        self.kind = kind_of(schema)
        self.is_personal = schema.get("x-diario-personal") is True
        self.is_new_id = schema.get("x-diario-id") == "new"


BLOB_BYTES = {"type": "string", "contentEncoding": "base64", "minLength": 44, "maxLength": 44,
              "pattern": "^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$"}


def blob_fields(name, form):
    """The fields that a blob is recorded as: schema/README.md, "Blobs"."""
    fields = {
        name + "Id": BLOB_BYTES,
        name + "Size": {"type": "integer", "minimum": 0, "maximum": form["maxSize"]},
        name + "Type": {"enum": form["types"]},
    }
    if not form.get("public"):
        fields[name + "Key"] = BLOB_BYTES | {"x-diario-personal": True}
    return fields


def with_blob_fields(schema):
    """The schema as plain JSON Schema, with ordinary fields in the place of blobs."""
    properties, required, together = {}, list(schema.get("required", [])), {}
    for name, field in schema.get("properties", {}).items():
        if "x-diario-blob" not in field:
            properties[name] = field
            continue
        parts = blob_fields(name, field["x-diario-blob"])
        properties |= parts
        needed = list(parts)[:3]
        together |= {part: needed for part in parts}
        if name in required:
            required[required.index(name):required.index(name) + 1] = needed
    return schema | {"properties": properties, "required": required,
                     "dependentRequired": together}


def kind_of(schema):
    if "enum" in schema:
        return "enum"
    if schema["type"] == "string":
        if schema.get("contentEncoding") == "base64":
            return "bytes"
        return schema.get("format", "string")
    if schema["type"] in ("object", "array"):
        return "nested"
    return schema["type"]


class EventType:
    """One version of a type, with its fields in the order of section 3.

    A schema without its title, as segments hold it, needs the `name` beside it.
    """

    def __init__(self, schema, name=None):
        self.schema = schema
        self.name = schema["title"] if name is None else name
        self.version = whole_number(schema["x-diario-version"])
        self.subject_field = schema.get("x-diario-subject")
        self.fingerprint = schema_fingerprint(schema)
        properties = with_blob_fields(schema)["properties"]
        names = sorted(properties, key=lambda name: name.encode("utf-8"))
        fields = [Field(name, properties[name]) for name in names]
        self.fields = fields
        self.public_fields = [field for field in fields if not field.is_personal]
        self.personal_fields = [field for field in fields if field.is_personal]
        new_ids = [field.name for field in fields if field.is_new_id]
        self.new_id_field = new_ids[0] if new_ids else None


class Pack:
    """The files of one pack, and the types among them."""

    def __init__(self, files):
        self.files = files
        self.fingerprint = pack_fingerprint(files)
        named = parse_json(files.get("types.json", b"{}").decode("utf-8"))
        self.types = [
            read_type(path, files[path], named)
            for path in sorted(files)
            if path.startswith("events/") and path.endswith(".json")
        ]

    @property
    def name(self):
        return parse_json(self.files["pack.json"].decode("utf-8"))["name"]


def read_type(path, content, named):
    try:
        return EventType(with_types(parse_json(content.decode("utf-8")), named))
    except (KeyError, TypeError, AttributeError, UnicodeDecodeError) as error:
        raise FormatError(f"{path}: not a schema of events ({error})") from None


def read_pack(folder):
    files = {}
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in names:
            path = os.path.join(parent, name)
            with open(path, "rb") as file:
                files[os.path.relpath(path, folder).replace(os.sep, "/")] = file.read()
    return Pack(files)


def read_packs(folder):
    """The packs directly inside `folder`: its folders that hold a `pack.json`."""
    return [
        read_pack(os.path.join(folder, name))
        for name in sorted(os.listdir(folder))
        if os.path.isfile(os.path.join(folder, name, "pack.json"))
    ]


class Catalogue:
    """Finds types by name and version, and by fingerprint where several wordings exist."""

    def __init__(self, packs=()):
        self.by_fingerprint = {}
        self.by_version = {}
        for pack in packs:
            self.add(pack.types)

    def add(self, types):
        for event_type in types:
            key = (event_type.name, event_type.version)
            self.by_fingerprint[key + (event_type.fingerprint,)] = event_type
            self.by_version[key] = event_type

    def newest(self, name):
        versions = [version for other, version in self.by_version if other == name]
        return max(versions, default=1)

    def find(self, name, version, fingerprint=None):
        if fingerprint is None:
            found = self.by_version.get((name, version))
        else:
            found = self.by_fingerprint.get((name, version, fingerprint))
        if found is None:
            wanted = f" with fingerprint {fingerprint.hex()}" if fingerprint else ""
            raise FormatError(f"no schema of {name} version {version}{wanted}")
        return found
