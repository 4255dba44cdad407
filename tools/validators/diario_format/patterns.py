"""Random texts that match a `pattern` of a schema, for the harness.

The patterns are the subset that the README of `schema/` describes.
"""

from .primitives import FormatError

DIGITS = "0123456789"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
CLASSES = {"d": DIGITS, "w": LETTERS + DIGITS + "_", "s": " \t\n"}
ANY = LETTERS + DIGITS + " -_.,;:\u00e8\u4e2d"
OPEN_REPEAT = 6


class Pattern:
    """A parsed pattern: alternatives of sequences of (atom, least, most).

    An atom is a string of letters to choose from, or again a list of alternatives.
    """

    def __init__(self, text):
        self.text = text.removeprefix("^").removesuffix("$")
        self.at = 0
        self.alternatives = self.parse_alternatives()
        if self.at != len(self.text):
            raise FormatError(f"a pattern that is not understood: {text}")

    def peek(self):
        return self.text[self.at : self.at + 1]

    def next(self):
        self.at += 1
        return self.text[self.at - 1]

    def parse_alternatives(self):
        alternatives = [self.parse_sequence()]
        while self.peek() == "|":
            self.next()
            alternatives.append(self.parse_sequence())
        return alternatives

    def parse_sequence(self):
        sequence = []
        while self.peek() and self.peek() not in "|)":
            atom = self.parse_atom()
            sequence.append((atom,) + self.parse_repeat())
        return sequence

    def parse_atom(self):
        letter = self.next()
        if letter == "(":
            alternatives = self.parse_alternatives()
            self.next()
            return alternatives
        if letter == "[":
            return self.parse_class()
        if letter == "\\":
            return self.parse_escape()
        return ANY if letter == "." else letter

    def parse_escape(self):
        letter = self.next()
        return CLASSES.get(letter, letter)

    def parse_class(self):
        negated = self.peek() == "^"
        if negated:
            self.next()
        letters = ""
        while self.peek() != "]":
            first = self.parse_escape() if self.peek() == "\\" and self.next() else self.next()
            if self.peek() == "-" and self.text[self.at + 1] != "]":
                self.next()
                first = "".join(map(chr, range(ord(first), ord(self.next()) + 1)))
            letters += first
        self.next()
        return "".join(set(ANY) - set(letters)) if negated else letters

    def parse_repeat(self):
        simple = {"*": (0, OPEN_REPEAT), "+": (1, OPEN_REPEAT), "?": (0, 1)}
        if self.peek() in simple and self.peek():
            return simple[self.next()]
        if self.peek() != "{":
            return 1, 1
        end = self.text.index("}", self.at)
        least, comma, most = self.text[self.at + 1 : end].partition(",")
        self.at = end + 1
        if not comma:
            return int(least), int(least)
        return int(least), int(most) if most else int(least) + OPEN_REPEAT

    def make(self, random):
        return make_text(self.alternatives, random)


def make_text(atom, random):
    if isinstance(atom, str):
        return random.choice(sorted(atom))
    parts = []
    for inner, least, most in random.choice(atom):
        parts += [make_text(inner, random) for _ in range(random.randint(least, most))]
    return "".join(parts)
