#!/usr/bin/env python3
"""Runs the example package, and looks at what the build plugin makes.

    example.py DIARIO
    example.py --package

The example in Tests/ExampleApp uses the library and the build plugin; its main.swift stands in
README.md in a block that begins with ```swift tested. The first form runs the program that was
built beside DIARIO, and the tool of the plugin; the second builds the package as somebody else
would, which takes long, and runs that.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "Tests/ExampleApp"
PACKS = EXAMPLE / "Sources/Garden/Packs"
# The output of the example; its origin differs each time.
ROW = r"\[Basil, 150\]\n"
COMES = r'150 ml on [0-9a-z]{13}-2\n'


def fail(message):
    sys.exit(f"example.py: {message}")


def compare_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```swift tested\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    main = (EXAMPLE / "Sources/Garden/main.swift").read_text(encoding="utf-8")
    if blocks != [main]:
        fail("the block in README.md that begins with ```swift tested is not main.swift of "
             "Tests/ExampleApp; copy it")


def build():
    """Builds the package by itself; gives its program."""
    scratch = ROOT / ".build/example"
    result = subprocess.run(
        [ROOT / "tools/build", "--package-path", EXAMPLE, "--scratch-path", scratch,
         "--disable-index-store"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode != 0 or "warning: " in result.stdout:
        fail(f"the example does not build without a warning:\n{result.stdout}")
    return scratch / "debug/Garden"


def run(program):
    with tempfile.TemporaryDirectory() as folder:
        # Twice: the second time the diary is there.
        for outputs in (1, 2):
            result = subprocess.run(
                [program], cwd=folder, text=True, timeout=60, check=False,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if result.returncode != 0:
                fail(f"the example fails with {result.returncode}:\n{result.stdout}")
            if not re.fullmatch(ROW * outputs + COMES, result.stdout):
                fail(f"the example prints something else:\n{result.stdout}")


def make(tool, packs, folder, what="events"):
    """Runs the plugin's tool; gives its exit code, what it says, and what it makes."""
    output = folder / "Packs.swift"
    result = subprocess.run(
        [tool, what, packs, output, folder / "stamp"], text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return result.returncode, result.stdout, output


def look_at_source(tool):
    """The generated code is always the same, and formatted as ours is."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        packs = folder / "Packs"
        packs.mkdir()
        for file in (ROOT / "schema").glob("*/pack.json"):
            (packs / file.parent.name).symlink_to(file.parent)
        (packs / "shapes").symlink_to(ROOT / "Tests/DiarioTests/Packs/shapes")
        (packs / "plants").symlink_to(PACKS / "plants")
        code, text, output = make(tool, packs, folder)
        if code != 0:
            fail(f"no Swift can be made of the packs:\n{text}")
        first = output.read_bytes()
        output.unlink()
        make(tool, packs, folder)
        if output.read_bytes() != first:
            fail("the Swift that is made of the packs differs from time to time")
        lint = subprocess.run(
            ["swift", "format", "lint", "--strict", "--configuration", ROOT / ".swift-format",
             output], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if lint.returncode != 0:
            fail(f"the Swift that is made of the packs is not formatted:\n{lint.stdout[:4000]}")
        return len(first.splitlines())


def look_at_names(tool):
    """A file that is added to any folder changes nothing of what was made before."""
    schema = next(file.parent.parent for file in sorted((ROOT / "schema").glob("*/commands/*")))
    app = schema.name
    event = {"title": f"{app}.aaa.first", "x-diario-version": 1, "type": "object",
             "additionalProperties": False, "required": [], "properties": {
                 "method": {"enum": ["one", "two"]}, "origin": {"enum": ["here"]}}}
    form = {"type": "object", "additionalProperties": False, "required": [],
            "properties": event["properties"]}
    call = {"title": f"{app}.aaa.do", "description": {"en": "Does it.", "it": "Lo fa."},
            "events": [f"{app}.aaa.first"], "input": form,
            "result": form | {"properties": {}}}
    view = call | {"title": f"{app}.aaa.see", "result": form}
    del view["events"]
    files = {"events/aaa.first.1.json": event, "commands/aaa.do.1.json": call,
             "views/aaa.see.1.json": view}
    files = {path: json.dumps(content) for path, content in files.items()}
    files["queries/aaa.sql"] = "-- query aaa(): a\n-- answers (method TEXT)\nSELECT 'a' AS method;"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pack = folder / app
        shutil.copytree(schema, pack)
        before = []
        for path in (None, *files):
            if path:
                (pack / path).write_text(files[path], encoding="utf-8")
            code, said, output = make(tool, pack, folder, "domain")
            if code != 0:
                fail(f"no Swift can be made with {path}:\n{said}")
            lines = output.read_text(encoding="utf-8").splitlines()
            rest = iter(lines)
            if missing := next((line for line in before if line not in rest), None):
                fail(f"{path} changes what was made before: {missing}")
            before = lines
    return len(files)


def look_at_faults(tool):
    """A fault in a pack ends the build with file and line."""
    faults = [
        ("plants/events/plant.watered.1.json", '"integer"', '"integr"',
         "plants/events/plant.watered.1.json:12: error: "),
        ("plants/readmodel/plants.sql", "plants.plant.bought", "plants.plant.sold",
         "plants/readmodel/plants.sql:9: error: "),
        ("plants/examples/first.jsonl", '"sun"', '"moon"',
         "plants/examples/first.jsonl:1: error: "),
        ("plants/pack.json", '"version": 1', '"version": "1"', "plants/pack.json:3: error: "),
    ]
    for path, right, wrong, expected in faults:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            packs = folder / "Packs"
            shutil.copytree(PACKS, packs)
            file = packs / path
            text = file.read_text(encoding="utf-8")
            file.write_text(text.replace(right, wrong, 1), encoding="utf-8")
            code, said, output = make(tool, packs, folder)
            if code != 1 or f"{packs}/{expected}" not in said or output.exists():
                fail(f"{wrong} in {path} gives {code}:\n{said}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        code, said, _ = make(tool, folder / "Packs", folder)
        if code != 1 or "error: there is no pack in the folder Packs" not in said:
            fail(f"no packs at all give {code}:\n{said}")
    return len(faults) + 1


def main():
    if len(sys.argv) != 2:
        fail("use: example.py DIARIO, or example.py --package")
    if sys.argv[1] == "--package":
        began = time.monotonic()
        run(build())
        print(f"example.py: the example package builds by itself and runs, in "
              f"{time.monotonic() - began:.0f} s")
        return
    folder = pathlib.Path(sys.argv[1]).resolve().parent
    # Plugins get their tools under a name of their own.
    tools = [folder / name for name in ("DiarioPackTool", "DiarioPackTool-tool")]
    tool = next((tool for tool in tools if tool.exists()), None)
    if tool is None:
        fail(f"there is no DiarioPackTool beside {sys.argv[1]}; build it first")
    compare_readme()
    run(folder / "Garden")
    lines = look_at_source(tool)
    faults, names = look_at_faults(tool), look_at_names(tool)
    print(f"example.py: the README's program runs; {lines} lines of Swift for the packs are "
          f"formatted, {faults} faults are found, {names} files more change no name")


if __name__ == "__main__":
    main()
