#!/usr/bin/env python3
"""Asks the queries of researchers about 20,000 reports, and computes the same in plain Python.

    fish_research.py DIARIO

The reports come in as a table, so that their answers are the program's; some are withdrawn,
amended and reviewed afterwards. Also says how long the read models take to be built again.
"""

import collections
import json
import math
import random
import time

from diario_program import Diario, main, require

COUNT = 20_000
COLUMNS = ("id_fish", "fish_name", "detectedSize", "eligibilitySize", "eligibilityDate", "origin",
           "production", "townReport", "observedOn")
# Number, name, id, minimum in mm, its kind and closed months: table 1.2 of the thesis.
SPECIES = [(1, "Sardina", "sardina", 110, "legal", range(5, 10)),
           (2, "Acciuga", "acciuga", 90, "legal", range(4, 12)),
           (3, "Sogliola", "sogliola", 200, "legal", range(1, 5)),
           (6, "Sgombro", "sgombro", 180, "legal", range(3, 5))]
ORIGINS = {"Mar Mediterraneo": "mediterranean", "Altro": "other"}
PRODUCTIONS = {"pescato fresco": "wild_fresh", "allevamento": "farmed", "sconosciuto": "unknown"}
TOWNS = {"Talamone (Orbetello)": "talamone", "Albinia (Orbetello)": "albinia",
         "Porto Ercole (Monte Argentario)": "porto_ercole"}
PARENTS = {"talamone": "orbetello", "albinia": "orbetello", "porto_ercole": "monte_argentario"}


class Report:
    """A fish, and what is to be said of it."""

    def __init__(self, chance):
        (self.number, self.name, self.species, self.least, _, self.closed) = chance.choice(SPECIES)
        self.length = max(20, round(chance.gauss(self.least * 1.05, self.least * 0.25)))
        self.year, self.month = chance.randrange(2014, 2019), chance.randrange(1, 13)
        self.day = f"{self.year}-{self.month:02}-{chance.randrange(1, 29):02}"
        self.origin, self.production = chance.choice(list(ORIGINS)), chance.choice(
            list(PRODUCTIONS))
        self.town = chance.choice(list(TOWNS))

    @property
    def place(self):
        return TOWNS[self.town]

    @property
    def is_short(self):
        return self.length < self.least

    @property
    def is_closed(self):
        return self.month in self.closed

    @property
    def is_good(self):
        return not self.is_short and not self.is_closed

    @property
    def line(self):
        return (f"{self.number},{self.name},{self.length},{int(not self.is_short)},"
                f"{int(not self.is_closed)},{self.origin},{self.production},{self.town},{self.day}")


def counts(reports):
    return {"reports": len(reports), "tooSmall": sum(each.is_short for each in reports),
            "reproducing": sum(each.is_closed for each in reports),
            "bothOk": sum(each.is_good for each in reports)}


def shares(reports):
    told = counts(reports)
    return told | {f"{name}Share": told[name] / told["reports"]
                   for name in ("tooSmall", "reproducing", "bothOk")}


def lengths(reports):
    values = [each.length for each in reports]
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    return {"meanMm": mean, "deviationMm": deviation}


def grouped(reports, key):
    groups = collections.defaultdict(list)
    for report in reports:
        groups[key(report)].append(report)
    return sorted(groups.items())


def by_month(reports):
    return [{"month": month} | shares(group)
            for month, group in grouped(reports, lambda each: each.day[:7])]


def by_species(reports):
    order = [each[2] for each in SPECIES]
    rows = []
    for name, group in sorted(grouped(reports, lambda each: each.species),
                              key=lambda pair: order.index(pair[0])):
        values = [each.length for each in group]
        rows.append({"speciesId": name} | shares(group) | lengths(group)
                    | {"shortestMm": min(values), "longestMm": max(values)})
    return rows


def by_origin(reports):
    return [{"origin": origin, "production": production} | counts(group)
            for (origin, production), group in grouped(
                reports, lambda each: (ORIGINS[each.origin], PRODUCTIONS[each.production]))]


def by_method(reports):
    values = [each.length for each in reports]
    return [{"method": "unknown", "reports": len(reports),
             "tooSmall": counts(reports)["tooSmall"], "meanMm": math.fsum(values) / len(values)}]


def histogram(reports):
    bins = collections.Counter((each.length - each.least) // 5 for each in reports)
    return [{"fromMm": 5 * number, "toMm": 5 * number + 5, "reports": count}
            for number, count in sorted(bins.items())]


def places(reports):
    return {place: counts(group) for place, group in grouped(reports, lambda each: each.place)}


def outliers(reports):
    rows = []
    for name, group in grouped(reports, lambda each: each.species):
        told = lengths(group)
        for each in group:
            far = (each.length - told["meanMm"]) / told["deviationMm"]
            if abs(far) > 3:
                rows.append((name, each.day, each.length))
    return sorted(rows)


def is_close(found, wanted):
    if isinstance(wanted, float) or isinstance(found, float):
        return found is not None and math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-9)
    return found == wanted


class Space:
    def __init__(self, diario, name):
        self.diario, self.name = diario, name
        diario.good("init", name, "--pack", "fish")

    def ask(self, query, **values):
        words = [word for name, value in values.items()
                 for word in ("--param", f"{name}={value}")]
        return self.diario.good("-C", self.name, "query", query, *words, "--json").json

    def compare(self, query, wanted, **values):
        """The rows of an answer, of which the columns in `wanted` are looked at."""
        found = self.ask(query, **values)
        require(len(found) == len(wanted), f"{query}: {len(wanted)} rows", len(found))
        for row, right in zip(found, wanted):
            for name, value in right.items():
                require(is_close(row[name], value), f"{query}: {name}", (row, right))

    def call(self, name, given, actor):
        return self.diario.good("-C", self.name, "fish", name, "--input", "-", "--actor", actor,
                                "--json", stdin=json.dumps(given)).json


def compare_all(space, reports):
    space.compare("by-month", by_month(reports))
    space.compare("by-species", by_species(reports))
    space.compare("by-origin", by_origin(reports))
    space.compare("by-method", by_method(reports))
    space.compare("histogram", histogram(reports))
    found = {row["placeId"]: {name: row[name] for name in counts([])}
             for row in space.ask("map") if row["reports"]}
    require(found == places(reports), "map", found)
    found = sorted((row["speciesId"], row["observedOn"], round(row["lengthMm"]))
                   for row in space.ask("outliers", most=100_000))
    require(found == outliers(reports), "outliers", (len(found), len(outliers(reports))))
    # Parts of them, by each parameter.
    first, last = "2015-03-04", "2016-09-20"
    part = [each for each in reports if first <= each.day <= last]
    space.compare("by-species", by_species(part), first=first, last=last)
    part = [each for each in reports if each.species == "sogliola"]
    space.compare("histogram", histogram(part), speciesId="sogliola")
    part = [each for each in reports if PARENTS[each.place] == "orbetello"]
    space.compare("by-month", by_month(part), placeId="orbetello")


def everything(program, folder):
    diario = Diario(program, folder)
    chance = random.Random(20_000)
    reports = [Report(chance) for _ in range(COUNT)]
    table = folder / "table.csv"
    table.write_text("\n".join([",".join(COLUMNS), *(each.line for each in reports)]) + "\n")
    space = Space(diario, "research")
    answer = diario.good("-C", space.name, "fish", "import", str(table), "--actor", "r1",
                         "--json").json
    require(answer["imported"] == COUNT, "all reports are taken", answer)
    compare_all(space, reports)
    # What somebody does to a few of them, counts.
    known = collections.defaultdict(list)
    for row in space.ask("reports", most=100_000):
        known[row["speciesId"], row["observedOn"], row["lengthUm"] // 1000].append(row)
    chosen = chance.sample(range(COUNT), 24)
    taken = set()
    for number, index in enumerate(chosen):
        report = reports[index]
        ids = known[report.species, report.day, report.length]
        if len(ids) != 1:
            continue
        name = ids[0]["reportId"]
        if number % 3 == 0:
            space.call("report.withdraw", {"reportId": name}, "r1")
            taken.add(index)
        elif number % 3 == 1:
            space.call("report.amend", {"reportId": name, "placeId": "albinia",
                                        "lengthUm": 150_000}, "r1")
            report.length, report.town = 150, "Albinia (Orbetello)"
        else:
            space.call("report.review", {"reportId": name, "outcome": "rejected"}, "r2")
            taken.add(index)
    counted = [each for index, each in enumerate(reports) if index not in taken]
    amended = [each for index, each in enumerate(reports)
               if index in chosen and index not in taken and each.length == 150]
    require(taken and amended, "some were withdrawn, and some amended")
    space.compare("by-month", by_month(counted))
    space.compare("by-origin", by_origin(counted))
    space.compare("histogram", histogram(counted))
    began = time.monotonic()
    diario.good("-C", space.name, "rebuild", "--json")
    took = time.monotonic() - began
    space.compare("by-month", by_month(counted))
    return f"{COUNT} reports as plain Python counts them; built again in {took:.1f} s"


if __name__ == "__main__":
    main("fish_research.py", __doc__, everything)
