#!/usr/bin/env python3
"""Imports tables of reports, and compares what comes of them with plain Python.

    fish_import.py DIARIO

A table as that of the old app, with thousands of rows that are alike, is imported by months and at
once, each twice; random tables, cut into files and imported in any order, some again and some with
--more, are compared with an oracle that counts fish.
"""

import collections
import itertools
import json
import random

from diario_program import Diario, main, require

HEADER = ("id_fish,fish_name,detectedSize,eligibilitySize,eligibilityDate,origin,production,"
          "townReport")
# Number, name, minimum in mm and closed months: table 1.2 of the thesis.
SPECIES = [(1, "Sardina", 110, range(5, 10)), (2, "Acciuga", 90, range(4, 12)),
           (3, "Sogliola", 200, range(1, 5)), (6, "Sgombro", 180, range(3, 5))]
ORIGINS = ["Mar Mediterraneo", "Altro"]
PRODUCTIONS = ["pescato fresco", "allevamento", "sconosciuto"]
TOWNS = ["Talamone (Orbetello)", "Albinia (Orbetello)", "Porto Ercole (Monte Argentario)"]


def row(chance, month, lengths):
    number, name, least, closed = chance.choice(SPECIES)
    length = chance.choice(lengths)
    return (f"{number},{name},{length},{int(length >= least)},{int(month not in closed)},"
            f"{chance.choice(ORIGINS)},{chance.choice(PRODUCTIONS)},{chance.choice(TOWNS)}")


class Space:
    def __init__(self, diario, folder, name):
        self.diario, self.folder, self.name = diario, folder, name
        diario.good("init", name, "--pack", "fish")

    def take(self, rows, day, *words, file="table.csv"):
        (self.folder / file).write_text("\n".join([HEADER, *rows]) + "\n")
        return self.diario.good("-C", self.name, "fish", "import", file, "--on", day, "--json",
                                "--actor", "r1", *words).json

    def counted(self):
        sql = "SELECT observedOn AS day, lengthUm AS length, placeId AS place, speciesId AS s, " \
              "origin AS o, production AS p, count(*) AS n FROM counted GROUP BY 1, 2, 3, 4, 5, 6"
        rows = self.diario.good("-C", self.name, "sql", sql, "--json").json
        return {tuple(list(row.values())[:6]): row["n"] for row in rows}


def key(line, day):
    """What the program has of a row."""
    cells = line.split(",")
    species = {"1": "sardina", "2": "acciuga", "3": "sogliola", "6": "sgombro"}[cells[0]]
    place = {"T": "talamone", "A": "albinia", "P": "porto_ercole"}[cells[7][0]]
    origin = "mediterranean" if cells[5].startswith("Mar") else "other"
    production = {"p": "wild_fresh", "a": "farmed", "s": "unknown"}[cells[6][0]]
    return (day, int(cells[2]) * 1000, place, species, origin, production)


def check_old_table(diario, folder):
    """24,000 rows with 5,843 repeats, of one month each."""
    chance = random.Random(4711)
    months = collections.defaultdict(list)
    seen = set()
    while len(seen) < 24_000 - 5_843:
        month = chance.randrange(1, 13)
        line = row(chance, month, range(50, 400))
        if line not in seen:
            seen.add(line)
            months[month].append(line)
    for _ in range(5_843):
        month = chance.randrange(1, 13)
        months[month].append(chance.choice(months[month]))
    require(sum(map(len, months.values())) == 24_000, "24,000 rows")
    parts = Space(diario, folder, "months")
    for number in range(2):
        for month, rows in sorted(months.items()):
            chance.shuffle(rows)
            answer = parts.take(rows, f"2016-{month:02}-28")
            wanted = (0, len(rows)) if number else (len(rows), 0)
            require((answer["imported"], answer["known"]) == wanted, f"month {month}", answer)
        require(sum(parts.counted().values()) == 24_000, "by months", number)
    # At once, all of it is of one day, so all answers are those of one month.
    rows = [row(chance, 2, range(50, 400)) for _ in range(24_000 - 5_843)]
    rows += chance.choices(rows, k=5_843)
    whole = Space(diario, folder, "whole")
    for number in range(2):
        answer = whole.take(rows, "2016-02-28")
        wanted = (0, 24_000) if number else (24_000, 0)
        require((answer["imported"], answer["known"]) == wanted, "at once", answer)
    require(sum(whole.counted().values()) == 24_000, "at once")


class Oracle:
    """Fish by day and row: plain files give at least as many as the one with most of them."""

    def __init__(self):
        self.known = collections.Counter()
        self.more = set()
        self.files = collections.defaultdict(set)

    def take(self, rows, day, name, more):
        counts = collections.Counter()
        imported = 0
        for line, text in enumerate(rows, 2):
            counts[text] += 1
            if more:
                if (line, text, day) in self.files[name]:
                    continue
                self.files[name].add((line, text, day))
                self.known[text, day] += 1
                imported += 1
            elif counts[text] > self.known[text, day]:
                self.known[text, day] += 1
                self.files[name].add((line, text, day))
                imported += 1
        return imported

    def counted(self):
        found = collections.Counter()
        for (text, day), count in self.known.items():
            found[key(text, day)] += count
        return dict(found)


def check_random(diario, folder, seed):
    chance = random.Random(seed)
    space, oracle = Space(diario, folder, f"random-{seed}"), Oracle()
    # Few different rows, so that many are alike.
    pool = [row(chance, 2, range(100, 103)) for _ in range(12)]
    files = []
    for number in range(6):
        rows = chance.choices(pool, k=chance.randrange(1, 400))
        files.append((f"file-{number}.csv", rows))
    for _ in range(14):
        name, rows = chance.choice(files)
        day = chance.choice(["2016-02-01", "2016-02-02"])
        more = chance.random() < 0.3
        answer = space.take(rows, day, *(["--more"] if more else []), file=name)
        wanted = oracle.take(rows, day, name, more)
        require(answer["imported"] == wanted and answer["imported"] + answer["known"] == len(rows),
                f"seed {seed}, {name}, {day}, {more}: {wanted}", answer)
    require(space.counted() == oracle.counted(), f"seed {seed}", space.counted())
    diario.good("-C", space.name, "rebuild", "--check")


FIELDS = {
    "species": [{"speciesId": "acciuga"}, {"speciesId": "sogliola"}],
    "place": [{"placeId": "albinia"}, {"placeId": "giannella"}],
    "day": [{"observedOn": "2026-05-20"}, {"observedOn": "2026-01-20"}],
    "length": [{"lengthUm": 100_000}, {"lengthUm": 210_000}],
    "origin": [{"origin": "other"}, {"origin": "mediterranean"}],
    "production": [{"production": "farmed"}, {"production": "unknown"}],
    "bought": [{"boughtOn": "2026-01-10"}, {"boughtOn": "2026-01-11"}],
    "boughtPlace": [{"boughtPlaceId": "orbetello"}, {"boughtPlaceId": "talamone"}],
}
RULES = {"sardina": (110, range(5, 10)), "acciuga": (90, range(4, 12)),
         "sogliola": (200, range(1, 5))}


def judged(changes):
    """What follows from a report with changes, in their order."""
    now = {"speciesId": "sardina", "observedOn": "2026-02-10", "lengthUm": 113_000,
           "origin": "mediterranean", "production": "wild_fresh"}
    for change in changes:
        now |= change
    least, closed = RULES[now["speciesId"]]
    size = "ok" if now["lengthUm"] >= least * 1000 else "undersize"
    date = "reproducing" if int(now["observedOn"][5:7]) in closed else "in_season"
    applies = ("informative" if now["production"] == "farmed" else
               "size_only" if now["origin"] == "other" else "full")
    return {"sizeResult": size, "dateResult": date, "applicability": applies}


def check_amendments(diario, folder):
    """Each command says the answers that the tables have after it, dry or not."""
    diario.good("init", "amended", "--pack", "fish")
    diario.good("-C", "amended", "actor", "set", "u1")

    def call(command, *words, **given):
        return diario.good("-C", "amended", "fish", command, "--json", "--input", "-", *words,
                           stdin=json.dumps(given)).json

    count = 0
    for first, second in itertools.product(FIELDS, FIELDS):
        name = f"{first}-{second}"
        call("assessment.start", assessmentId=name, speciesId="sardina", startedOn="2026-02-10")
        call("length.enter", assessmentId=name, lengthUm=113_000)
        call("verdict.issue", assessmentId=name)
        call("report.file", reportId=name, assessmentId=name, origin="mediterranean",
             production="wild_fresh", placeId="talamone")
        changes = []
        for change in (FIELDS[first][0], FIELDS[second][1]):
            changes.append(change)
            wanted = judged(changes)
            for words in (["--dry-run"], []):
                result = call("report.amend", *words, reportId=name, **change)["result"]
                require({k: result[k] for k in wanted} == wanted, f"{name}: {changes}", result)
        row = diario.good("-C", "amended", "query", "report", "--param", f"reportId={name}",
                          "--json").json[0]
        require(row["status"] == "counted" and {k: row[k] for k in wanted} == wanted, name, row)
        count += 1
        if count % 16 == 0:
            diario.good("-C", "amended", "rebuild", "--check")
    return count


def check(path, folder):
    diario = Diario(path, folder)
    pairs = check_amendments(diario, folder)
    for seed in range(6):
        check_random(diario, folder, seed)
    check_old_table(diario, folder)
    return (f"an old table of 24,000 rows four times, 6 seeds of random tables, {pairs} pairs of "
            "amendments")


if __name__ == "__main__":
    main("fish_import.py", __doc__, check)
