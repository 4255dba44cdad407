"""Pictures of real coins on real grounds, of which the truth is known since they are made here.

The coins are photographs of coins of Canada, Japan and the United States, from Debian's package
tuxpaint-stamps-default; the grounds are photographs from lomiri-wallpapers-16.04 and
mate-backgrounds, and the pictures of pages, bricks and the like that come with scikit-image. One
set is there to choose by, the other for the figures: they share no coin and no ground. Euro coins
are left alone: they are for tests of others.
"""

import math
import pathlib

import cv2
import numpy
import skimage

COIN_FOLDER = pathlib.Path("/usr/share/tuxpaint/stamps/symbols/money")
GROUND_FOLDER = pathlib.Path("/usr/share/backgrounds")
SAMPLE_FOLDER = pathlib.Path(skimage.__file__).parent / "data"
SIZE = (1024, 768)

CHOOSING, FIGURES = "choosing", "figures"

COINS = {
    CHOOSING: ("canadian/coins/001penny", "canadian/coins/025quarter", "canadian/coins/200toonie",
               "japanese/yen005", "japanese/yen100", "us/coins/001penny", "us/coins/025quarter",
               "us/coins/050kennedy-halfdollar"),
    FIGURES: ("canadian/coins/005nickel", "canadian/coins/010dime", "canadian/coins/100loonie",
              "japanese/yen001", "japanese/yen010", "japanese/yen050", "japanese/yen500",
              "us/coins/005nickel", "us/coins/010dime", "us/coins/100sacagawea"),
}
# Photographs without round things.
GROUNDS = {
    CHOOSING: ("mate/nature/Blinds.jpg", "mate/nature/Dune.jpg", "mate/nature/GreenMeadow.jpg",
               "mate/nature/Storm.jpg", "mate/nature/Wood.jpg", "mate/nature/FreshFlower.jpg",
               "samples/page.png", "samples/brick.png", "samples/grass.png"),
    FIGURES: ("Bridge_by_Sander_Klootwijk.jpg", "Dragonfly_by_Bolly.jpg",
              "aitzgorri_by_Aitzol_Berasategi.jpg", "analogpattern_by_Peter_Nerlich.jpg",
              "friends_by_Aitzol_Berasategi.jpg", "life_by_Aitzol_Berasategi.jpg",
              "picosdeeuropa_by_Aitzol_Berasategi.jpg", "samples/text.png", "samples/gravel.png",
              "samples/camera.png"),
}


class Stamp:
    """A coin as a square picture, with its mask, in which the rim is a circle."""

    SIDE = 384
    # The rim's diameter, as a share of the side.
    RIM = 0.8

    def __init__(self, path):
        image = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
        grey = cv2.cvtColor(image[..., :3], cv2.COLOR_BGR2GRAY).astype(numpy.float32)
        mask = image[..., 3].astype(numpy.float32) / 255
        rows, columns = numpy.nonzero(mask > 0.5)
        left, top = columns.min(), rows.min()
        width, height = columns.max() + 1 - left, rows.max() + 1 - top
        # What is transparent has no color of its own.
        blurred = cv2.GaussianBlur(grey * mask, (0, 0), 2)
        weight = cv2.GaussianBlur(mask, (0, 0), 2)
        grey = numpy.where(mask > 0.5, grey, blurred / numpy.maximum(weight, 1e-3))
        # Some stamps are a pixel wider than high; a coin is round.
        inner = self.RIM * self.SIDE
        scale_x, scale_y = inner / width, inner / height
        border = (1 - self.RIM) / 2 * self.SIDE - 0.5
        move = numpy.array([[scale_x, 0, border + scale_x * (0.5 - left)],
                            [0, scale_y, border + scale_y * (0.5 - top)]])

        def moved(picture, border):
            return cv2.warpAffine(picture, move, (self.SIDE, self.SIDE), flags=cv2.INTER_CUBIC,
                                  borderMode=border)
        self.grey = moved(grey, cv2.BORDER_REPLICATE)
        self.mask = numpy.clip(moved(mask, cv2.BORDER_CONSTANT), 0, 1)


def ground(name, random):
    """A part of a photograph, as large as a picture."""
    path = (SAMPLE_FOLDER / name.removeprefix("samples/") if name.startswith("samples/")
            else GROUND_FOLDER / name)
    image = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
    if random.random() < 0.5:
        image = image[:, ::-1]
    width, height = SIZE
    high, wide = image.shape
    # Of a small photograph nearly all.
    largest = min(wide / width, high / height)
    scale = largest * random.uniform(0.5, 1) if largest > 1 else largest * random.uniform(0.8, 1)
    part_wide, part_high = int(scale * width), int(scale * height)
    left = random.integers(0, wide - part_wide + 1)
    top = random.integers(0, high - part_high + 1)
    part = image[top:top + part_high, left:left + part_wide]
    way = cv2.INTER_AREA if scale > 1 else cv2.INTER_CUBIC
    return cv2.resize(part, SIZE, interpolation=way).astype(numpy.float32)


def view(random, diameter, middle):
    """The map of a stamp to a picture: turned, tilted by up to 8 degrees, with perspective."""
    turn, tilt, way = (random.uniform(0, 2 * math.pi), math.radians(random.uniform(0, 8)),
                       random.uniform(0, 2 * math.pi))
    scale = 2 / (Stamp.RIM * Stamp.SIDE)
    move = scale * (Stamp.SIDE - 1) / 2
    to_unit = numpy.array([[scale, 0, -move], [0, scale, -move], [0, 0, 1]])

    def rotation(angle):
        return numpy.array([[math.cos(angle), -math.sin(angle), 0],
                            [math.sin(angle), math.cos(angle), 0], [0, 0, 1]])

    # The camera is about as far away as 1.1 of the picture's longer side.
    away = 1.1 * SIZE[0] / (diameter / 2)
    tilted = numpy.array([[math.cos(tilt), 0, 0], [0, 1, 0], [math.sin(tilt) / away, 0, 1]])
    to_picture = numpy.array([[diameter / 2, 0, middle[0] - 0.5],
                              [0, diameter / 2, middle[1] - 0.5], [0, 0, 1]])
    return to_picture @ rotation(way) @ tilted @ rotation(turn - way) @ to_unit


def rim(matrix):
    """Middle, width, height of the ellipse that a map makes of the stamp's rim."""
    angles = numpy.linspace(0, 2 * math.pi, 720, endpoint=False)
    middle, radius = (Stamp.SIDE - 1) / 2, Stamp.RIM / 2 * Stamp.SIDE
    circle = numpy.stack([middle + radius * numpy.cos(angles),
                          middle + radius * numpy.sin(angles), numpy.ones(720)])
    points = matrix @ circle
    points = (points[:2] / points[2]).T.astype(numpy.float32)
    (x, y), (height, width), _ = cv2.fitEllipse(points.reshape(-1, 1, 2))
    # The middle of the first pixel is at a half.
    return x + 0.5, y + 0.5, max(width, height), min(width, height)


def compose(stamp, base, random):
    """A picture of a coin on a ground and the ellipse of its rim; of the ground without a stamp."""
    width, height = SIZE
    picture = base.copy()
    truth = None
    if stamp is not None:
        diameter = width * math.exp(random.uniform(math.log(0.055), math.log(0.2)))
        margin = 0.6 * diameter
        middle = (random.uniform(margin, width - margin), random.uniform(margin, height - margin))
        matrix = view(random, diameter, middle)
        truth = rim(matrix)
        # Smoothed first as far as it is made smaller.
        shrink = 0.4 * Stamp.RIM * Stamp.SIDE / diameter

        def placed(source, matrix):
            if shrink > 0.5:
                source = cv2.GaussianBlur(source, (0, 0), shrink)
            return cv2.warpPerspective(source, matrix, SIZE, flags=cv2.INTER_LINEAR)
        mask, grey = placed(stamp.mask, matrix), placed(stamp.grey, matrix)
        grey = grey * random.uniform(0.8, 1.2)
        if random.random() < 0.7:
            way, reach = random.uniform(0, 2 * math.pi), random.uniform(0.01, 0.1) * diameter
            soft = random.uniform(0.2, 1) * reach + 0.5
            moved = numpy.array([[1, 0, reach * math.cos(way)], [0, 1, reach * math.sin(way)]])
            shadow = cv2.GaussianBlur(cv2.warpAffine(mask, moved, SIZE), (0, 0), soft)
            picture *= 1 - random.uniform(0.1, 0.5) * shadow
        picture = picture * (1 - mask) + grey * mask
    columns, rows = numpy.meshgrid(numpy.linspace(-1, 1, width), numpy.linspace(-1, 1, height))
    light = 1 + random.uniform(-0.2, 0.2) * columns + random.uniform(-0.2, 0.2) * rows
    picture = picture * light * random.uniform(0.7, 1)
    blur = random.uniform(0, 1.3)
    if blur > 0.3:
        picture = cv2.GaussianBlur(picture, (0, 0), blur)
    picture = picture + random.normal(0, random.uniform(0.5, 5), picture.shape)
    picture = numpy.clip(picture + 0.5, 0, 255).astype(numpy.uint8)
    quality = int(random.uniform(60, 95))
    packed = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])[1]
    return cv2.imdecode(packed, cv2.IMREAD_GRAYSCALE), truth


class CoinPictures:
    """Pictures of coins on photographs, in files, with the truth of each."""

    def __init__(self, folder, kind, count, seed, has_coins=True):
        folder.mkdir()
        stamps = [Stamp(COIN_FOLDER / f"{name}.png") for name in COINS[kind]]
        self.truths = []
        for index in range(count):
            random = numpy.random.default_rng([seed, index])
            name = GROUNDS[kind][random.integers(len(GROUNDS[kind]))]
            stamp = stamps[index % len(stamps)] if has_coins else None
            picture, truth = compose(stamp, ground(name, random), random)
            path = folder / f"{index}.pgm"
            cv2.imwrite(str(path), picture)
            self.truths.append((path, truth))
