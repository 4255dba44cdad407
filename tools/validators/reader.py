#!/usr/bin/env python3
"""Compares two readers of one log: the program, and the one written from the format document.

Use: reader.py PROGRAM. Reads the golden directories of version 1. Makes spaces, records the packs'
examples in several ways, and random events, with a field of every form, until some are sealed, also
as pending ones of a replica, and asks both readers for all events and for the root; and has proofs
checked by the second one. Exit 0 if they agree, 1 if not.
"""

import hashlib
import json
import pathlib
import random
import subprocess
import sys
import tarfile
import tempfile
import time

from diario_format import directory
from diario_format.proofs import Proof
from diario_payloads.forms import write_forms
from diario_payloads.lines import Lines
from diario_program import Diario, weight
from diario_program.serving import Server

ROOT = pathlib.Path(__file__).resolve().parents[2]
READER = pathlib.Path(__file__).resolve().parent / "rows.py"
SEALED_COUNT = 2 * 4096
SEALING_SECONDS_MAX = 120


def run(*arguments, text=None):
    """The output of a command, which must succeed."""
    result = subprocess.run(arguments, input=text, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"reader.py: {' '.join(arguments)}: {result.stderr or result.stdout}")
    return result.stdout


def compare(program, space, what):
    """Both readers' words on one space; true if they agree."""
    schema = str(ROOT / "schema")
    theirs = json.loads(run(sys.executable, str(READER), "log", space, "--schema", schema))
    ours = json.loads(run(program, "-C", space, "verify", "--json"))
    export = run(program, "-C", space, "export", "--all")
    export_of_reader = run(
        sys.executable, str(READER), "log", space, "--schema", schema, "--export")
    roots = [entry["root"] for entry in theirs["spaces"]]
    agree = ours["ok"] and roots == [ours["root"]] and export == export_of_reader
    lines = export.split("\n")[:-1]     # splitlines() would cut at other characters too
    print(f"{what}: {len(lines)} events, root {ours['root'][:16]}: "
          f"{'agree' if agree else 'DIFFER'}")
    for left, right in zip(lines, export_of_reader.split("\n")):
        if left != right:
            print(f"  program: {left}\n  reader:  {right}")
            break
    return agree


def sealed_count(space):
    """The number of positions in the manifest's segments."""
    path = next(pathlib.Path(space).glob(".diario/spaces/*/manifest"))
    return sum(listed.count for listed in directory.Manifest(path.read_bytes()).segments)


def record_and_seal(program, space, paths, seed):
    """Records random events by a process that lives until two runs are sealed."""
    lines = Lines(paths, random.Random(seed))
    text = "\n".join(lines.line() for _ in range(SEALED_COUNT + 1000))
    recorder = subprocess.Popen([program, "-C", space, "record", "-", "--quiet"],
                                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    recorder.stdin.write((text + "\n").encode("utf-8"))
    recorder.stdin.flush()
    end = time.monotonic() + SEALING_SECONDS_MAX
    while sealed_count(space) < SEALED_COUNT and recorder.poll() is None:
        if time.monotonic() > end:
            sys.exit("reader.py: nothing was sealed in time")
        time.sleep(0.2)
    recorder.stdin.close()
    if recorder.wait() != 0:
        sys.exit("reader.py: the program did not record")


def compare_lane(program, folder):
    """A replica that records offline and seals what is pending; then all of it gets positions."""
    diario, lane = Diario(program, folder), f"{folder}/lane"
    with Server(diario, f"{folder}/served") as server:
        token = {"DIARIO_TOKEN": server.token()}
        diario.good("clone", server.url(), lane, environment=token)
        lines = "\n".join(weight(number) for number in range(5000))
        diario.good("-C", lane, "record", "-", "--quiet", stdin=lines)
        diario.good("-C", lane, "seal", "--complete")
        diario.good("-C", lane, "record", "-", "--quiet", stdin=lines[:2000].rpartition("\n")[0])
        pending = compare(program, lane, "sealed pending events")
        diario.good("-C", lane, "sync", environment=token)
    diario.good("-C", lane, "seal")
    return pending and compare(program, lane, "the same with positions")


def check_proofs(program, space):
    """The second implementation takes what the program proves, and its root."""
    stats = json.loads(run(program, "-C", space, "stats", "--json"))
    head, good = stats["head"], True
    for words in (["1", "--event"], [str(head)], ["257"], ["--from", "300"], ["--from", "0"]):
        proof = Proof(run(program, "-C", space, "prove", *words, "--json"))
        good = good and proof.holds() and proof.root.hex() == stats["root"]
    print(f"proofs of {head} events: {'hold' if good else 'DO NOT HOLD'}")
    return good


def check_golden(program, folder):
    """Both readers find in the directories of version 1 what was in them when they were made.

    `directory-1.json` says that. Of each device the program also records one more event.
    """
    vectors = ROOT / "schema/vectors"
    with tarfile.open(vectors / "directory-1.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    good = True
    for name, spaces in json.loads((vectors / "directory-1.json").read_text()).items():
        path = f"{folder}/directory-1/{name}"
        reader = [sys.executable, str(READER), "log", path, "--schema", str(ROOT / "schema")]
        theirs = json.loads(run(*reader))["spaces"]
        for found, expected in zip(theirs, spaces, strict=True):
            diario = [program, "-C", path, "--space", expected["id"]]
            ours = json.loads(run(*diario, "verify", "--json"))
            export = run(*diario, "export", "--all")
            digest = hashlib.sha256(export.encode()).hexdigest()
            good = (good and ours["ok"] and ours["root"] == expected["root"]
                    and digest == expected["exportSHA256"]
                    and found | {"exportSHA256": digest} == expected
                    and export == run(*reader, "--export", "--space", expected["id"]))
        if name not in ("served", "backup"):
            run(program, "-C", path, "record", "shed.tool.bought", '{"name":"Saw"}')
            good = good and json.loads(run(program, "-C", path, "verify", "--json"))["ok"]
        print(f"golden directory {name}: {'as it was made' if good else 'DIFFERS'}")
    return good


def main():
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if len(sys.argv) == 2 else 2
    program = str(pathlib.Path(sys.argv[1]).resolve())
    examples = "".join(
        path.read_text() for path in sorted(ROOT.glob("schema/*/examples/*.jsonl")))
    results = []
    with tempfile.TemporaryDirectory() as folder:
        results.append(check_golden(program, folder))
        space = f"{folder}/space"
        run(program, "init", space, "--pack", "all")
        results.append(compare(program, space, "a new space"))
        run(program, "-C", space, "record", "-", "--quiet", text=examples)
        results.append(compare(program, space, "one run of record"))
        for line in examples.splitlines():
            if '"batch"' not in line:
                run(program, "-C", space, "record", "-", "--quiet", text=line)
        results.append(compare(program, space, "a run of record for each line"))
        copy = f"{folder}/copy"
        run(program, "init", copy, "--pack", "all")
        run(program, "-C", copy, "import", "-", text=run(program, "-C", space, "export", "--all"))
        results.append(compare(program, copy, "an import of that"))
        run(program, "-C", copy, "import", "-", text=run(program, "-C", space, "export", "--all"))
        results.append(compare(program, copy, "the same import again"))
        sealed = f"{folder}/sealed"
        write_forms(pathlib.Path(folder))
        run(program, "init", sealed, "--pack", "all", "--schema", f"{folder}/forms")
        paths = [*pathlib.Path(folder, "forms").glob("events/*.json"),
                 *(path for path in ROOT.glob("schema/*/events/*.json")
                   if path.parts[-3] != "engine")]
        record_and_seal(program, sealed, sorted(paths), seed=1)
        results.append(compare(program, sealed, "sealed events"))
        run(program, "-C", sealed, "record", "-", "--quiet", text=examples)
        results.append(compare(program, sealed, "sealed events and later ones"))
        results.append(check_proofs(program, sealed))
        results.append(compare_lane(program, folder))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
