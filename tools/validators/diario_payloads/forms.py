"""A pack with a field of every form; the packs of the repository use only some."""

import json

# With bounds and without.
FORMS = {
    "id": {"type": "string", "maxLength": 300, "x-diario-id": "new"},
    "small": {"type": "integer", "minimum": -3, "maximum": 3},
    "least": {"type": "integer", "minimum": 1},
    "most": {"type": "integer", "maximum": 0},
    "any": {"type": "integer"},
    "share": {"type": "number", "minimum": -0.5, "maximum": 1},
    "number": {"type": "number"},
    "text": {"type": "string", "minLength": 2, "maxLength": 5},
    "free": {"type": "string"},
    "code": {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,9}$"},
    "found": {"type": "string", "pattern": "(ab|c+)d?"},
    "dotted": {"type": "string", "pattern": "^.{2}\\.(\\w|-)+\\s?[^\\d\\s]$"},
    "long": {"type": "string", "pattern": "^(?:x{3,5}|[A-F]+)*y?$", "maxLength": 30},
    "flag": {"type": "boolean"},
    "one": {"enum": ["only"]},
    "some": {"enum": ["a", "ab", "abc", "\u00e8", "a b"], "type": "string"},
    "day": {"type": "string", "format": "date"},
    "moment": {"type": "string", "format": "date-time"},
    "key": {"type": "string", "format": "uuid"},
    "blob": {"type": "string", "contentEncoding": "base64"},
    "hash": {"type": "string", "contentEncoding": "base64", "minLength": 44, "maxLength": 44},
    "list": {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1,
             "maxItems": 3},
    "keys": {"type": "array", "items": {"type": "string", "format": "uuid"}},
    "tree": {
        "type": "object", "additionalProperties": False, "required": ["left"],
        "properties": {
            "left": {"type": "array", "maxItems": 2, "items": {
                "type": "object", "additionalProperties": False, "properties": {
                    "at": {"type": "string", "format": "date-time"},
                    "on": {"type": "string", "format": "date"},
                    "of": {"enum": ["x", "y"]},
                    "by": {"type": "string", "maxLength": 3}}}},
            "right": {"type": "number", "minimum": 0},
            "bytes": {"type": "string", "contentEncoding": "base64", "maxLength": 8}}},
}
# These have no annotations of their own.
BLOBS = {
    "photo": {"type": "object", "x-diario-blob": {
        "maxSize": 20_000_000, "types": ["image/jpeg", "image/png"]}},
    "tile": {"type": "object", "x-diario-blob": {
        "maxSize": 5, "types": ["application/octet-stream"], "public": True}},
}


def write_forms(root):
    """Makes the pack: one type with a subject, one that requires every field, one of people."""
    folder = root / "forms" / "events"
    folder.mkdir(parents=True)
    (root / "forms" / "pack.json").write_text('{"name": "forms", "version": 1}')
    every = [name for name in FORMS if name != "id"]
    personal = {name: field | {"x-diario-personal": True} for name, field in FORMS.items()
                if name != "id"}
    for version, required, properties in (
        (1, ["small", "tree"], FORMS | BLOBS), (2, [*every, *BLOBS], FORMS | BLOBS),
        (3, [], FORMS | personal | BLOBS),
    ):
        schema = {
            "title": "forms.form.filled", "x-diario-version": version, "x-diario-subject": "id",
            "type": "object", "additionalProperties": False, "required": required,
            "properties": properties}
        (folder / f"form.filled.{version}.json").write_text(json.dumps(schema, indent=1))
