"""A second implementation of text keys, made from schema/format/text-key.md alone, on the tables of
Unicode that Python has. Whole texts at a time, where the program takes scalars one by one."""

import re
import unicodedata

VERSION = "14.0.0"
IOTA_BELOW = "\u0345"
UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]")
ROWS = [
    (re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"), " "),
    (re.compile("[`\u00b4\u02bb\u02bc\u2018-\u201b\u2032]"), "'"),
    (re.compile("[\u00ab\u00bb\u201c-\u201f]"), '"'),
    (re.compile("[\u2010-\u2015\u2212]"), "-"),
    (re.compile("\u2044"), "/"),
]


def folded(text):
    text = UNSEEN.sub("", unicodedata.normalize("NFD", text))
    for pattern, key in ROWS:
        text = pattern.sub(key, text)
    # Iota below is kept out of the hands of folding, which would make a letter of it.
    parts = (unicodedata.normalize("NFKD", part).casefold() for part in text.split(IOTA_BELOW))
    return IOTA_BELOW.join(parts)


def ordered(text):
    """Marks in order of their classes; sorting keeps the order of equals."""
    def class_of(scalar):
        return unicodedata.combining(scalar)

    parts, run = [], []
    for scalar in text:
        if class_of(scalar):
            run.append(scalar)
            continue
        parts += sorted(run, key=class_of) + [scalar]
        run = []
    return "".join(parts + sorted(run, key=class_of))


def text_key(text, kind):
    if text is None or kind is None:
        return None
    if kind not in ("same", "search") or not isinstance(text, str):
        raise ValueError(f"text_key({text!r}, {kind!r})")
    before = None
    while text != before:
        before, text = text, folded(text)
    text = ordered(text).replace(IOTA_BELOW, "\u03b9")
    if kind == "search":
        text = "".join(scalar for scalar in text if unicodedata.category(scalar) != "Mn")
    return re.sub(" +", " ", text).strip(" ")
