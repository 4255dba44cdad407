"""The length of a fish from marks on a photo, by other ways than Diario's.

Points of a photo are complex numbers, in pixels, and so are places on the table, in micrometres.
Each method gives a function from the ones to the others.
"""

import json
import math

import numpy as np

WIDTH, HEIGHT = 4032, 3024


def along(places, axis):
    """The length of a line, or of two points projected on an axis, as complex numbers."""
    line = np.asarray(places)
    if axis is not None and len(line) == 2:
        return abs(((line[1] - line[0]) * np.conj(axis) / abs(axis)).real)
    return float(np.sum(np.abs(np.diff(line))))


def pixels(points):
    return np.array([complex(x, y) / 1000 for x, y in points])


def plan(scale):
    return lambda points: points * scale


def by_pins(question):
    ends = pixels(question["points"])
    return plan(question["disc"][0] / abs(ends[1] - ends[0]))


def by_circle(question):
    """Diameter = abc / (2 area), the area by Heron's formula in Kahan's order."""
    p, q, r = pixels(question["points"])
    a, b, c = sorted((abs(p - q), abs(q - r), abs(r - p)), reverse=True)
    area = math.sqrt((a + (b + c)) * (c - (a - b)) * (c + (a - b)) * (a + (b - c))) / 4
    return plan(question["disc"][0] / (a * b * c / (2 * area)))


def by_width(question):
    return plan(question["disc"][0] / (question["ellipse"][2] / 1000))


def squeeze(diameter, width, height, angle):
    turn = complex(math.cos(angle), -math.sin(angle))

    def place(points):
        turned = points * turn
        return turned.real * diameter / width + 1j * turned.imag * diameter / height
    return place


def by_ellipse(question):
    _, _, width, height, angle = question["ellipse"]
    return squeeze(
        question["disc"][0], width / 1000, height / 1000, math.radians(angle / 1000))


def by_conic(question):
    """Of the generalized problem S v = lambda C v the one vector with 4ac - b^2 > 0."""
    points = pixels(question["points"])
    middle = points.mean()
    size = np.abs(points - middle).max()
    x, y = ((points - middle) / size).real, ((points - middle) / size).imag
    design = np.stack([x * x, x * y, y * y, x, y, np.ones_like(x)], axis=1)
    if len(points) == 5:
        # One conic goes through them; the best ellipse is another if that is none.
        a, b, c, d, e, f = np.linalg.svd(design)[2][-1]
        if 4 * a * c <= b * b:
            return None
    else:
        # By the triangular factor of the design, which has the digits that its square loses.
        _, triangle = np.linalg.qr(design)
        constraint = np.zeros((6, 6))
        constraint[0, 2] = constraint[2, 0] = 2
        constraint[1, 1] = -1
        inverse = np.linalg.inv(triangle)
        values, vectors = np.linalg.eigh(inverse.T @ constraint @ inverse)
        a, b, c, d, e, f = inverse @ vectors[:, np.argmax(values)]
    quadratic = np.array([[a, b / 2], [b / 2, c]])
    centre = np.linalg.solve(2 * quadratic, [-d, -e])
    constant = -(f + centre @ [d, e] / 2)
    curvature, directions = np.linalg.eigh(quadratic / constant)
    if curvature[0] <= 0:
        return None
    width, height = 2 / np.sqrt(curvature) * size
    angle = math.atan2(directions[1, 0], directions[0, 0])
    return squeeze(question["disc"][0], width, height, angle)


def rays_of(question, points):
    focal = question["focal"] / 1000
    x = (points.real - WIDTH / 2) / focal
    y = -(points.imag - HEIGHT / 2) / focal
    return np.stack([x, y, -np.ones_like(x)])


def turn_level(down):
    """The rotation that takes the direction of gravity to -z (Rodrigues)."""
    down = down / np.linalg.norm(down)
    target = np.array([0.0, 0.0, -1.0])
    axis = np.cross(down, target)
    cosine = down @ target
    skew = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + skew + skew @ skew / (1 + cosine)


def by_gravity(question):
    level = turn_level(np.array(question["gravity"], float))

    def unit(points):
        rays = level @ rays_of(question, points)
        return (rays[0] + 1j * rays[1]) / -rays[2]
    marks = unit(pixels(question["points"]))
    if question.get("card"):
        across, down, thickness = question["card"]
        sides = np.abs(np.roll(marks, -1) - marks)
        if sides[0] + sides[2] < sides[1] + sides[3]:
            across, down = down, across
        corners = np.array([0, across, across + 1j * down, 1j * down])
        # The best similarity, and the best one of the mirrored card.
        fits = [np.linalg.lstsq(np.stack([card, np.ones(4)], axis=1), marks, rcond=None)
                for card in (corners, corners.conj())]
        distance = 1 / abs(min(fits, key=lambda fit: fit[1][0])[0][0])
    else:
        diameter, thickness = question["disc"]
        design = np.stack([marks.real, marks.imag, np.ones(len(marks))], axis=1)
        a, b, c = np.linalg.lstsq(design, -np.abs(marks) ** 2, rcond=None)[0]
        distance = diameter / (2 * math.sqrt(a * a / 4 + b * b / 4 - c))
    by_gravity.camera = distance + thickness
    return lambda points: unit(points) * (distance + thickness - question["height"])


def by_card(question):
    corners = pixels(question["points"])
    sides = np.abs(np.roll(corners, -1) - corners)
    across, down, thickness = question["card"]
    if sides[0] + sides[2] < sides[1] + sides[3]:
        across, down = down, across
    places = [0, across, across + 1j * down, 1j * down]
    centre, size = corners.mean(), np.abs(corners).mean()
    rows = []
    for corner, place in zip((corners - centre) / size, places):
        point = np.array([corner.real, corner.imag, 1])
        x, y = place.real / across, place.imag / across
        rows.append([*point, 0, 0, 0, *(-x * point)])
        rows.append([0, 0, 0, *point, *(-y * point)])
    matrix = np.linalg.svd(np.array(rows))[2][-1].reshape(3, 3)

    def place(points):
        scaled = (points - centre) / size
        image = matrix @ np.stack([scaled.real, scaled.imag, np.ones(len(points))])
        return (image[0] + 1j * image[1]) / image[2] * across
    if question["focal"] is None:
        return place
    # From the card to rays: its columns are the axes of the card and the way to its corner.
    to_pixels = np.array(
        [[size, 0, centre.real], [0, size, centre.imag], [0, 0, 1]]) @ np.linalg.inv(
            np.diag([across, across, 1]) @ matrix)
    focal = question["focal"] / 1000
    camera = np.array([[focal, 0, WIDTH / 2], [0, focal, HEIGHT / 2], [0, 0, 1]])
    first, second, corner = np.linalg.solve(camera, to_pixels).T
    unit = math.sqrt(np.linalg.norm(first) * np.linalg.norm(second))
    normal = np.cross(first, second)
    distance = abs(corner @ normal) / np.linalg.norm(normal) / unit
    by_card.camera = distance + thickness
    factor = (distance + thickness - question["height"]) / distance
    return lambda points: place(points) * factor


METHODS = {
    "pins2": by_pins, "circle3": by_circle, "views": by_width, "ellipse": by_ellipse,
    "conic": by_conic, "rectified": by_gravity, "card": by_card,
}


def measure(question):
    place = METHODS[question["method"]](question)
    if place is None:
        return None
    axis = None
    if question["axis"]:
        start, end = pixels(question["axis"])
        first = pixels(question["fish"][:1])[0]
        step = (end - start) / abs(end - start)
        axis = np.diff(place(np.array([first, first + step])))[0]
    return along(place(pixels(question["fish"])), axis)


def marking_error(question, length):
    """The root of the sum of squares of what each mark does to the length, by halves either way."""
    unit = length / float(np.sum(np.abs(np.diff(pixels(question["fish"])))))
    step = max(100 / unit, 0.5)
    total = 0
    for key in ("fish", "points"):
        for index in range(len(question.get(key) or [])):
            for axis in (0, 1):
                ends = []
                for sign in (-0.5, 0.5):
                    moved = json.loads(json.dumps(question))
                    moved[key][index][axis] += sign * step * 1000
                    ends.append(measure(moved))
                if None in ends:
                    return None
                total += (ends[1] - ends[0]) ** 2
    if question.get("ellipse"):
        for index in (2, 3):
            moved = json.loads(json.dumps(question))
            moved["ellipse"][index] += step * 1000 * math.sqrt(2)
            total += (measure(moved) - length) ** 2
    return math.sqrt(total)
