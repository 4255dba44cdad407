#!/usr/bin/env python3
"""Looks for coins in made pictures, and lets OpenCV look for them as well.

    coins.py DIARIO [COUNT]

The program makes COUNT pictures of each kind (500 if not given) of which it says the truth: plain
ones, hard ones, and ones without a coin. A find is right if its middle and its diameter are within
2 % of the diameter. Beside it are both methods of OpenCV's HoughCircles, with those parameters of a
grid that find most coins in other pictures of the same kind. Needs opencv-python-headless
(`tools/setup --pictures`).
"""

import itertools
import json
import math
import pathlib
import statistics
import time

import cv2

from diario_program import Diario, main, require

CONTRAST_MIN = 25
TOLERANCE = 0.02
TUNING_COUNT = 40
PART = 50
TUNING_SEED, SEED = 70_000, 80_000
FOUND_MIN = 0.95
HARD_FOUND_MIN = 0.75
HARD_RATIO_MIN = 2
WRONG_MAX = 0.02
MILLISECONDS_MAX = 60
TIME_RATIO_MAX = 5
FISH_MIN = 0.8
FISH_TOLERANCE = 0.05
# Sizes that our finder takes: shares of the longer and of the shorter side.
RADIUS_MIN, RADIUS_MAX = 0.0185, 0.17


class Pictures:
    """Made pictures of one kind, with the truth."""

    def __init__(self, diario, seed, count, *options):
        self.truths = []
        # A run of the program may not take long.
        for first in range(0, count, PART):
            part = min(PART, count - first)
            folder = pathlib.Path(diario.folder) / f"pictures-{seed + first}{''.join(options)}"
            diario.good("fish", "pictures", str(folder), "--count", str(part),
                        "--seed", str(seed + first), *options)
            lines = (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()
            require(len(lines) == part, f"{len(lines)} lines of truth for {part} pictures")
            for truth in map(json.loads, lines):
                self.truths.append(truth | {"path": folder / truth["file"]})

    def __iter__(self):
        for truth in self.truths:
            yield truth, truth["path"]


def is_coin(truth, x, y, widths):
    """True if a middle and one of the widths are those of the true coin, in pixels."""
    coin = truth["coin"]
    width, height = coin["widthMpx"] / 1000, coin["heightMpx"] / 1000
    away = math.hypot(x - coin["xMpx"] / 1000, y - coin["yMpx"] / 1000)
    # A circle may be as wide as the ellipse in any direction.
    low, high = (height, width) if len(widths) > 1 else (width, width)
    off = max(low - widths[0], widths[0] - high, 0)
    return away <= TOLERANCE * width and off <= TOLERANCE * width


def opencv(image, method, step, edge, votes):
    """The best circle of OpenCV, in pixels; None if there is none."""
    height, width = image.shape
    circles = cv2.HoughCircles(
        image, method, step, height / 10, param1=edge, param2=votes,
        minRadius=int(RADIUS_MIN * max(width, height)),
        maxRadius=int(RADIUS_MAX * min(width, height)))
    if circles is None:
        return None
    # Its pixels have their middle at whole numbers.
    x, y, radius = (float(value) for value in circles[0][0][:3])
    return x + 0.5, y + 0.5, 2 * radius


# Accumulator step, threshold of edges, and votes or roundness.
GRIDS = {
    "HOUGH_GRADIENT": (cv2.HOUGH_GRADIENT, (1, 1.5, 2), (60, 100, 200), (20, 40, 60)),
    "HOUGH_GRADIENT_ALT": (cv2.HOUGH_GRADIENT_ALT, (1.5, 2), (60, 100, 300), (0.6, 0.8, 0.9)),
}


def read(path):
    """The picture as OpenCV wants it: smoothed, as its manual advises."""
    return cv2.GaussianBlur(cv2.imread(str(path), cv2.IMREAD_GRAYSCALE), (0, 0), 1.5)


def opencv_share(pictures, method, parameters):
    """The share of coins that OpenCV finds, and its median time in milliseconds."""
    right, times = 0, []
    for truth, path in pictures:
        began = time.perf_counter()
        found = opencv(read(path), method, *parameters)
        times.append(1000 * (time.perf_counter() - began))
        right += found is not None and is_coin(truth, found[0], found[1], (found[2], 0))
    return right / len(pictures.truths), statistics.median(times)


def compare_opencv(tuning, pictures):
    """For each method of OpenCV the share that it finds and its time, with the best parameters."""
    results = {}
    for name, (method, *grid) in GRIDS.items():
        best = max(itertools.product(*grid),
                   key=lambda parameters: opencv_share(tuning, method, parameters)[0])
        share, milliseconds = opencv_share(pictures, method, best)
        print(f"  {name}{best}: {share:.1%}, {milliseconds:.0f} ms", flush=True)
        results[name] = (share, milliseconds)
    return results


def ends_are_right(truth, answer):
    fish = answer.get("fish")
    if not fish:
        return False

    def between(first, second):
        return math.hypot(first["xMpx"] - second["xMpx"], first["yMpx"] - second["yMpx"])

    length = between(truth["snout"], truth["tail"])
    return all(between(truth[end], fish[end]) <= FISH_TOLERANCE * length
               for end in ("snout", "tail"))


def ours(diario, pictures, blank):
    """What the program finds: shares of right finds, of any, of fish; milliseconds a megapixel."""
    right = counted = any_find = fish = 0
    times = []
    for truth, path in pictures:
        began = time.perf_counter()
        answer = diario.good("fish", "coin", str(path), "--json").json
        times.append(1000 * (time.perf_counter() - began))
        require("quality" in answer, f"no quality of {path}")
        require(answer["found"] == bool(answer["coins"]), f"found is wrong for {path}")
        fish += ends_are_right(truth, answer)
        any_find += answer["found"]
        if truth["coin"]:
            counted += 1
            best = answer["coins"][0] if answer["coins"] else None
            right += best is not None and is_coin(
                truth, best["xMpx"] / 1000, best["yMpx"] / 1000, (best["widthMpx"] / 1000,))
    started = []
    for _ in range(20):
        began = time.perf_counter()
        diario.good("fish", "coin", str(blank), "--json")
        started.append(1000 * (time.perf_counter() - began))
    size = pictures.truths[0]["width"] * pictures.truths[0]["height"] / 1e6
    milliseconds = max(statistics.median(times) - statistics.median(started), 0) / size
    count = len(pictures.truths)
    return right / max(counted, 1), any_find / count, fish / count, milliseconds


def keep_with_contrast(pictures):
    pictures.truths = [truth for truth in pictures.truths
                       if truth["coin"] and truth["contrast"] >= CONTRAST_MIN]


def check(program, folder, count=500):
    cv2.setNumThreads(1)
    diario = Diario(program, folder)
    blank = folder / "blank.pgm"
    blank.write_bytes(b"P5\n1 1\n255\n\x80")

    plain = Pictures(diario, SEED, count)
    keep_with_contrast(plain)
    share, _, fish, milliseconds = ours(diario, plain, blank)
    print(f"plain: {share:.1%} of {len(plain.truths)} coins, {fish:.1%} of the fish, "
          f"{milliseconds:.0f} ms a megapixel", flush=True)
    others = compare_opencv(Pictures(diario, TUNING_SEED, TUNING_COUNT), plain)
    slower = max(time for _, time in others.values())
    require(share >= FOUND_MIN, f"{share:.1%} of plain coins are found, not {FOUND_MIN:.0%}")
    require(fish >= FISH_MIN, f"the ends of {fish:.1%} of the fish are found")
    require(milliseconds <= max(MILLISECONDS_MAX, TIME_RATIO_MAX * slower),
            f"{milliseconds:.0f} ms a megapixel")

    hard = Pictures(diario, SEED, count, "--hard")
    share, _, fish, _ = ours(diario, hard, blank)
    print(f"hard: {share:.1%} of {count} coins, {fish:.1%} of the fish", flush=True)
    others = compare_opencv(
        Pictures(diario, TUNING_SEED, TUNING_COUNT, "--hard"), hard)
    best = max(other for other, _ in others.values())
    require(share >= HARD_FOUND_MIN and share >= HARD_RATIO_MIN * best,
            f"{share:.1%} of hard coins are found, and {best:.1%} by OpenCV")

    without = Pictures(diario, SEED, count, "--without-coin")
    _, wrong, _, _ = ours(diario, without, blank)
    print(f"without a coin: finds in {wrong:.1%} of {count}", flush=True)
    require(wrong <= WRONG_MAX, f"finds in {wrong:.1%} of pictures without a coin")
    return f"coins in {3 * count} made pictures"


if __name__ == "__main__":
    main("coins.py", __doc__, check, takes_count=True)
