#!/usr/bin/env python3
"""Makes the read models of the real program a second time, and kills it while it builds them.

    models.py DIARIO

The packs' examples and weights are recorded. A second implementation applies what the program
exports, on Python's SQLite and on a newer build of it: all digests must be those of `rebuild
--json`. Then `rebuild` is killed at moments that chance draws, while another process reads the live
files all the time: it must never see an error or a file that is torn, and what is there afterwards
must be what the log says.
"""

import pathlib
import random
import sqlite3
import threading
import time

from diario_models import Event, Pack, Standard, Tables, newer
from diario_program import Diario, Failed, main, require, weight

SEED = 20_261_122
EVENTS = 3_000
KILLS = 30


def record(diario, space):
    diario.good("init", space, "--pack", "all")
    folder = pathlib.Path(__file__).resolve().parents[2] / "schema"
    for path in sorted(folder.glob("*/examples/*.jsonl")):
        diario.good("-C", space, "record", "-", "--quiet", stdin=path.read_text(encoding="utf-8"))
    lines = "".join(weight(number) + "\n" for number in range(EVENTS))
    diario.good("-C", space, "record", "-", "--quiet", stdin=lines)


def digests(diario, space):
    report = diario.good("-C", space, "rebuild", "--json").json["models"]
    return {(entry["pack"], entry["model"]): entry["digest"] for entry in report}


def second_implementation(diario, space, expected):
    packs = [Pack(path) for path in
             sorted(pathlib.Path(diario.folder, space, ".diario", "packs").iterdir())]
    lines = diario.good("-C", space, "export", "--all").events
    doors = [door for door in (Standard, newer()) if door is not None]
    for door in doors:
        for pack in packs:
            if not pack.models:
                continue
            tables = Tables(pack, door())
            for line in lines:
                if line["type"] in pack.types:
                    tables.take(Event(line, pack))
            for model in pack.models:
                own = tables.digest(model.name)
                require(own == expected[pack.name, model.name],
                        f"{pack.name}.{model.name} has another digest on SQLite {door.version}")
            listed = diario.good("-C", space, "quarantine", "list", "--json").json
            known = sorted((entry["model"], entry["origin"]) for entry in listed
                           if entry["pack"] == pack.name)
            require(sorted(entry[:2] for entry in tables.quarantine) == known,
                    f"{pack.name}: others are in quarantine: {tables.quarantine[:3]}")
    return (f"{len(expected)} read models of {len(lines)} events have the same digests on SQLite "
            f"{' and '.join(door.version for door in doors)}")


class Reader(threading.Thread):
    """Reads the live files as any program would, until it is stopped."""

    def __init__(self, folder):
        super().__init__()
        self.paths = sorted(path for path in folder.iterdir() if path.is_symlink())
        self.isOver = False
        self.faults = []
        self.count = 0

    def run(self):
        while not self.isOver:
            for path in self.paths:
                try:
                    self.read(path)
                except Exception as error:
                    self.faults.append(f"{path.name}: {error}")
            self.count += 1

    @staticmethod
    def read(path):
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)
        try:
            tables = connection.execute("SELECT name FROM diario_table").fetchall()
            applied = {row[0] for row in connection.execute("SELECT applied FROM diario_model")}
            if len(applied) != 1:
                raise Failed(f"read models stand at {applied}")
            for (table,) in tables:
                connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()
        finally:
            connection.close()


def kill_rounds(diario, space, expected, chance):
    folder = next(pathlib.Path(diario.folder, space, ".diario", "spaces").iterdir()) / "models"
    start = time.monotonic()
    digests(diario, space)
    usual = time.monotonic() - start
    reader = Reader(folder)
    reader.start()
    try:
        for number in range(KILLS):
            process = diario.start("-C", space, "rebuild")
            time.sleep(chance.random() * usual * 1.1)
            process.kill()
            process.wait()
            if number % 4 == 3:
                check(diario, space)
    finally:
        reader.isOver = True
        reader.join()
    require(not reader.faults, f"a reader saw faults: {reader.faults[:3]}")
    check(diario, space)
    require(digests(diario, space) == expected, "a rebuild after kills has other digests")
    names = [path.name for path in folder.iterdir()]
    require(not any("aside" in name or name.endswith(".new") for name in names),
            f"nothing is left of what was cut off: {names}")
    return f"{KILLS} rebuilds killed, {reader.count} rounds read meanwhile"


def check(diario, space):
    diario.good("-C", space, "rebuild", "--check")


def undo(diario, space, expected):
    diario.good("-C", space, "rebuild", "--undo")
    lines = "".join(weight(number) + "\n" for number in range(EVENTS, EVENTS + 50))
    diario.good("-C", space, "record", "-", "--quiet", stdin=lines)
    count = diario.good("-C", space, "sql", "SELECT count(*) AS n FROM weight WHERE day >= '2000'",
                        "--json").json[0]["n"]
    require(count >= 50, f"what went back goes on: {count}")
    kinds = {"9": "integer", "9.5": "real", "'9'": "text", "nine": "text", "09": "text"}
    for value, expected_kind in kinds.items():
        kind = diario.good("-C", space, "sql", "SELECT typeof(:value) AS kind", "--param",
                           f"value={value}", "--json").json[0]["kind"]
        require(kind == expected_kind, f"--param value={value} is {kind}")
    check(diario, space)
    after = digests(diario, space)
    changed = {key for key in expected if after[key] != expected[key]}
    require(changed == {("meals", "body")}, f"only weights were recorded: {changed}")


def everything(program, folder):
    diario = Diario(program, folder)
    space = "space"
    record(diario, space)
    expected = digests(diario, space)
    same = second_implementation(diario, space, expected)
    killed = kill_rounds(diario, space, expected, random.Random(SEED))
    undo(diario, space, expected)
    return f"{same}; {killed}"


if __name__ == "__main__":
    main("models.py", __doc__, everything)
