#!/usr/bin/env python3
"""Compares Diario's verdicts on payloads with those of PyPI's jsonschema.

    payloads.py HARNESS [--count 4000] [--seed 1]

Loads every schema of the packs of this repository, judges their examples and COUNT generated
payloads, most of them with one fault, and asks HARNESS, the program `DiarioHarness`, about each;
then the same with a pack that has a field of every form. Exits with 1 if a verdict
differs and the difference is not one of INTENDED, or if one of INTENDED is no difference any more.
Needs: pip install 'jsonschema[format]'.
"""

import argparse
import base64
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import jsonschema

from diario_format.schemas import read_schema, with_blob_fields
from diario_payloads.forms import write_forms
from diario_payloads.near_misses import encoded, fitting, mutated

# Where Diario differs on purpose. All but the last: Diario refuses what jsonschema takes.
INTENDED = {
    "zero-character": "SQLite and C end a text at U+0000, so no text may hold it.",
    "lone-surrogate": "Half of a surrogate pair has no UTF-8, and Python's decoder lets it pass.",
    "duplicate-key": "Readers disagree on which of two equal keys counts; Python takes the last.",
    "int64": "Integers are kept in 64 bits; JSON Schema knows no width.",
    "binary64": "A number beyond binary64 would be infinite; Python reads it as that.",
    "exact-decimal": "Diario reads all digits of an integer; Python rounds 1.00000000000000000001.",
    "subject-size": "A subject is a key of 1 to 256 bytes, whatever the schema allows.",
    "time-range": "A moment must lie in the years 1 to 9999 of UTC, also after its offset.",
    "final-line-feed": "Python's $ also matches before a final line feed.",
    "uuid-dashes": "Python's UUID takes dashes at any other place as well.",
    "batch-reference": "A reference like #3 stands for an id that is checked when it is known.",
}

MAY_AGREE = {"batch-reference"}  # As the harness may or may not take them.


def ecma_pattern(pattern):
    """The same pattern for Python: ECMA-262's meaning of $, ., \\d, \\w and \\s."""
    spaces = r"\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
    result, in_class, index = "", False, 0
    while index < len(pattern):
        character = pattern[index]
        if character == "\\":
            escape = pattern[index:index + 2]
            index += 2
            if escape == r"\s":
                escape = spaces if in_class else f"[{spaces}]"
            elif escape == r"\S":
                if in_class:
                    raise ValueError(f"\\S in a class is beyond this script: {pattern}")
                escape = f"[^{spaces}]"
            result += escape
            continue
        if in_class:
            in_class = character != "]"
        elif character == "[":
            in_class = True
        elif character == "$":
            character = r"\Z"
        elif character == ".":
            character = r"[^\n\r\u2028\u2029]"
        result += character
        index += 1
    return re.compile(result, re.ASCII)


def check_pattern(_, pattern, instance, __):
    if isinstance(instance, str) and not ecma_pattern(pattern).search(instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern}")


def check_encoding(_, encoding, instance, __):
    """jsonschema leaves contentEncoding alone, so Python's own decoder judges here."""
    if not isinstance(instance, str):
        return
    try:
        decoded = base64.b64decode(instance, validate=True)
    except ValueError as error:
        yield jsonschema.ValidationError(f"no {encoding}: {error}")
        return
    if base64.b64encode(decoded).decode() != instance:
        yield jsonschema.ValidationError(f"{instance} is not the one way to write its bytes")


PayloadValidator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    {"pattern": check_pattern, "contentEncoding": check_encoding})


class EventType:
    def __init__(self, path):
        self.schema = with_blob_fields(read_schema(path))
        jsonschema.Draft202012Validator.check_schema(self.schema)
        self.name = self.schema["title"]
        self.version = self.schema["x-diario-version"]
        self.validator = PayloadValidator(
            self.schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)

    def judge(self, text):
        """None if jsonschema takes the payload, else what it says."""
        try:
            payload = json.loads(text)
        except ValueError as error:
            return str(error)
        error = next(self.validator.iter_errors(payload), None)
        return error and error.message


# --- Payloads that fit --------------------------------------------------------------------------

class Harness:
    def __init__(self, command):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8",
            errors="surrogateescape")

    def judge(self, kind, text):
        request = f'{{"judge":{{"type":"{kind.name}","version":{kind.version},"payload":{text}}}}}'
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"payloads.py: the harness ended after {request}")
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        if self.process.wait(timeout=60) != 0:
            sys.exit(f"payloads.py: the harness ended with {self.process.returncode}")


class Comparison:
    def __init__(self, harness):
        self.harness = harness
        self.count = 0
        self.refused = 0
        self.differed = {}
        self.wrong = []

    def add(self, kind, text, tag=None):
        ours = self.harness.judge(kind, text)
        theirs = kind.judge(text)
        self.count += 1
        self.refused += not ours["ok"]
        if ours["ok"] == (theirs is None):
            if ours["ok"] and tag and tag not in MAY_AGREE:
                self.wrong.append(f"{kind.name}: {text[:400]}\n    both take it: {tag}")
            return
        if tag:
            self.differed[tag] = self.differed.get(tag, 0) + 1
            if ours["ok"] == (tag == "batch-reference"):
                return
        self.wrong.append(
            f"{kind.name} {kind.version}: {text[:400]}\n"
            f"    Diario: {ours}\n    jsonschema: {theirs or 'ok'}")

    def report(self, type_count, seed):
        for difference in self.wrong[:10]:
            print(difference)
        print(
            f"payloads.py: {self.count} payloads of {type_count} types, {self.refused} refused, "
            f"seed {seed}: {len(self.wrong)} unintended differences; intended: "
            + (", ".join(f"{tag} {count}" for tag, count in sorted(self.differed.items()))
               or "none"))
        return 1 if self.wrong else 0


def judge_examples(comparison, types, root):
    newest = {}
    for kind in types.values():
        if kind.version >= newest.get(kind.name, kind).version:
            newest[kind.name] = kind
    for path in sorted(root.glob("*/examples/*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            kind = types.get((event["type"], event.get("version")), newest[event["type"]])
            has_reference = re.search(r'"#[0-9]+"', line) is not None
            comparison.add(
                kind, json.dumps(event["payload"]), "batch-reference" if has_reference else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("harness")
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    own = run(options, pathlib.Path(__file__).resolve().parents[2] / "schema", [])
    with tempfile.TemporaryDirectory() as folder:
        write_forms(pathlib.Path(folder))
        return own or run(options, pathlib.Path(folder), ["--schema", folder])


def run(options, root, words):
    types = {}
    for path in sorted(root.glob("*/events/*.json")):
        kind = EventType(path)
        types[kind.name, kind.version] = kind
    if not types:
        sys.exit(f"payloads.py: there are no packs in {root}")
    comparison = Comparison(Harness([options.harness, *words]))
    judge_examples(comparison, types, root)
    chance = random.Random(options.seed)
    kinds = list(types.values())
    for _ in range(options.count):
        kind = chance.choice(kinds)
        tag = None
        if chance.random() < 0.2:
            value = fitting(chance, kind.schema)
        else:
            value, tag = mutated(chance, kind.schema, kind.schema.get("x-diario-subject"))
        subject = value.get(kind.schema.get("x-diario-subject")) if type(value) is dict else None
        if type(subject) is str and not 1 <= len(subject.encode()) <= 256:
            tag = tag or "subject-size"
        comparison.add(kind, encoded(chance, value), tag)
    comparison.harness.close()
    return comparison.report(len(types), options.seed)


if __name__ == "__main__":
    sys.exit(main())
