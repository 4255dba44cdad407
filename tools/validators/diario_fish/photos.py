"""Random marks on photos: anywhere, or as a camera above a table sees them."""

import math

import numpy as np

from diario_fish.lengths import HEIGHT, WIDTH, turn_level

COINS = {"eur2": (25750, 2200), "eur1": (23250, 2330), "eur050": (24250, 2380)}
CARD = (85600, 53980, 760)


def milli(points):
    return [[round(p.real * 1000), round(p.imag * 1000)] for p in points]


class Scene:
    """A level table under a tilted camera, in micrometres; z is up."""

    def __init__(self, chance):
        tilt = math.radians(chance.uniform(0, 12))
        bearing = chance.uniform(-math.pi, math.pi)
        down = np.array([math.sin(tilt) * math.cos(bearing),
                         math.sin(tilt) * math.sin(bearing), -math.cos(tilt)])
        self.gravity = [round(x * 1e6) for x in down * chance.uniform(0.97, 1.03)]
        self.level = turn_level(np.array(self.gravity, float))
        self.camera = chance.uniform(250_000, 600_000)
        self.focal = chance.uniform(2500, 3500)
        angle = chance.uniform(-math.pi, math.pi)
        self.turn = complex(math.cos(angle), math.sin(angle))
        axis = self.level @ np.array([0, 0, -1.0])
        self.aim = complex(axis[0], axis[1]) / -axis[2] * self.camera

    def seen(self, places, height):
        places = np.asarray(places) * self.turn + self.aim
        way = np.stack([places.real, places.imag, np.full(len(places), height - self.camera)])
        way = self.level.T @ way
        return (WIDTH / 2 + self.focal * way[0] / -way[2]
                + 1j * (HEIGHT / 2 - self.focal * way[1] / -way[2]))


def in_photo(points):
    return all(0 <= p.real <= WIDTH and 0 <= p.imag <= HEIGHT for p in points)


def perspective(chance, method):
    """A question about a scene, and the true length if the marks are exact."""
    while True:
        scene = Scene(chance)
        length, height = chance.uniform(20_000, 200_000), chance.randrange(0, 15_000)
        middle = complex(chance.uniform(-0.5, 0.5) * length, chance.choice((-1, 1)) * 60_000)
        question = {"method": method, "axis": None, "photo": [WIDTH, HEIGHT], "height": height,
                    "gravity": scene.gravity, "focal": round(scene.focal * 1000)}
        scene.focal = question["focal"] / 1000
        fish = scene.seen([-length / 2, length / 2], height)
        if method == "rectified" and chance.random() < 0.7:
            question["disc"] = chance.choice(list(COINS.values()))
            turns = sorted(chance.uniform(0, 2 * math.pi) for _ in range(chance.randrange(3, 20)))
            marks = scene.seen(
                [middle + question["disc"][0] / 2 * complex(math.cos(t), math.sin(t))
                 for t in turns], question["disc"][1])
            # Marks on a small part of the rim tell little, and rounding decides.
            if max(b - a for a, b in zip(turns, turns[1:] + [turns[0] + 2 * math.pi])) > 4:
                continue
        else:
            question["card"] = CARD
            corners = [complex(x * CARD[0] / 2, y * CARD[1] / 2)
                       for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
            first = chance.randrange(4)
            corners = (corners[first:] + corners[:first])[::chance.choice((-1, 1))]
            marks = scene.seen([middle + corner for corner in corners], CARD[2])
        is_exact = chance.random() < 0.5
        if not is_exact:
            marks = [m + complex(chance.gauss(0, 1), chance.gauss(0, 1)) for m in marks]
            if method == "card" and chance.random() < 0.3:
                question["focal"] = None
        if in_photo([*fish, *marks]):
            question["fish"], question["points"] = milli(fish), milli(marks)
            return question, length if is_exact else None


def plain(chance, method):
    """A question about marks anywhere on a photo."""
    while True:
        def spot():
            return complex(chance.uniform(0, WIDTH), chance.uniform(0, HEIGHT))
        middle, radius = spot(), chance.uniform(15, 200)
        fish = [spot() for _ in range(chance.choice((2, 2, 2, 3, 6)))]
        question = {"method": method, "axis": None, "photo": [WIDTH, HEIGHT], "height": 8000,
                    "gravity": None, "focal": None, "fish": milli(fish),
                    "disc": chance.choice(list(COINS.values()))}
        if chance.random() < 0.3:
            question["axis"] = milli([fish[0], fish[0] + (fish[1] - fish[0]) * complex(1, 0.1)])
        if method in ("views", "ellipse"):
            question["ellipse"] = [
                round(middle.real * 1000), round(middle.imag * 1000), round(radius * 2000),
                round(radius * chance.uniform(1400, 2600)), chance.randrange(-360_000, 360_001)]
            marks = [middle + radius * 1.3 * turn for turn in (1, 1j, -1, -1j)]
        else:
            count = {"pins2": 2, "circle3": 3}.get(method) or chance.randrange(5, 25)
            start = chance.uniform(0, 6)
            angles = [start + 6.2 / count * (index + chance.uniform(0, 0.7))
                      for index in range(count)]
            marks = [middle + radius * complex(math.cos(a), 0.9 * math.sin(a)) for a in angles]
            if chance.random() < 0.5:
                marks = [m + complex(chance.gauss(0, 1), chance.gauss(0, 1)) * 0.03 * radius
                         for m in marks]
            question["points"] = milli(marks)
        if in_photo(marks):
            return question, None
