#!/usr/bin/env python3
"""Compares text keys of the program with those of a second implementation on Python's Unicode.

    text_key.py DIARIO

Asks `diario sql` for the keys of every scalar, of the golden texts, and of texts at random. A
Python with a later Unicode may know more scalars: then those are left out that the program leaves
as they are. With an earlier one nothing is checked.
"""

import json
import pathlib
import random
import unicodedata

from diario_models.text_key import VERSION, text_key
from diario_program import Diario, main, require

SEED = 20_261_127
TEXTS = 6_000
KINDS = ("same", "search")
VECTORS = pathlib.Path(__file__).resolve().parents[2] / "schema" / "vectors" / "text-key-1.json"


def number(version):
    return [int(part) for part in version.split(".")]


def rows(diario, sql):
    """The rows of a query whose columns are hexadecimal or numbers."""
    return [list(row.values()) for row in diario.good("-C", "space", "sql", "--json", sql).json]


def text_of(cell):
    return bytes.fromhex(cell).decode("utf-8")


def scalars(diario):
    """All scalars by themselves; what the program changes comes back."""
    found = {}
    for first in range(0, 0x110000, 0x10000):
        answer = rows(diario, f"""
            WITH RECURSIVE
            scalar(n) AS (SELECT {first} UNION ALL
                          SELECT n + 1 FROM scalar WHERE n < {first + 0xffff}),
            keys(n, text, same, search) AS (
                SELECT n, char(n), text_key(char(n), 'same'), text_key(char(n), 'search')
                FROM scalar WHERE n NOT BETWEEN 0xd800 AND 0xdfff)
            SELECT n, hex(same), hex(search) FROM keys WHERE same <> text OR search <> text""")
        for scalar, same, search in answer:
            found[int(scalar)] = (text_of(same), text_of(search))
    left_out = 0
    for scalar in range(0x110000):
        if 0xd800 <= scalar < 0xe000:
            continue
        text = chr(scalar)
        expected = tuple(text_key(text, kind) for kind in KINDS)
        actual = found.get(scalar, (text, text))
        if actual == expected:
            continue
        later = number(unicodedata.unidata_version) > number(VERSION)
        require(later and scalar not in found,
                f"U+{scalar:04X}: the program has {actual!a}, Python {expected!a}")
        left_out += 1
    return found, left_out


def texts(chance, known):
    """Texts of scalars that become others, marks, blanks and plain letters."""
    changed = sorted(known)
    marks = [chr(scalar) for scalar in range(0x110000) if unicodedata.combining(chr(scalar))
             and (scalar in known or number(unicodedata.unidata_version) == number(VERSION))]
    for _ in range(TEXTS):
        yield "".join(chance.choice((
            lambda: chr(chance.choice(changed)), lambda: chance.choice(marks),
            lambda: chance.choice(" \t\u00a0\u200b\u0345\u0301\u0323'\u2019"),
            lambda: chance.choice("abcXYZ\u00e9\u00c5\uac01"),
        ))() for _ in range(chance.randrange(1, 12)))


def compare(diario, all_texts):
    for start in range(0, len(all_texts), 300):
        part = all_texts[start:start + 300]
        values = ", ".join(f"({index}, CAST(x'{text.encode('utf-8').hex()}' AS TEXT))"
                           for index, text in enumerate(part))
        answer = rows(diario, f"""
            WITH given(n, text) AS (VALUES {values})
            SELECT n, hex(text_key(text, 'same')), hex(text_key(text, 'search')) FROM given""")
        require(len(answer) == len(part), "a text has no keys")
        for index, *keys in answer:
            text = part[int(index)]
            expected = [text_key(text, kind) for kind in KINDS]
            require([text_of(key) for key in keys] == expected,
                    f"{text!a}: the program has {keys}, Python {expected!a}")


def check(program, folder):
    if number(unicodedata.unidata_version) < number(VERSION):
        return f"left out: Python has Unicode {unicodedata.unidata_version}, not {VERSION}"
    cases = json.loads(VECTORS.read_text(encoding="utf-8"))["cases"]
    for case in cases:
        for kind in KINDS:
            require(text_key(case["text"], kind) == case[kind], f"{case['name']}: {kind}")
    diario = Diario(program, folder)
    diario.good("init", "space", "--pack", "meals")
    found, left_out = scalars(diario)
    all_texts = [case["text"] for case in cases] + list(texts(random.Random(SEED), found))
    compare(diario, all_texts)
    # Only SQL itself makes what is no UTF-8.
    broken = b"a\xff\xe2\x82b\xf0\x9f\x98"
    key = rows(diario, f"SELECT hex(text_key(CAST(x'{broken.hex()}' AS TEXT), 'same')) AS k")
    require(text_of(key[0][0]) == text_key(broken.decode("utf-8", "replace"), "same"),
            f"bytes that are no UTF-8: {key}")
    return (f"{len(found)} scalars that change and all others, and {len(all_texts)} texts, have "
            f"the same keys; {left_out} left out as later than Unicode {VERSION}")


if __name__ == "__main__":
    main("text_key.py", __doc__, check)
