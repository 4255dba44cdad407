"""Events as lines of JSON, the way that the command `export` of the program writes them."""

from .calendar import instant_from_milliseconds
from .canonical import number_text, string_text
from .primitives import clock_text, origin_text


def json_text(value):
    """Minimal JSON; members in the order of the bytes of their names; exact integers."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, str):
        return string_text(value)
    if isinstance(value, list):
        return "[" + ",".join(json_text(item) for item in value) + "]"
    names = sorted(value, key=lambda name: name.encode("utf-8"))
    return json_members((name, value[name]) for name in names)


def json_members(members):
    """An object with its members in the order given, without those that are None."""
    written = (f"{string_text(name)}:{json_text(value)}"
               for name, value in members if value is not None)
    return "{" + ",".join(written) + "}"


def export_line(event, payload, position, accepted_at):
    """One event; what does not apply to it is left out."""
    batch = origin_text(event.replica, event.batch_first)
    return json_members([
        ("type", event.type_name),
        ("version", event.version),
        ("payload", payload),
        ("subject", event.subject),
        ("actor", event.actor),
        ("at", instant_from_milliseconds(event.at)),
        ("ifUnchanged", True if event.if_unchanged else None),
        ("origin", event.origin),
        ("position", position),
        ("base", event.base),
        ("clock", clock_text(event.clock)),
        ("acceptedAt", None if accepted_at is None else instant_from_milliseconds(accepted_at)),
        ("batch", batch),
    ])
