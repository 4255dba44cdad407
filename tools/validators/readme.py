#!/usr/bin/env python3
"""Runs the commands of README.md and those of packs, so that what a reader types works.

    readme.py DIARIO

Takes the fenced blocks of a file that begin with ```sh tested and runs them, one after another, in
one shell and one empty folder, with DIARIO as `diario`. Any command that fails, fails. The port of
the server is one that is free.
"""

import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile


def tested_blocks(text):
    return re.findall(r"^```sh tested\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def main():
    if len(sys.argv) != 2:
        sys.exit("use: readme.py DIARIO")
    program = pathlib.Path(sys.argv[1]).resolve()
    if not os.access(program, os.X_OK):
        sys.exit(f"readme.py: {program} is not there; build it first")
    root = pathlib.Path(__file__).resolve().parents[2]
    count = run(program, root / "README.md")
    if not count:
        sys.exit("readme.py: README.md has no block that begins with ```sh tested")
    for readme in sorted(root.glob("schema/*/README.md")):
        count += run(program, readme)
    print(f"readme.py: the commands of {count} blocks of README.md and of packs work")


def run(program, readme):
    """Runs the blocks of a file; gives how many there are."""
    blocks = tested_blocks(readme.read_text(encoding="utf-8"))
    if not blocks:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        programs = pathlib.Path(folder, "bin")
        work = pathlib.Path(folder, "work")
        programs.mkdir()
        work.mkdir()
        (programs / "diario").symlink_to(program)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        # A server must not survive a failure.
        script = "set -eux\ntrap 'kill $! 2>/dev/null || true; wait' EXIT\n" + "".join(blocks)
        script = script.replace("127.0.0.1:8080", f"127.0.0.1:{port}")
        environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"}
        # The commands are shown as they run, so the last one shown is the one that failed.
        result = subprocess.run(
            ["sh", "-c", script], cwd=work, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
    if result.returncode != 0:
        print(result.stdout)
        sys.exit(f"readme.py: a command of {readme} failed with {result.returncode}")
    return len(blocks)


if __name__ == "__main__":
    main()
