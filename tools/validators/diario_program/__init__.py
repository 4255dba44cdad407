"""Runs the program `diario` as a user would, for the scripts that check its behaviour."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

RUN_SECONDS_MAX = 60


class Failed(Exception):
    """The failed checks."""


class Result:
    """The result of one run of the program."""

    def __init__(self, words, code, out, err):
        self.words = words
        self.code = code
        self.out = out
        self.err = err

    @property
    def text(self):
        return self.out.decode("utf-8")

    @property
    def message(self):
        return self.err.decode("utf-8", "replace").strip()

    @property
    def lines(self):
        # Not `splitlines`, which breaks lines at characters that JSON may hold.
        return self.text.removesuffix("\n").split("\n") if self.text else []

    @property
    def json(self):
        return json.loads(self.text)

    @property
    def events(self):
        return [json.loads(line) for line in self.lines]

    def __str__(self):
        command = " ".join(self.words)
        return (f"diario {command[:300]}\n  exit code {self.code}"
                f"\n  stdout {self.out[:600]!r}\n  stderr {self.err[:600]!r}")


class Diario:
    """The program, with a folder to work in and an environment of its own.

    `before` are the words in front of each command, as of a program that starts it elsewhere, and
    `front` those of the program's own.
    """

    def __init__(self, program, folder, before=(), front=()):
        self.program = str(pathlib.Path(program).resolve())
        self.before = list(before)
        self.front = list(front)
        self.folder = str(folder)
        self.environment = {
            name: value for name, value in os.environ.items()
            if name not in ("DIARIO_DIR", "COLUMNS", "LD_PRELOAD")
        }

    def run(self, *words, stdin=b"", folder=None, environment=None, **options):
        """Runs a command and waits for it."""
        if isinstance(stdin, str):
            stdin = stdin.encode("utf-8")
        done = subprocess.run(
            [*self.before, self.program, *self.front, *words], input=stdin,
            cwd=folder or self.folder, env=self.environment | (environment or {}),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=RUN_SECONDS_MAX, check=False,
            **options)
        return Result([str(word) for word in words], done.returncode, done.stdout, done.stderr)

    def good(self, *words, **options):
        """As `run`, for what must end with 0 and without a word on stderr."""
        result = self.run(*words, **options)
        require(result.code == 0, "it should have ended with 0", result)
        require(result.err == b"" or b"diario: " in result.err, "a strange word on stderr", result)
        return result

    def start(self, *words, folder=None, environment=None, **options):
        """Starts a command with pipes for all that it reads and writes."""
        return subprocess.Popen(
            [*self.before, self.program, *self.front, *words], cwd=folder or self.folder,
            env=self.environment | (environment or {}), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, **options)

    def origins(self, space):
        """The origins that the log of a space has, with how often each is there."""
        counts = {}
        for line in self.good("-C", space, "export", "--all").out.splitlines():
            origin = json.loads(line)["origin"]
            counts[origin] = counts.get(origin, 0) + 1
        return counts

    def verify(self, space):
        """Checks the whole space; what is wrong with it is a failure."""
        result = self.run("-C", space, "verify", "--json")
        require(result.code == 0 and result.json["ok"], "the space does not verify", result)
        return result.json


def require(condition, message, result=None):
    if not condition:
        raise Failed(message if result is None else f"{message}:\n{result}")


def wait_for(condition, what, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failed(f"{what}: not within {seconds} s")
        time.sleep(0.05)


def weight(number, **keys):
    """A line for `record -`: one event of the pack meals."""
    payload = {"day": "2026-03-02", "weightG": 40_000 + number % 100_000, "source": "manual"}
    return json.dumps({"type": "meals.weight.recorded", "payload": payload} | keys)


def main(name, description, check, takes_count=False):
    """Calls `check(program, folder)` in an empty folder; tells how it ended.

    With `takes_count` a number after the program is handed on.
    """
    words = sys.argv[1:]
    numbers = [int(word) for word in words[1:] if takes_count and word.isdecimal()]
    if not words or len(words) != 1 + len(numbers) or len(numbers) > 1:
        sys.exit(f"use: {name} DIARIO{' [N]' if takes_count else ''}\n\n{description}")
    program = pathlib.Path(words[0])
    if not os.access(program, os.X_OK):
        sys.exit(f"{name}: {program} is not there; build it first")
    began = time.monotonic()
    # Paths are compared as the program prints them, so links are resolved first.
    with tempfile.TemporaryDirectory() as folder:
        try:
            told = check(program.resolve(), pathlib.Path(folder).resolve(), *numbers)
        except Failed as error:
            sys.exit(f"{name}: {error}")
        except subprocess.TimeoutExpired as error:
            sys.exit(f"{name}: no end after {error.timeout} s: {error.cmd}")
    print(f"{name}: {told} ({time.monotonic() - began:.1f} s)")
