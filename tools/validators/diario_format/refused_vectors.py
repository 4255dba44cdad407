"""A data directory in which an authority refused events, read again."""

import os
import tempfile

from .check_log import DataDirectory
from .primitives import origin_text
from .schemas import read_packs

SCHEMA = os.path.join(os.path.dirname(__file__), "..", "..", "..", "schema")


def unpack(vectors, folder):
    """Writes the files of the data directory."""
    for path, text in vectors["files"].items():
        file = os.path.join(folder, ".diario", path)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "wb") as output:
            output.write(bytes.fromhex(text))


def compare_refused(compare, vectors):
    packs = [pack for pack in read_packs(SCHEMA) if pack.name == "engine"]
    with tempfile.TemporaryDirectory() as folder:
        unpack(vectors, folder)
        data = DataDirectory(folder, packs)
        compare.equal("problems", data.problems, [])
        (space, ledger), = data.shown()
        inbox = data.inboxes[space]
        compare.equal("head", ledger.head, int(vectors["head"]))
        compare.equal("root", data.roots[space], vectors["root"])
        compare.equal("pending", [origin_text(*key) for key in ledger.pending()],
                      vectors["pending"])
        compare.equal("inbox", [origin_text(entry.replica, entry.first) for entry in inbox],
                      [origin for origin, _ in vectors["inbox"]])
        compare.equal("what was refused", sorted(origin_text(rows.replica, rows.first)
                                                 for rows in ledger.refused),
                      sorted(origin for origin, _ in vectors["inbox"]))
        for path in vectors["files"]:
            if path.endswith(".dbox"):
                check_damage(compare, folder, path, packs)


def check_damage(compare, folder, path, packs):
    """A file of the inbox of which a byte was changed is a problem, and nothing else is."""
    name = os.path.join(folder, ".diario", path)
    with open(name, "rb") as file:
        whole = file.read()
    for offset in range(0, len(whole), 7):
        with open(name, "wb") as file:
            file.write(whole[:offset] + bytes([whole[offset] ^ 8]) + whole[offset + 1:])
        problems = DataDirectory(folder, packs).problems
        compare.equal(f"{path} changed at {offset}",
                      [os.path.basename(path) in text for text in problems], [True])
    with open(name, "wb") as file:
        file.write(whole)
