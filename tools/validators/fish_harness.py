#!/usr/bin/env python3
"""Compares Diario's measurements and verdicts of fish with a second computation, by numpy.

    fish_harness.py HARNESS [--count 10000] [--seed 1]

Asks HARNESS, the program `DiarioHarness`, for COUNT random lengths by each method and COUNT
verdicts. The computations here share no code and, where there are two ways, no way with ours: a
circle by its three sides, an ellipse by the six-dimensional problem of Fitzgibbon, perspective by
turning rays level, a card by a singular value decomposition, seasons by the words of the thesis's
table. Half of the perspective photos are made from a scene, whose true length must come out as
well. Exits with 1 if anything differs.
Needs: pip install numpy.
"""

import argparse
import calendar
import datetime
import decimal
import json
import random
import subprocess
import sys

import numpy as np

from diario_fish.lengths import METHODS, marking_error, measure, pixels
from diario_fish.photos import CARD, perspective, plain

# The thesis's Table 1.2 in words: name, minimum in cm, kind, first and last month of reproduction.
TABLE = [
    ("Sardina", 11, "legal", "Maggio", "Settembre"),
    ("Acciuga", 9, "legal", "Aprile", "Novembre"),
    ("Sogliola", 20, "legal", "Gennaio", "Aprile"),
    ("Merluzzo o Nasello", 20, "legal", "Dicembre", "Giugno"),
    ("Gambero Rosa Mediterraneo", 2, "legal", "Aprile", "Dicembre"),
    ("Sgombro", 18, "legal", "Marzo", "Aprile"),
    ("Seppia", 15, "recommended", "Aprile", "Luglio"),
    ("Calamaro", 12, "recommended", "Marzo", "Aprile"),
    ("Triglia di fango", 11, "legal", "Aprile", "Agosto"),
    ("Costardella", None, "none", "Ottobre", "Dicembre"),
]
MONTHS = ("Gennaio Febbraio Marzo Aprile Maggio Giugno Luglio Agosto Settembre Ottobre Novembre "
          "Dicembre").split()


class Harness:
    def __init__(self, command):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def ask(self, question):
        self.process.stdin.write(json.dumps({"fish": question}, separators=(",", ":")) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"fish_harness.py: the harness ended after {question}")
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        if self.process.wait(timeout=60) != 0:
            sys.exit(f"fish_harness.py: the harness ended with {self.process.returncode}")


class Comparison:
    def __init__(self, harness):
        self.harness = harness
        self.wrong = []
        self.told = []

    def differ(self, question, ours, theirs):
        self.wrong.append(f"{json.dumps(question)}\n    Diario: {ours}\n    numpy:  {theirs}")

    def lengths(self, chance, method, count):
        refused = sigmas = 0
        worst = 0.0
        for _ in range(count):
            make = perspective if method in ("rectified", "card") else plain
            question, truth = make(chance, method)
            length = measure(question)
            if length is None:
                continue
            ours = self.harness.ask({"measure": question})
            if "refused" in ours:
                refused += 1
                if not self.may_refuse(question, ours, length):
                    self.differ(question, ours, length)
                continue
            if abs(ours["length"] - length) > 0.51 + 1e-7 * length:
                self.differ(question, ours, length)
                continue
            worst = max(worst, abs(ours["length"] - length))
            # Marks are rounded to a thousandth of a pixel.
            if truth and abs(ours["length"] - truth) > 30 + 3e-4 * truth:
                self.differ(question, ours, f"made as {truth}")
            if method in ("rectified", "card") and question["focal"]:
                camera = METHODS[method].camera
                if abs(ours["camera"] - camera) > 0.51 + 1e-7 * camera:
                    self.differ(question, ours, f"camera {camera}")
            # Dear here, as each mark is moved: not for all.
            if method in ("pins2", "views", "rectified", "card") and chance.random() < 0.05:
                sigma = marking_error(question, length)
                sigmas += 1
                if sigma and abs(ours["marking"] - sigma) > 5 + 0.15 * sigma:
                    self.differ(question, ours, f"marking error {sigma}")
        self.told.append(f"{method} {count} ({refused} refused, {sigmas} errors)")

    @staticmethod
    def may_refuse(question, ours, length):
        """True if a refusal is due; the bounds leave room for rounding."""
        if ours["refused"] == "out_of_range" and ours["field"] == "length":
            return not 1001 < length < 4_999_999
        if ours["refused"] == "too_small":
            whole = np.sum(np.abs(np.diff(pixels(question["fish"]))))
            across = question.get("disc", CARD[1:])[0] / (length / whole)
            return across < 30
        return False

    def verdicts(self, chance, count):
        catalogue, closed = [], {}
        for name, minimum, kind, first, last in TABLE:
            months, month = [], MONTHS.index(first)
            while MONTHS[month] != last:
                months.append(MONTHS[month])
                month = (month + 1) % 12
            closed[name] = {*months, last}
            catalogue.append({
                "id": name.replace(" ", "_"), "kind": kind,
                "minimum": minimum and minimum * 10_000,
                "mask": sum(1 << MONTHS.index(month) for month in closed[name])})
        cells = sum(12 - len(months) for months in closed.values())
        if cells != 71:
            sys.exit(f"fish_harness.py: the table has {cells} open cells, not 71")
        for _ in range(count):
            index = chance.randrange(10)
            name, minimum, kind, _, _ = TABLE[index]
            year, month = chance.randrange(1990, 2100), chance.randrange(1, 13)
            last = calendar.monthrange(year, month)[1]
            day = datetime.date(year, month, chance.choice((1, 28, last, chance.randint(1, last))))
            least = (minimum or 11) * 10_000
            length = chance.choice((least - 1, least, least + 1, chance.randrange(1000, 400_000)))
            sigma = chance.choice((None, 0, 1, chance.randrange(1, 20_000)))
            is_long = minimum is None or decimal.Decimal(length) / 10_000 >= minimum
            word = MONTHS[month - 1]
            expected = {
                "size": "not_required" if kind == "none" else "ok" if is_long else
                        "undersize" if kind == "legal" else "below_recommended",
                "borderline": bool(minimum and sigma and abs(length - least) <= 2 * sigma),
                "date": "reproducing" if word in closed[name] else "in_season",
                "month": month,
            }
            question = {"catalogue": catalogue, "species": name.replace(" ", "_"),
                        "day": day.isoformat(), "length": length, "sigma": sigma}
            ours = self.harness.ask({"judge": question})
            if ours != expected:
                self.differ({**question, "catalogue": "..."}, ours, expected)
        self.told.append(f"verdicts {count}")

def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("harness")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    comparison = Comparison(Harness([options.harness]))
    chance = random.Random(options.seed)
    for method in METHODS:
        comparison.lengths(chance, method, options.count)
    comparison.verdicts(chance, options.count)
    comparison.harness.close()
    for difference in comparison.wrong[:10]:
        print(difference)
    print(f"fish_harness.py: {', '.join(comparison.told)}, seed {options.seed}: "
          f"{len(comparison.wrong)} differences")
    return 1 if comparison.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
