#!/usr/bin/env python3
"""Uses every command as a new user would, and with everything that can be wrong.

    cli.py DIARIO

What is asked for wrongly must be told on stderr with its place and what to do, end with 1 (or 2
where the words were wrong), and leave the log as it was; only `record -` keeps what came before a
bad line.
"""

from diario_program import Diario, main
from diario_program import commands, doors, faults, recording, shells, transfer

PARTS = (
    ("commands and help", commands.check),
    ("recording", recording.check),
    ("export, import, packs", transfer.check),
    ("CloudEvents, tables", doors.check),
    ("shells, manual, progress", shells.check),
    ("damage and refusal", faults.check),
)


def check(program, folder):
    told = []
    for name, part in PARTS:
        place = folder / name.split(",")[0].replace(" ", "-")
        place.mkdir()
        count = part(Diario(program, place), place)
        told.append(f"{name}: {count} checks")
    return "; ".join(told)


if __name__ == "__main__":
    main("cli.py", __doc__, check)
