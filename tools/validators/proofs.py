#!/usr/bin/env python3
"""Makes proofs with the program and checks them with another, and the other way round.

    proofs.py DIARIO

The other one is `diario_format/proofs.py`, written from `schema/format/proofs.md` alone. It reads
the log by itself too, so a proof must show the very leaves and roots that it found there. Then
proofs are spoiled: both must refuse the same ones.
"""

import json
import pathlib
import random

from diario_format import schemas
from diario_format.check_log import DataDirectory
from diario_format.primitives import FormatError
from diario_format.proofs import (
    Proof, Tree, consistency_path, inclusion_path, read_mark, write_tiles,
)
from diario_program import Diario, main, require, weight
from diario_program.checks import Checks

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEED = 1
PROOF_COUNT = 30
SPOILED_COUNT = 40


def read_tree(folder):
    """The leaves of the only space, as the second reader finds them."""
    packs = schemas.read_packs(str(ROOT / "schema"))
    data = DataDirectory(str(folder), packs)
    require(not data.problems, f"the log does not read: {data.problems[:3]}")
    (_, ledger), = data.shown()
    leaves = [ledger.leaf(position) for position in range(1, ledger.head + 1)]
    return Tree(leaves), ledger


def check_inclusion(checks, tree, ledger, chance):
    head = len(tree.leaves)
    places = [(1, None), (head, None), (1, 1), (head, head), (256, 257), (257, None)]
    places += [(chance.randint(1, head), None) for _ in range(PROOF_COUNT // 2)]
    for _ in range(PROOF_COUNT // 2):
        size = chance.randint(1, head)
        places.append((chance.randint(1, size), size))
    proofs = []
    for position, size in places:
        words = ["prove", str(position), "--event", "--json"]
        text = checks.run(*words, *(["--size", str(size)] if size else [])).text
        size = size or head
        proof = Proof(text)
        checks.true(proof.holds(), f"the proof of {position} in {size} holds: {text}")
        checks.equal(proof.leaf, tree.leaves[position - 1], f"the leaf of {position}")
        checks.equal(proof.root, tree.root(0, size), f"the root at {size}")
        checks.equal(proof.path, inclusion_path(tree, position - 1, size), "the path")
        key = ledger.positions[position]
        checks.equal((proof.event.replica, proof.event.sequence), key, "the event")
        checks.true(len(text) < 2048 + 2 * len(proof.row) + 64, "a proof is small")
        proofs.append(text)
    return proofs


def check_consistency(checks, tree, chance):
    head = len(tree.leaves)
    pairs = [(0, None), (1, None), (head, None), (0, 0), (256, 512), (255, 257)]
    for _ in range(PROOF_COUNT // 2):
        size = chance.randint(1, head)
        pairs.append((chance.randint(0, size), size))
    proofs = []
    for first, size in pairs:
        words = ["prove", "--from", str(first), "--json"]
        text = checks.run(*words, *(["--to", str(size)] if size is not None else [])).text
        size = head if size is None else size
        proof = Proof(text)
        checks.true(proof.holds(), f"the proof from {first} to {size} holds: {text}")
        checks.equal(proof.from_root, tree.root(0, first), f"the root at {first}")
        checks.equal(proof.root, tree.root(0, size), f"the root at {size}")
        checks.equal(proof.path, consistency_path(tree, first, size), "the path")
        proofs.append(text)
    return proofs


def check_forms(checks, diario, folder, tree):
    """The ways to give and to show a proof."""
    lines = checks.run("prove", "5", "--event").text
    wide = checks.run("prove", "5", "--event", "--json").text
    checks.equal(json.loads(lines), json.loads(wide), "a proof for people and for programs")
    checks.equal(len(wide.splitlines()), 1, "lines of --json")
    event = checks.run("show", "5", "--json").json
    checks.equal(checks.run("prove", event["origin"], "--event", "--json").text, wide,
                 "a proof by the origin")
    root, size = tree.root(0, len(tree.leaves)).hex(), str(len(tree.leaves))
    file = folder / "proof.json"
    file.write_text(lines)
    shown = diario.good("check", str(file), "--event").text
    for word in (event["origin"], event["type"], event["at"], event["acceptedAt"], root):
        checks.true(word in shown, f"check shows {word}: {shown}")
    answer = diario.good("check", "-", "--json", "--root", root, "--size", size,
                         stdin=wide).json
    checks.equal((answer["ok"], answer["position"], answer["root"], answer["event"]["origin"]),
                 (True, 5, root, event["origin"]), "check --json")
    growth = checks.run("prove", "--from", "7", "--to", "9").text
    diario.good("check", "-", "--from-root", tree.root(0, 7).hex(), stdin=growth)
    bare = checks.run("prove", "5").text
    for words, text, says in (
        (["--root", "00" * 32], wide, f"the root {root}"),
        (["--size", "4"], wide, f"a log of {size} events, not of 4"),
        (["--from-root", root], wide, "begins with no root"),
        (["--from-root", root], growth, "it begins with the root"),
        (["--event"], growth, "no single event"),
        (["--event"], bare, "diario prove --event"),
        ([], "", "no proof"),
        ([], "{}", 'the member "proof" is missing'),
        ([], " " * 1024 * 1024 + wide, "at most 1048576"),
        ([], wide.replace('"version":1', '"version":2'), "use a newer diario"),
    ):
        result = diario.run("check", "-", *words, stdin=text)
        checks.true(result.code == 1 and result.text.startswith("does not hold: ")
                    and says in result.text, f"check {words} says {says!r}", result)
        answer = diario.run("check", "-", "--json", *words, stdin=text)
        checks.true(answer.code == 1 and answer.json["ok"] is False
                    and says in answer.json["reason"], f"check --json {words}", answer)


def check_wrong_words(checks, tree):
    head = len(tree.leaves)
    for words, has in (
        (["prove"], ["prove needs POSITION|ORIGIN"]),
        (["prove", "here"], ["here", "neither an origin"]),
        (["prove", "0"], ["position from 1"]),
        (["prove", "1", "2"], ["2 is too much"]),
        (["prove", "1", "--size", "0"], ["--size 0"]),
        (["prove", "1", "--from", "1"], ["either an event or --from"]),
        (["prove", "1", "--to", "1"], ["either an event or --from"]),
        (["prove", "--to", "1"], ["--from M"]),
        (["prove", "--from", "9", "--to", "3"], ["--to 3", "--from 9"]),
        (["prove", "--from", "1", "--size", "3"], ["--to N"]),
        (["prove", "--from", "1", "--event"], ["--event needs an event"]),
        (["check"], ["check needs FILE|-"]),
        (["check", "-", "--root", "0"], ["--root 0", "64 digits"]),
        (["check", "-", "--size", "-1"], ["--size -1"]),
    ):
        checks.bad(*words, code=2, has=has, is_unchanged=False)
    for words, has in (
        (["prove", str(head + 1)], [f"has {head}", "diario log"]),
        (["prove", "7zk3m9q2c1f4a-17"], ["no event with the origin 7zk3m9q2c1f4a-17"]),
        (["prove", "5", "--size", "4"], ["not among the first 4"]),
        (["prove", "5", "--size", str(head + 1)], [f"only {head} events"]),
        (["prove", "--from", "1", "--to", str(head + 1)], [f"only {head} events"]),
        (["prove", "--from", str(head + 1)], [f"A log of {head} events"]),
        (["check", "nothing.json"], ["nothing.json"]),
    ):
        checks.bad(*words, has=has, is_unchanged=False)


def spoiled(text, chance):
    """The text with something in it changed, and still JSON most of the time."""
    members = json.loads(text)
    way = chance.randrange(6)
    if way == 0 and members["path"]:
        members["path"].pop(chance.randrange(len(members["path"])))
    elif way == 1:
        members["path"].insert(chance.randint(0, len(members["path"])), members["root"])
    elif way == 2:
        name = chance.choice(["position", "size", "fromSize"])
        if name in members:
            members[name] += chance.choice([-1, 1, 2**40, -members[name], 2**62])
    elif way == 3 and "event" in members:
        members["event"]["acceptedAt"] += 1
    elif way == 4:
        members.pop(chance.choice(sorted(members)))
    else:
        place = chance.randrange(len(text))
        return text[:place] + chance.choice("0123456789abcdef") + text[place + 1:]
    return json.dumps(members)


def check_spoiled(checks, diario, proofs, chance):
    refused = 0
    for _ in range(SPOILED_COUNT):
        text = spoiled(chance.choice(proofs), chance)
        try:
            holds = Proof(text).holds()
        except FormatError:
            holds = False
        result = diario.run("check", "-", stdin=text)
        checks.true(result.code == (0 if holds else 1), f"both say {holds} of {text}", result)
        refused += 0 if holds else 1
    checks.true(refused > SPOILED_COUNT / 2, "spoiled proofs are refused")


def check_tiles(checks, folder, tree, proofs):
    """With tiles of any size, and with damaged ones, the program makes the same proofs."""
    tiles = next((folder / "space/.diario/spaces").iterdir()) / "tiles"
    for size, damage in ((255, None), (600, None), (len(tree.leaves), None), (600, "1")):
        write_tiles(tiles, tree.leaves[:size])
        checks.equal(read_mark(tiles).size, size, "the mark")
        if damage:
            data = bytearray((tiles / damage).read_bytes())
            data[7] ^= 1
            (tiles / damage).write_bytes(data)
        else:
            read_tree(folder / "space")
        for text in proofs:
            proof = json.loads(text)
            words = (["--from", str(proof["fromSize"]), "--to", str(proof["size"])]
                     if proof["proof"] == "consistency"
                     else [str(proof["position"]), "--size", str(proof["size"]), "--event"])
            checks.equal(checks.run("prove", *words, "--json").text, text,
                         f"a proof with tiles of {size}")
    # The proofs did without the damaged tile; verify tells of it.
    faults = checks.diario.run("-C", checks.space, "verify", "--json").json["faults"]
    checks.equal([pathlib.Path(fault["file"]).name for fault in faults], ["1"], "a damaged tile")
    write_tiles(tiles, tree.leaves)
    checks.diario.verify(checks.space)


def check(program, folder):
    diario = Diario(program, folder)
    checks = Checks(diario, folder / "space")
    for command in ("prove", "check"):
        text = diario.good(command, "--help").text
        checks.true(text.startswith("use: diario ") and f" {command} " in text,
                    f"the help of {command}")
    diario.good("init", "space", "--pack", "all")
    examples = "".join(
        path.read_text() for path in sorted(ROOT.glob("schema/*/examples/*.jsonl")))
    checks.run("record", "-", "--quiet", stdin=examples)
    lines = "".join(weight(number) + "\n" for number in range(600))
    checks.run("record", "-", "--quiet", stdin=lines)
    tree, ledger = read_tree(folder / "space")
    chance = random.Random(SEED)
    proofs = check_inclusion(checks, tree, ledger, chance)
    proofs += check_consistency(checks, tree, chance)
    for text in proofs:
        diario.good("check", "-", stdin=text)
    check_forms(checks, diario, folder, tree)
    check_wrong_words(checks, tree)
    check_spoiled(checks, diario, proofs, chance)
    check_tiles(checks, folder, tree, proofs[::4])
    return f"{len(tree.leaves)} leaves, {len(proofs)} proofs, {checks.count} checks"


if __name__ == "__main__":
    main("proofs.py", __doc__, check)
