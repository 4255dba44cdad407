"""Random events as the lines that `record -` takes; values come again, as those of people do."""

import json

from diario_format.schemas import read_schema, with_blob_fields

from .near_misses import encoded, fitting, text_of_length

START = 1_700_000_000_000
AGO_MAX = 10**9
SUBJECT_SIZE_MAX = 256
REPEAT = 0.6


class Lines:
    """Events of the types in the files of some folders, from one source of chance."""

    def __init__(self, paths, chance):
        self.types = [with_blob_fields(read_schema(path))
                      for path in paths]
        self.chance = chance
        self.known = {}

    def remembered(self, key, make):
        """One of the last values that were given for this key, or a new one."""
        values = self.known.setdefault(key, [])
        if not values or self.chance.random() > REPEAT:
            values.append(make())
        return self.chance.choice(values[-20:])

    def text(self, size_max):
        return text_of_length(self.chance, self.chance.randint(1, size_max // 4))

    def field(self, schema, name):
        field = schema["properties"][name]
        is_new = field.get("x-diario-id") == "new"
        value = None
        while value is None or (name == schema.get("x-diario-subject")
                                and not 1 <= len(str(value).encode()) <= SUBJECT_SIZE_MAX):
            value = fitting(self.chance, field) if is_new else self.remembered(
                (schema["title"], schema["x-diario-version"], name),
                lambda: fitting(self.chance, field))
        return value

    def line(self):
        schema = self.chance.choice(self.types)
        required, share = schema["required"], self.chance.random()
        names = [name for name in schema["properties"]
                 if name in required or self.chance.random() < share]
        for name in list(names):
            names += [other for other in schema["dependentRequired"].get(name, [])
                      if other not in names]
        event = {
            "type": schema["title"], "version": schema["x-diario-version"],
            "at": START - self.chance.randrange(AGO_MAX),
            "payload": {name: self.field(schema, name) for name in names},
        }
        if self.chance.random() < 0.6:
            event["actor"] = self.remembered("actor", lambda: self.text(128))
        if "x-diario-subject" not in schema and self.chance.random() < 0.4:
            event["subject"] = self.remembered("subject", lambda: self.text(SUBJECT_SIZE_MAX))
        if self.chance.random() < 0.1:
            event["ifUnchanged"] = True
        return encoded(self.chance, event)
