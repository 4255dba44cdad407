#!/usr/bin/env python3
"""A sixth app, by the recipe of tools/README.md: its pack, its rules and a line in each list.

    app.py DIARIO     the pack in a program without its rules: queries, record, schema types
    app.py --build    a copy of the package with the app in it, built, and used by every door
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from diario_program import Diario, Failed, require
from diario_program.serving import Server, expect

ROOT = pathlib.Path(__file__).resolve().parents[2]
APP = ROOT / "Tests" / "SixthApp"


def without_rules(diario):
    """Queries of any pack in use are commands of the program; commands need rules."""
    pack = str(APP / "schema" / "library")
    require(diario.good("schema", "check", pack, "--json").json == {"problems": [], "gaps": []},
            "no problems")
    diario.good("init", "books", "--schema", pack)
    lines = (APP / "schema/library/examples/first.jsonl").read_text(encoding="utf-8")
    diario.good("-C", "books", "record", "-", stdin=lines)
    row = diario.good("-C", "books", "library", "book", "--bookId", "atlas", "--json").json
    require(row == [{"bookId": "atlas", "title": "Atlas", "condition": "used", "lentTo": "Tom",
                     "isLent": True}], "a typed row", row)
    row = diario.good("-C", "books", "library", "lent", "--json").json
    require(row == [{"person": "Tom", "titles": ["Atlas"], "longest": 14}], "a list", row)
    for days, code in ((60, 0), (61, 2), (0, 2)):
        result = diario.run("-C", "books", "library", "lent", "--atLeast", str(days))
        require(result.code == code, f"{days} days: the bounds of the type hold", result)
    refused = diario.run("-C", "books", "library", "book.lend", "--book-id", "atlas", "--to", "Eva",
                         "--actor", "ada")
    require(refused.code == 1 and "no rules" in refused.message, "no rules", refused)
    listed = diario.good("-C", "books", "library").text
    require("library lent" in listed and "library book.add" in listed, "the list")


def make_copy(folder):
    """The package with the app: files, and the lines of the recipe."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], stdout=subprocess.PIPE, check=True).stdout
    for path in listed.decode("utf-8").split("\0"):
        if path and (ROOT / path).is_file():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, folder / path)
    for part in ("schema", "Sources", "Tests"):
        shutil.copytree(APP / part, folder / part, dirs_exist_ok=True)
    for path, before, after in (
            ("Package.swift", ' = [("Fish", true)', ' = [("Fish", true), ("Library", false)'),
            ("Sources/DiarioCLI/Program/App.swift", "[.fish", "[.fish, .library")):
        text = (folder / path).read_text(encoding="utf-8")
        require(text.count(before) == 1, f"{path} has its list")
        (folder / path).write_text(text.replace(before, after), encoding="utf-8")


def with_rules(diario, folder):
    """Commands by the program and over HTTP, the description, and types for pages."""
    diario.good("init", "books", "--pack", "library")
    diario.good("-C", "books", "actor", "set", "ada")
    call = ("-C", "books", "library")
    diario.good(*call, "book.add", "--book-id", "atlas", "--title", "Atlas", "--condition", "used")
    made = diario.good(*call, "book.lend", "--book-id", "atlas", "--to", "Tom", "--json").json
    require(made["result"] == {"days": 14}, "the result", made)
    refused = diario.run(*call, "book.lend", "--book-id", "atlas", "--to", "Eva",
                         "--language", "it")
    require(refused.code == 1 and "Tom has it." in refused.message
            and "Lend atlas when it is back." in refused.message, "words of the pack", refused)
    types = diario.good("schema", "types", "library", "--typescript").text
    for part in ('export type LibraryCondition = "new" | "used" | "torn";',
                 '"library.lent": {', "titles: string[];", "lentTo: string | null;"):
        require(part in types, f"{part} is among the types")
    with Server(diario, folder / "served") as server:
        token = server.token("home", "read,append", "--actor", "ada", "--role",
                             "library.librarian", packs=("--pack", "library"))
        path = "/v1/spaces/home/commands/library.book."
        body = {"input": {"bookId": "atlas", "title": "Atlas", "condition": "used"}}
        expect(server.ask("POST", path + "add", token, json.dumps(body)), 201, "added")
        body = {"input": {"bookId": "atlas", "to": "Tom", "days": 60}}
        answer = expect(server.ask("POST", path + "lend", token, json.dumps(body)), 201, "lent")
        require(answer.json["result"] == {"days": 60}, "the result", answer)
        rows = server.ask("GET", "/v1/spaces/home/queries/library.lent?atLeast=60", token)
        require(rows.json == [{"person": "Tom", "titles": ["Atlas"], "longest": 60}], "rows", rows)
        wrong = server.ask("GET", "/v1/spaces/home/queries/library.lent?atLeast=61", token)
        require(wrong.status == 400, "the bounds of the type hold here, too", wrong)
        document = server.ask("GET", "/v1/openapi.yaml").body.decode("utf-8")
        for part in ("library.book.lend", "library.DayCount", "queries/library.lent"):
            require(part in document, f"{part} is described")


def main():
    if len(sys.argv) != 2:
        sys.exit("use: app.py DIARIO, or app.py --build")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if sys.argv[1] != "--build":
            without_rules(Diario(sys.argv[1], folder))
            print("app.py: queries of a pack without rules are typed commands of the program")
            return
        began = time.monotonic()
        package = folder / "package"
        make_copy(package)
        # As tools/build does: the options of the package, and one product of it.
        done = subprocess.run(["tools/build", "--product", "diario"], cwd=package,
                              env=os.environ | {"TMPDIR": name}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"the package with the app does not build:\n{done.stdout[-4000:]}")
        diario = Diario(package / ".build/debug/diario", folder)
        with_rules(diario, folder)
        print(f"app.py: a sixth app by the recipe, built and used in "
              f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    try:
        main()
    except Failed as failed:
        sys.exit(f"app.py: {failed}")
