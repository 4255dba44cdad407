"""Payloads that fit a schema, and payloads with one fault."""

import base64
import json
import re


class Raw(str):
    """A piece of JSON text that is written unchanged."""


ALPHABET = "abcxyzABC019 _-.,:/'\u00e8\u20ac\u00fc\n\t\"\\"
ASTRAL = "\U0001f41f\U0001f3dd\U00010348"


def matching_text(chance, pattern):
    """A text that the pattern matches, made from Python's own parse tree of it."""
    def make(tree):
        return "".join(make_node(operation, argument) for operation, argument in tree)

    def make_node(operation, argument):
        name = str(operation)
        if name == "LITERAL":
            return chr(argument)
        if name == "NOT_LITERAL":
            return "b" if argument == ord("a") else "a"
        if name == "ANY":
            return chance.choice("abz09")
        if name == "IN":
            known = [chr(code) for code in range(32, 127)
                     if re.fullmatch(ecma_class, chr(code))] if (
                         ecma_class := class_text(argument)) else []
            return chance.choice(known)
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            low, high, body = argument
            return "".join(make(body) for _ in range(chance.randint(low, min(high, low + 3))))
        if name == "SUBPATTERN":
            return make(argument[3])
        if name == "BRANCH":
            return make(chance.choice(argument[1]))
        if name == "AT":
            return ""
        raise ValueError(f"{name} in {pattern} is beyond this script")

    def class_text(items):
        text = ""
        for operation, argument in items:
            name = str(operation)
            if name == "NEGATE":
                text += "^"
            elif name == "LITERAL":
                text += f"\\x{argument:02x}" if argument < 256 else f"\\u{argument:04x}"
            elif name == "RANGE":
                low, high = argument
                text += f"\\u{low:04x}-\\u{min(high, 0xffff):04x}"
            else:
                text += {"CATEGORY_DIGIT": r"\d", "CATEGORY_NOT_DIGIT": r"\D",
                         "CATEGORY_WORD": r"\w", "CATEGORY_NOT_WORD": r"\W",
                         "CATEGORY_SPACE": r"\s", "CATEGORY_NOT_SPACE": r"\S"}[str(argument)]
        return f"[{text}]"

    return make(re._parser.parse(pattern, re.ASCII))


def text_of_length(chance, length, characters=ALPHABET + ASTRAL):
    return "".join(chance.choice(characters) for _ in range(length))


def fitting_string(chance, schema):
    low = schema.get("minLength", 0)
    high = min(schema.get("maxLength", low + 20), low + 40)
    if "pattern" in schema:
        for _ in range(200):
            text = matching_text(chance, schema["pattern"])
            if low <= len(text) <= schema.get("maxLength", len(text)):
                return text
        raise ValueError(f"no text found for {schema}")
    if schema.get("contentEncoding") == "base64":
        sizes = [size for size in range(120) if low <= (size + 2) // 3 * 4 <= high]
        if not sizes:
            raise ValueError(f"no base64 fits {schema}")
        return base64.b64encode(chance.randbytes(chance.choice(sizes))).decode()
    year, month, day = chance.randint(1, 9999), chance.randint(1, 12), chance.randint(1, 28)
    date = f"{year:04}-{month:02}-{day:02}"
    if schema.get("format") == "date":
        return date
    if schema.get("format") == "date-time":
        fraction = chance.choice(["", ".5", ".123", ".123456789"])
        zone = chance.choice(["Z", "z", "+00:00", "-00:00", "+05:30", "-11:59"])
        date = date.replace(f"{year:04}", f"{max(2, min(9998, year)):04}", 1)
        time = f"{chance.randint(0, 23):02}:{chance.randint(0, 59):02}:{chance.randint(0, 59):02}"
        return date + chance.choice("Tt") + time + fraction + zone
    if schema.get("format") == "uuid":
        digits = f"{chance.getrandbits(128):032x}"
        text = "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]])
        return chance.choice([text, text.upper()])
    return text_of_length(chance, chance.randint(low, high))


def fitting(chance, schema):
    """A value that fits; numbers in all their spellings."""
    if "enum" in schema:
        return chance.choice(schema["enum"])
    kind = schema["type"]
    if kind == "string":
        return fitting_string(chance, schema)
    if kind == "boolean":
        return chance.random() < 0.5
    if kind == "integer":
        low, high = schema.get("minimum", -2**63), schema.get("maximum", 2**63 - 1)
        value = chance.choice([low, high, chance.randint(low, high), max(low, min(high, 1000))])
        spellings = [str(value)]
        if abs(value) < 2**53:
            spellings += [f"{value}.0", f"{value}.00e0", f"{value}E+0"]
            spellings += [f"{value}0e-1"] if value else []
        return Raw(chance.choice(spellings))
    if kind == "number":
        low, high = schema.get("minimum", -1e6), schema.get("maximum", 1e6)
        value = chance.choice([low, high, chance.uniform(low, high), round(chance.uniform(
            low, high), 3)])
        return Raw(repr(min(high, max(low, value))))
    if kind == "array":
        low = schema.get("minItems", 0)
        count = chance.randint(low, max(low, min(schema.get("maxItems", low + 4), low + 4)))
        return [fitting(chance, schema["items"]) for _ in range(count)]
    required = schema.get("required", [])
    return {name: fitting(chance, field) for name, field in schema.get("properties", {}).items()
            if name in required or chance.random() < 0.5}


# --- Payloads with one fault, or close to one ----------------------------------------------------
# Each function gives (value, tag): a tag of INTENDED where the verdicts are meant to differ.

OTHER_TYPES = [Raw("null"), True, Raw("1"), Raw("1.5"), "x", [], {}, Raw("-0"), Raw("[[]]")]


def near_integer(chance, schema, _):
    low, high = schema.get("minimum"), schema.get("maximum")
    choices = [(Raw("0.5"), None), (Raw("1e-1"), None), ("1", None), (True, None),
               (Raw("1e400"), None), (Raw("-1.5e0"), None)]
    if low is not None:
        choices += [(Raw(str(low - 1)), None), (Raw(f"{low - 1}.0"), None)]
    if high is not None:
        choices += [(Raw(str(high + 1)), None), (Raw(f"{high + 1}0e-1"), None)]
    if high is None:
        choices += [(Raw(str(2**63)), "int64"), (Raw("1e19"), "int64")]
    inside = low if low is not None else 1
    if abs(inside) < 2**53:
        choices.append((Raw(f"{inside}.{'0' * 30}1"), "exact-decimal"))
    return chance.choice(choices)


def near_number(chance, schema, _):
    choices = [("1", None), (True, None), (Raw("1e"), None)]
    if "minimum" in schema:
        low = schema["minimum"]
        choices += [(Raw(repr(low - abs(low) * 1e-12 - 1e-12)), None), (Raw(repr(low)), None)]
    if "maximum" in schema:
        high = schema["maximum"]
        choices += [(Raw(repr(high + abs(high) * 1e-12 + 1e-12)), None), (Raw(repr(high)), None)]
    else:
        choices.append((Raw("1e400"), "binary64"))
    return chance.choice(choices)


def near_date(chance, _, __):
    return chance.choice([
        "2026-02-29", "2024-02-29", "2026-13-01", "2026-00-10", "2026-1-01", "2026-04-31",
        "20260401", "2026-04-01Z", "2026-04-01T00:00:00Z", "0000-01-01", "0001-01-01",
        "9999-12-31", "2026-04-01 ", "\u0662026-04-01", "2026-04-01\n"]), None


def near_date_time(chance, _, __):
    return chance.choice([
        ("2026-04-01T00:00:00", None), ("2026-04-01T24:00:00Z", None),
        ("2026-04-01T00:60:00Z", None), ("2026-04-01T00:00:60Z", None),
        ("2026-04-01 00:00:00Z", None), ("2026-04-01T00:00Z", None), ("2026-04-01", None),
        ("2026-02-29T00:00:00Z", None), ("2026-04-01T00:00:00.Z", None),
        ("2026-04-01T00:00:00,5Z", None), ("2026-04-01T00:00:00+0100", None),
        ("2026-04-01T00:00:00+24:00", None), ("2026-04-01T00:00:00+01:60", None),
        ("2026-04-01t00:00:00z", None), ("2026-04-01T00:00:00.123456789123456789Z", None),
        ("0001-01-01T00:00:00+00:01", "time-range"), ("9999-12-31T23:59:59-00:01", "time-range"),
        ("0000-12-31T23:59:59Z", None), ("2026-04-01T00:00:00Z\n", "final-line-feed")])


def near_uuid(chance, schema, _):
    text = fitting_string(chance, schema)
    return chance.choice([
        (text[:-1], None), (text + "0", None), (text[:-1] + "g", None),
        (text.replace("-", ""), None), ("{" + text + "}", None), ("urn:uuid:" + text, None),
        (text[:9] + text[10:13] + "-" + text[9] + text[14:], None),
        (text[:30] + "-" + text[30:], "uuid-dashes")])


def near_bytes(chance, schema, _):
    text = fitting_string(chance, schema)
    changed = [text + "=", text[:-1], text.replace("A", "-") + "-", "AB==", "AAB=", "A===", "====",
               text + " ", text[:-1] + "\n"]
    low, high = schema.get("minLength", 0), schema.get("maxLength", 60)
    changed += ["A" * (high // 4 * 4 + 4), "A" * max(0, (low - 1) // 4 * 4)]
    return chance.choice(changed), None


def near_string(chance, schema, is_subject):
    low, high = schema.get("minLength", 0), schema.get("maxLength")
    choices = [(fitting(chance, schema) + "\0", "zero-character")]
    choices.append((Raw('"\\ud800"'), "lone-surrogate"))
    if low > 0:
        choices.append((text_of_length(chance, low - 1), None))
        choices.append((text_of_length(chance, low - 1, ASTRAL), None))
    if high is not None:
        choices.append((text_of_length(chance, high + 1, "abc"), None))
        choices.append((text_of_length(chance, high + 1, ASTRAL), None))
        choices.append((text_of_length(chance, high, ASTRAL), None))
    if "pattern" in schema:
        text = fitting(chance, schema)
        place = chance.randrange(len(text) + 1)
        choices += [(text[:place] + chance.choice("!A~\u00e8 0") + text[place + 1:], None),
                    (text + "\n", None), (" " + text, None), (text[:-1], None)]
    if is_subject:
        choices += [("", None), (text_of_length(chance, 100, ASTRAL), None)]
    value, tag = chance.choice(choices)
    # A tag tells a difference only if nothing else is wrong with the value.
    if tag == "zero-character":
        if high is not None and len(value) > high or "pattern" in schema:
            return chance.choice([("x" * (high or 9) + "y", None), ("", None)])
    if tag == "lone-surrogate" and ("pattern" in schema or low > 1 or high == 0):
        return "", None
    return value, tag


def near_enum(chance, schema, _):
    value = chance.choice(schema["enum"])
    return chance.choice([value + "x", value[:-1], value.upper(), " " + value, "", Raw("1"),
                          Raw("0"), True, [value]]), None


def near_array(chance, schema, _):
    low, high = schema.get("minItems", 0), schema.get("maxItems")
    items = [fitting(chance, schema["items"]) for _ in range(low)]
    choices = [{}, "[]", items + [Raw("null")]]
    if low > 0:
        choices.append(items[:-1])
    if high is not None:
        one = fitting(chance, schema["items"])
        choices += [[one] * (high + 1), [one] * high]
    return chance.choice(choices), None


def near_object(chance, schema, _):
    value = fitting(chance, schema)
    required = [name for name in schema.get("required", []) if name in value]
    choices = ["unknown", "null", "type"] + ["missing"] * bool(required)
    choices += ["duplicate"] * bool(value)
    choice = chance.choice(choices)
    if choice == "missing":
        del value[chance.choice(required)]
    elif choice == "unknown":
        name = chance.choice(list(schema.get("properties", {})) or ["a"])
        name = chance.choice([name + "x", name.upper() + "_", name[:-1] + "?", "", "__proto__"])
        value[name] = Raw("1")
    elif choice == "null" and schema.get("properties"):
        value[chance.choice(list(schema["properties"]))] = Raw("null")
    elif choice == "duplicate":
        value[Raw("duplicate")] = chance.choice(list(value))
        return value, "duplicate-key"
    else:
        return chance.choice([[], "x", Raw("1"), Raw("null"), [value]]), None
    return value, None


def near(chance, schema, is_subject=False):
    if chance.random() < 0.15:
        return chance.choice(OTHER_TYPES), None
    if "enum" in schema:
        return near_enum(chance, schema, is_subject)
    if schema["type"] == "string":
        if "contentEncoding" in schema:
            return near_bytes(chance, schema, is_subject)
        return {"date": near_date, "date-time": near_date_time, "uuid": near_uuid}.get(
            schema.get("format"), near_string)(chance, schema, is_subject)
    return {"integer": near_integer, "number": near_number, "array": near_array,
            "object": near_object, "boolean": lambda *_: (chance.choice(
                [Raw("0"), Raw("1"), "true", Raw("null"), Raw("tru")]), None),
            }[schema["type"]](chance, schema, is_subject)


def mutated(chance, schema, subject=None, is_subject=False, is_top=True):
    """A fitting value in which one place, at any depth, is replaced by a near miss."""
    fields = schema.get("properties", {})
    if schema.get("type") == "object" and fields and chance.random() < (0.9 if is_top else 0.7):
        value = fitting(chance, schema)
        name = chance.choice(list(fields))
        value[name], tag = mutated(chance, fields[name], None, name == subject, False)
        return value, tag
    if schema.get("type") == "array" and chance.random() < 0.6:
        value = fitting(chance, schema)
        if value:
            place = chance.randrange(len(value))
            value[place], tag = mutated(chance, schema["items"], is_top=False)
            return value, tag
    return near(chance, schema, is_subject)


# --- Text ---------------------------------------------------------------------------------------


def encoded(chance, value):
    """JSON of `value`: members in any order, blanks anywhere, escapes now and then."""
    def blank():
        return chance.choice(["", "", "", " ", "\t", "\r "])

    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=chance.random() < 0.5)
    if isinstance(value, list):
        return "[" + ",".join(blank() + encoded(chance, item) + blank() for item in value) + "]"
    if isinstance(value, dict):
        members = [(name, item) for name, item in value.items() if not isinstance(name, Raw)]
        if chance.random() < 0.5:
            chance.shuffle(members)
        members += [(item, value[item]) for name, item in value.items() if isinstance(name, Raw)]
        return "{" + ",".join(
            blank() + encoded(chance, name) + blank() + ":" + blank() + encoded(chance, item)
            for name, item in members) + blank() + "}"
    return json.dumps(value)


# --- The comparison -----------------------------------------------------------------------------
