#!/usr/bin/env python3
"""Records values that were made to have one hash, and compares what that takes with random ones.

    collisions.py DIARIO

Who seals events looks for equal values by hash tables. With a hash that is known, somebody could
send values that all have one slot; each is then compared with all before it, and sealing them takes
a thousand times what it should. The values here have one hash each by multipliers that were fixed
once. So the processor time for them is compared with that for random values, in one run: five
times as much would be a sign of a hash that is known again.
"""

import base64
import json
import pathlib
import random
import resource

from diario_program import Diario, main, require

SEED = 20_261_124
COUNT = 66_000
# The first ones come again, so that equal values are looked for among all of them.
REPEATED_COUNT = 8_192
RATIO_MAX = 5
WORD = (1 << 64) - 1
GOLDEN = 0x9E37_79B9_7F4A_7C15
FIRST, LAST = 0xFF51_AFD7_ED55_8CCD, 0xC4CE_B9FE_1A85_EC53


def inverse(multiplier):
    return pow(multiplier, -1, 1 << 64)


def colliding_bytes(index):
    """Eight bytes whose hash was 12,345 for each index below 2^33."""
    mixed = (12_345 << 33 | index) * inverse(LAST) & WORD
    mixed ^= mixed >> 32
    word = mixed * inverse(FIRST) & WORD ^ 8 * GOLDEN & WORD
    return word.to_bytes(8, "little")


def colliding_number(index):
    """A number whose slot was 77 of 131,072 for each index below 2^47."""
    word = (77 << 47 | index) * inverse(GOLDEN) & WORD
    return word - (1 << 64) if word >> 63 else word


def lines(field, values):
    return "\n".join(
        json.dumps({"type": "probe.value.seen", "payload": {field: value}}) for value in values)


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def write_pack(folder):
    (folder / "events").mkdir(parents=True)
    (folder / "pack.json").write_text(json.dumps({"name": "probe", "version": 1}))
    schema = {
        "title": "probe.value.seen", "x-diario-version": 1, "type": "object",
        "additionalProperties": False,
        "properties": {"data": {"type": "string", "contentEncoding": "base64"},
                       "number": {"type": "integer"}},
    }
    (folder / "events/value.seen.1.json").write_text(json.dumps(schema))


def check(program, folder):
    diario = Diario(program, folder)
    draw = random.Random(SEED)
    write_pack(pathlib.Path(folder) / "probe")
    made = {
        "data": [base64.b64encode(colliding_bytes(index)).decode() for index in range(COUNT)],
        "number": [colliding_number(index) for index in range(COUNT)],
    }
    drawn = {
        "data": [base64.b64encode(draw.randbytes(8)).decode() for _ in range(COUNT)],
        "number": [draw.randrange(-1 << 63, 1 << 63) for _ in range(COUNT)],
    }
    told = []
    for field in made:
        seconds = {}
        for kind, values in (("drawn", drawn[field]), ("made", made[field])):
            space = f"{field}-{kind}"
            diario.good("init", space, "--schema", "probe")
            repeated = draw.choices(values[:100], k=REPEATED_COUNT)
            before = processor_seconds()
            diario.good("-C", space, "record", "-", "--quiet",
                        stdin=lines(field, repeated + values))
            diario.good("-C", space, "seal")
            seconds[kind] = processor_seconds() - before
            diario.verify(space)
        ratio = seconds["made"] / seconds["drawn"]
        require(ratio <= RATIO_MAX,
                f"{field}: values made to collide took {seconds['made']:.1f} s of processor time, "
                f"random ones {seconds['drawn']:.1f} s")
        told.append(f"{field} {ratio:.1f}")
    return f"times what random values take: {', '.join(told)}"


if __name__ == "__main__":
    main("collisions.py", __doc__, check)
