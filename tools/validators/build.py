#!/usr/bin/env python3
"""Looks at tools/build, by a swift that crashes when it is told to.

    build.py [DIARIO]

The package manager may crash; the build goes on then, but never after what the code is to blame
for. DIARIO is not used: all scripts of this folder are called alike.
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Ends as the first line of a list says that is one shorter each time, with what it was given in a
# file: a number is a status, a name is a signal.
SWIFT = """#!/bin/sh
echo "$@" >>"$FOLDER/calls"
end=$(head -n 1 "$FOLDER/ends")
sed -i 1d "$FOLDER/ends"
case "$end" in
[0-9]*) exit "$end" ;;
*) kill -s "$end" $$ ;;
esac
"""


def built(*ends):
    """Gives the status of a build by a swift that ends so, and how often it was called."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = folder / "swift"
        program.write_text(SWIFT, encoding="utf-8")
        program.chmod(0o755)
        (folder / "ends").write_text("".join(f"{end}\n" for end in ends), encoding="utf-8")
        environment = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}", "FOLDER": name}
        result = subprocess.run(
            [ROOT / "tools/build", "--product", "diario"], env=environment, check=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
        calls = (folder / "calls").read_text(encoding="utf-8").splitlines()
        options = (ROOT / "tools/options").read_text(encoding="utf-8").split()
        expected = " ".join(["build", *options, "--product", "diario"])
        if any(call != expected for call in calls):
            sys.exit(f"build.py: swift was called with other options: {calls}")
        return result.returncode, len(calls)


def main():
    expected = {
        ("0",): (0, 1),
        # A fault of the code: told at once.
        ("1",): (1, 1),
        ("SEGV", "0"): (0, 2),
        ("ABRT", "ILL", "0"): (0, 3),
        ("SEGV", "1"): (1, 2),
        ("SEGV", "TRAP", "SEGV"): (128 + signal.SIGSEGV, 3),
        # Somebody wants it to end.
        ("TERM",): (128 + signal.SIGTERM, 1),
        ("KILL",): (128 + signal.SIGKILL, 1),
    }
    for ends, result in expected.items():
        found = built(*ends)
        if found != result:
            sys.exit(f"build.py: swift ended with {ends}; status and calls are {found}, "
                     f"not {result}")
    print(f"tools/build: {len(expected)} ways to end, all as expected")


main()
