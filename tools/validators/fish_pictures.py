#!/usr/bin/env python3
"""Looks for coins in pictures whose truth is known, and lets OpenCV look for them as well.

    fish_pictures.py DIARIO [COUNT]

The pictures are of three kinds. Photographs of coins are put on photographs of grounds (COUNT, 300
if not given, and as many grounds without a coin): a find is right if its middle and its diameter
are within 4 % of the diameter. The program makes half as many plain and hard pictures, and as many
without a coin: there a find is right within 2 %. Beside it are both methods of OpenCV's
HoughCircles, each with the parameters of a small grid that find most coins in other pictures of the
same kind. They look at a reduced picture first, as our finder does, and then again around the best
circle of it in the whole picture. All figures are printed as one table, each with its aim and the
bound below which this check fails: the aim, or a little less than was reached where it was not.
Takes about ten minutes. Needs what `tools/setup --pictures` installs.
"""

import itertools
import json
import math
import pathlib
import resource
import statistics

import cv2

from diario_fish.coins import CHOOSING, FIGURES, CoinPictures
from diario_program import Diario, main, require

CONTRAST_MIN = 25
# Of the diameter: in made pictures, and on photographs.
TOLERANCE, PHOTO_TOLERANCE = 0.02, 0.04
TUNING_COUNT = 20
PART = 50
TUNING_SEED, SEED = 70_000, 80_000
FISH_TOLERANCE = 0.05
# Each figure's aim and bound.
PHOTO_FOUND = (0.8, 0.65)
PHOTO_MEDIAN = (0.02, 0.02)
PLAIN_FOUND = (0.88, 0.88)
HARD_FOUND = (0.39, 0.31)
WRONG, MADE_WRONG = (0.02, 0.02), (0.02, 0.06)
FISH_FOUND = (0.75, 0.69)
# For a picture of a megapixel, and for one of 12: the whole command, which also reads the file,
# looks for the fish and tells the quality. The aims are those of the finder alone.
MILLISECONDS, LARGE_MILLISECONDS = (60, 130), (150, 450)
# Sizes that our finder takes: shares of the longer and of the shorter side.
RADIUS_MIN, RADIUS_MAX = 0.0185, 0.17


class Pictures:
    """Pictures of one kind, with the truth of each."""

    tolerance = TOLERANCE

    def __init__(self, truths):
        self.truths = truths

    def __iter__(self):
        return iter(self.truths)

    def __len__(self):
        return len(self.truths)


def made(diario, seed, count, *options):
    """Pictures that the program makes."""
    truths = []
    # A run of the program may not take long.
    for first in range(0, count, PART):
        part = min(PART, count - first)
        folder = pathlib.Path(diario.folder) / f"pictures-{seed + first}{''.join(options)}"
        diario.good("fish", "pictures", str(folder), "--count", str(part),
                    "--seed", str(seed + first), *options)
        lines = (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()
        require(len(lines) == part, f"{len(lines)} lines of truth for {part} pictures")
        for truth in map(json.loads, lines):
            coin = truth["coin"]
            rim = coin and [coin[name] / 1000 for name in ("xMpx", "yMpx", "widthMpx", "heightMpx")]
            truths.append((folder / truth["file"], rim, truth))
    return Pictures(truths)


def photographs(diario, kind, count, seed, has_coins=True):
    """Pictures of coins on photographs."""
    folder = pathlib.Path(diario.folder) / f"photographs-{seed}-{has_coins}"
    pictures = Pictures([(path, rim, None) for path, rim in
                         CoinPictures(folder, kind, count, seed, has_coins).truths])
    pictures.tolerance = PHOTO_TOLERANCE
    return pictures


def error(rim, x, y, *widths):
    """How far a find is from the true coin, in diameters: its middle, or its width."""
    true_x, true_y, width, height = rim
    away = math.hypot(x - true_x, y - true_y)
    # A circle may be as wide as the ellipse in any direction.
    low, high = (height, width) if len(widths) > 1 else (width, width)
    return max(away, low - widths[0], widths[0] - high) / width


# Accumulator step, threshold of edges, and votes or roundness.
GRIDS = {
    "HOUGH_GRADIENT": (cv2.HOUGH_GRADIENT, (1,), (100, 200), (35, 50)),
    "HOUGH_GRADIENT_ALT": (cv2.HOUGH_GRADIENT_ALT, (1.5,), (60, 100, 300), (0.6, 0.8, 0.9)),
}
# The longer side of the picture in which a circle is looked for first.
OPENCV_SIDE = 640


def read(path):
    """The picture as OpenCV wants it: smoothed, as its manual advises."""
    return cv2.GaussianBlur(cv2.imread(str(path), cv2.IMREAD_GRAYSCALE), (0, 0), 1.5)


def circle(image, method, parameters, radii):
    """The best circle of OpenCV, in pixels; None if there is none."""
    step, edge, votes = parameters
    least, most = max(1, int(radii[0])), int(radii[1]) + 1
    circles = cv2.HoughCircles(image, method, step, image.shape[0] / 10, param1=edge,
                               param2=votes, minRadius=least, maxRadius=most)
    if circles is None:
        return None
    x, y, radius = (float(value) for value in circles[0][0][:3])
    # Its pixels have their middle at whole numbers.
    return (x + 0.5, y + 0.5, radius) if radius > 0 else None


def opencv(image, method, parameters):
    """The middle and the diameter of the best circle; None if there is none."""
    height, width = image.shape
    scale = min(1, OPENCV_SIDE / max(width, height))
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    radii = (RADIUS_MIN * max(small.shape), RADIUS_MAX * min(small.shape))
    found = circle(small, method, parameters, radii)
    if found is None:
        return None
    x, y, radius = (value / scale for value in found)
    left, top = max(0, int(x - 1.5 * radius)), max(0, int(y - 1.5 * radius))
    part = image[top:int(y + 1.5 * radius), left:int(x + 1.5 * radius)]
    again = circle(part, method, parameters, (0.85 * radius, 1.15 * radius))
    if again is not None:
        x, y, radius = again[0] + left, again[1] + top, again[2]
    return x, y, 2 * radius


def opencv_share(pictures, method, parameters):
    """The share of coins that OpenCV finds."""
    found = [(rim, opencv(read(path), method, parameters)) for path, rim, _ in pictures]
    return sum(place is not None and error(rim, *place, 0) <= pictures.tolerance
               for rim, place in found) / len(pictures)


def compare_opencv(table, name, tuning, pictures):
    """The best share of coins that a method of OpenCV finds, with the best parameters."""
    shares = []
    for title, (method, *grid) in GRIDS.items():
        best = max(itertools.product(*grid),
                   key=lambda parameters: opencv_share(tuning, method, parameters))
        shares.append(opencv_share(pictures, method, best))
        table.note(f"{name}: {title}{best}", f"{shares[-1]:.1%}")
    return max(shares)


class Table:
    """Figures with their aims and bounds."""

    def __init__(self):
        self.rows = [("figure", "is", "aim", "bound")]
        self.failures = []

    def note(self, name, value):
        self.rows.append((name, value, "", ""))

    def least(self, name, value, figure, other=0):
        """A share that has to be as large as its bound, and as another."""
        aim, bound = figure
        self._add(name, f"{value:.1%}", f"{aim:.0%}", f"{max(bound, other):.1%}",
                  value >= max(bound, other))

    def most(self, name, value, figure, form="{:.1%}"):
        aim, bound = figure
        self._add(name, form.format(value), form.format(aim), form.format(bound), value <= bound)

    def _add(self, name, value, aim, bound, is_right):
        self.rows.append((name, value, aim, bound if is_right else f"{bound} MISSED"))
        if not is_right:
            self.failures.append(f"{name}: {value}, bound {bound}")

    def finish(self):
        widths = [max(map(len, column)) for column in zip(*self.rows)]
        for row in self.rows:
            print("  ".join(map(str.ljust, row, widths)).rstrip(), flush=True)
        require(not self.failures, "; ".join(self.failures))


def ends_are_right(truth, answer):
    fish = answer.get("fish")
    if not fish:
        return False

    def between(first, second):
        return math.hypot(first["xMpx"] - second["xMpx"], first["yMpx"] - second["yMpx"])

    length = between(truth["snout"], truth["tail"])
    return all(between(truth[end], fish[end]) <= FISH_TOLERANCE * length
               for end in ("snout", "tail"))


class Ours:
    """What the program finds in pictures."""

    def __init__(self, diario, pictures):
        self.count = len(pictures)
        self.errors = []
        self.any_find = self.fish = 0
        for path, rim, truth in pictures:
            answer = diario.good("fish", "coin", str(path), "--json").json
            require("quality" in answer, f"no quality of {path}")
            require(answer["found"] == bool(answer["coins"]), f"found is wrong for {path}")
            require(points_are_inside(answer, path), f"a point of {path} is outside: {answer}")
            self.any_find += answer["found"]
            self.fish += truth is not None and ends_are_right(truth, answer)
            if rim and answer["coins"]:
                best = answer["coins"][0]
                self.errors.append(error(rim, *(best[name] / 1000 for name in
                                                ("xMpx", "yMpx", "widthMpx"))))

    def share(self, tolerance):
        return sum(found <= tolerance for found in self.errors) / self.count


def points_are_inside(answer, path):
    """True if all points that are proposed are in the picture."""
    with open(path, "rb") as file:
        file.readline()
        width, height = map(int, file.readline().split())
    points = answer["coins"] + list(answer.get("fish", {}).values())
    return all(0 <= point["xMpx"] <= 1000 * width and 0 <= point["yMpx"] <= 1000 * height
               for point in points)


def milliseconds(diario, pictures, size, blank):
    """The median time of a core that pictures take, scaled, without that of the program's start."""
    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return 1000 * (usage.ru_utime + usage.ru_stime)

    def run(path):
        began = spent()
        diario.good("fish", "coin", str(path), "--json")
        return spent() - began

    times = []
    for path, _, _ in list(pictures)[:20]:
        scaled = path.with_suffix(f".{size[0]}.pgm")
        image = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
        cv2.imwrite(str(scaled), cv2.resize(image, size, interpolation=cv2.INTER_AREA))
        times.append(run(scaled))
        scaled.unlink()
    started = statistics.median(run(blank) for _ in range(20))
    return statistics.median(times) - started


def check_photographs(diario, table, count, blank):
    pictures = photographs(diario, FIGURES, count, SEED)
    found = Ours(diario, pictures)
    best = compare_opencv(table, "photographs",
                          photographs(diario, CHOOSING, TUNING_COUNT, TUNING_SEED), pictures)
    table.least(f"photographs, {count}: within {PHOTO_TOLERANCE:.0%}",
                found.share(PHOTO_TOLERANCE), PHOTO_FOUND, best)
    table.note(f"photographs: within {TOLERANCE:.0%}", f"{found.share(TOLERANCE):.1%}")
    table.most("photographs: median error", statistics.median(found.errors), PHOTO_MEDIAN,
               "{:.2%}")
    without = Ours(diario, photographs(diario, FIGURES, count, SEED, has_coins=False))
    table.most("photographs without a coin: finds", without.any_find / count, WRONG)
    for name, size, figure in (("a megapixel", (1156, 868), MILLISECONDS),
                               ("12 megapixels", (4000, 3000), LARGE_MILLISECONDS)):
        table.most(name, milliseconds(diario, pictures, size, blank), figure, "{:.0f} ms")


def check_made(diario, table, name, count, figure, *options):
    pictures = made(diario, SEED, count, *options)
    if not options:
        # Of coins that hardly differ from the table, none is expected among the plain.
        pictures.truths = [picture for picture in pictures
                           if picture[2]["contrast"] >= CONTRAST_MIN]
    found = Ours(diario, pictures)
    best = compare_opencv(table, name, made(diario, TUNING_SEED, TUNING_COUNT, *options), pictures)
    table.least(f"{name}, {len(pictures)}: within {TOLERANCE:.0%}", found.share(TOLERANCE), figure,
                best)
    return found.fish / len(pictures)


def check(program, folder, count=300):
    cv2.setNumThreads(1)
    diario = Diario(program, folder)
    blank = folder / "blank.pgm"
    blank.write_bytes(b"P5\n1 1\n255\n\x80")
    table, made_count = Table(), max(1, count // 2)
    check_photographs(diario, table, count, blank)
    fish = check_made(diario, table, "plain", made_count, PLAIN_FOUND)
    table.least("plain: ends of the fish", fish, FISH_FOUND)
    fish = check_made(diario, table, "hard", made_count, HARD_FOUND, "--hard")
    table.note("hard: ends of the fish", f"{fish:.1%}")
    without = Ours(diario, made(diario, SEED, made_count, "--without-coin"))
    table.most(f"without a coin, {made_count}: finds", without.any_find / made_count, MADE_WRONG)
    table.finish()
    return f"coins in {2 * count + 3 * made_count} pictures"


if __name__ == "__main__":
    main("fish_pictures.py", __doc__, check, takes_count=True)
