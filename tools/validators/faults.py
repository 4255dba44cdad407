#!/usr/bin/env python3
"""Lets the operating system refuse, call by call, and looks for every acknowledged event.

    faults.py DIARIO

A small library in C, compiled here and put in front of the system's own, makes the n-th write,
sync or open below `.diario` fail with EIO or ENOSPC, or write only a part, once or for ever. The
program must then do what was asked or say why not; it may neither crash, nor hang, nor lose an
event whose origin it printed. Without a C compiler there is nothing to check with.
"""

import json
import random
import shutil
import subprocess
import threading

from diario_program import Diario, Failed, main, require, weight

LIBRARY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* FAULT_CALL names a kind of call: write, sync or open. FAULT_AT is the number of the call of that
 * kind, from 1, that fails first, FAULT_TIMES how many do, FAULT_ERROR the error number, or 0 for
 * a write of half the bytes. FAULT_COUNTS is a file to which the numbers of calls are written. */

static long counts[3];
static const char *const names[3] = {"write", "sync", "open"};

static int is_ours(const char *path) { return strstr(path, ".diario") != NULL; }

static int is_ours_descriptor(int descriptor) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_ours(path);
}

static long number(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text == NULL ? otherwise : atol(text);
}

/* Whether this call fails. */
static int fails(int kind) {
    long count = __atomic_add_fetch(&counts[kind], 1, __ATOMIC_SEQ_CST);
    const char *wanted = getenv("FAULT_CALL");
    if (wanted == NULL || strcmp(wanted, names[kind]) != 0) return 0;
    long first = number("FAULT_AT", 0);
    return count >= first && count < first + number("FAULT_TIMES", 1);
}

static void __attribute__((destructor)) tell(void) {
    const char *path = getenv("FAULT_COUNTS");
    if (path == NULL) return;
    FILE *file = fopen(path, "w");
    if (file == NULL) return;
    fprintf(file, "%ld %ld %ld\n", counts[0], counts[1], counts[2]);
    fclose(file);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static ssize_t faulty_pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    if (is_ours_descriptor(descriptor) && fails(0)) {
        int code = (int)number("FAULT_ERROR", EIO);
        if (code != 0) { errno = code; return -1; }
        count = count > 1 ? count / 2 : count;
    }
    return NEXT(pwrite)(descriptor, bytes, count, offset);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    return faulty_pwrite(descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    return faulty_pwrite(descriptor, bytes, count, (off_t)offset);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    if (is_ours_descriptor(descriptor) && fails(0)) {
        int code = (int)number("FAULT_ERROR", EIO);
        if (code != 0) { errno = code; return -1; }
        count = count > 1 ? count / 2 : count;
    }
    return NEXT(write)(descriptor, bytes, count);
}

static int faulty_sync(int descriptor) {
    if (!is_ours_descriptor(descriptor) || !fails(1)) return 0;
    errno = (int)number("FAULT_ERROR", EIO);
    return -1;
}

int fdatasync(int descriptor) {
    return faulty_sync(descriptor) < 0 ? -1 : NEXT(fdatasync)(descriptor);
}

int fsync(int descriptor) { return faulty_sync(descriptor) < 0 ? -1 : NEXT(fsync)(descriptor); }

static int faulty_open(int directory, const char *path) {
    if (!is_ours(path) && (directory == AT_FDCWD || !is_ours_descriptor(directory))) return 0;
    if (!fails(2)) return 0;
    errno = (int)number("FAULT_ERROR", EIO);
    return -1;
}

#define OPENING(name, directory, path, call)                                                       \
    int mode = 0;                                                                                  \
    if (flags & (O_CREAT | O_TMPFILE)) {                                                           \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode = va_arg(rest, int);                                                                  \
        va_end(rest);                                                                              \
    }                                                                                              \
    return faulty_open(directory, path) < 0 ? -1 : call

int open(const char *path, int flags, ...) {
    OPENING(open, AT_FDCWD, path, NEXT(open)(path, flags, mode));
}
int open64(const char *path, int flags, ...) {
    OPENING(open64, AT_FDCWD, path, NEXT(open64)(path, flags, mode));
}
int openat(int directory, const char *path, int flags, ...) {
    OPENING(openat, directory, path, NEXT(openat)(directory, path, flags, mode));
}
int openat64(int directory, const char *path, int flags, ...) {
    OPENING(openat64, directory, path, NEXT(openat64)(directory, path, flags, mode));
}
"""

SEED = 7
PIECES = 6
PIECE_LINES = 20
FOR_EVER = 1_000_000
EIO, ENOSPC, SHORT = 5, 28, 0
KINDS = ("write", "sync", "open")


class Faults:
    """The program with the library in front of it."""

    def __init__(self, program, folder):
        self.diario = Diario(program, folder)
        self.folder = folder
        self.library = str(folder / "faults.so")
        source = folder / "faults.c"
        source.write_text(LIBRARY)
        done = subprocess.run(
            ["cc", "-shared", "-fPIC", "-O1", "-o", self.library, str(source), "-ldl"],
            stderr=subprocess.PIPE, text=True, check=False)
        require(done.returncode == 0, f"the library does not compile:\n{done.stderr}")
        self.runs = 0
        self.refused = 0

    def environment(self, **faults):
        settings = {f"FAULT_{name.upper()}": str(value) for name, value in faults.items()}
        return {"LD_PRELOAD": self.library} | settings

    def record(self, space, lines, environment):
        """Records line by line in pieces, as its answers come; origins, exit code, message."""
        process = self.diario.start("-C", space, "record", "-", environment=environment)
        origins, rest = [], b""
        # One that hangs is killed, and that counts as a crash.
        watch = threading.Timer(60, process.kill)
        watch.start()
        try:
            for start in range(0, len(lines), PIECE_LINES):
                piece = lines[start:start + PIECE_LINES]
                process.stdin.write("".join(line + "\n" for line in piece).encode())
                while len(origins) < start + len(piece):
                    data = process.stdout.read(65536)
                    if not data:
                        raise BrokenPipeError
                    rest += data
                    *whole, rest = rest.split(b"\n")
                    origins += [origin.decode() for origin in whole]
            process.stdin.close()
        except BrokenPipeError:
            pass
        rest += process.stdout.read()
        origins += [origin.decode() for origin in rest.split(b"\n") if origin]
        message = process.stderr.read().decode()
        code = process.wait()
        watch.cancel()
        for pipe in (process.stdin, process.stdout, process.stderr):
            try:
                pipe.close()
            except BrokenPipeError:
                pass
        return origins, code, message

    def counts(self, template, lines):
        """The number of calls of each kind in a run without faults."""
        space = self.copy(template)
        path = self.folder / "counts"
        origins, code, message = self.record(space, lines, self.environment(counts=path))
        require(code == 0 and len(origins) == len(lines), f"without faults: {message}")
        require(path.exists(), "the library was not loaded")
        return [int(text) for text in path.read_text().split()]

    def copy(self, template):
        space = self.folder / "space"
        if space.exists():
            shutil.rmtree(space)
        shutil.copytree(template, space)
        return str(space)

    def run(self, template, lines, before, **fault):
        """One run with one fault: nothing acknowledged is lost, and the rest is told."""
        space = self.copy(template)
        origins, code, message = self.record(space, lines, self.environment(**fault))
        told = f"fault {fault}, exit code {code}, {len(origins)} origins, stderr {message!r}"
        self.runs += 1
        if code not in (0, 1):
            raise Failed(f"it crashed: {told}")
        if code == 0:
            require(len(origins) == len(lines), f"it ended well without all events: {told}")
        else:
            self.refused += 1
            require(message.startswith("diario: ") and len(message) > 20,
                    f"it does not say what is wrong: {told}")
        found = self.diario.origins(space)
        missing = [origin for origin in origins if found.get(origin) != 1]
        require(not missing, f"acknowledged and lost: {missing[:3]}: {told}")
        require(len(found) <= before + len(lines), f"more events than lines: {told}")
        self.diario.verify(space)


def note(number):
    """A line with an event of about 4 KiB."""
    payload = {"zoneId": "a:b", "pointKey": f"{number:032x}", "text": "x" * 3900}
    return json.dumps({"type": "zones.point.annotated", "payload": payload})


def nearly_full(faults, template):
    """A space whose log has to begin its second file in the next commits."""
    full = faults.folder / "full"
    shutil.copytree(template, full)
    faults.diario.good("-C", full, "record", "-", "--quiet",
                       stdin="".join(note(number) + "\n" for number in range(3_800)))
    kept = faults.folder / "nearly-full"
    number = 3_800
    while len(list((full / ".diario/wal").glob("*.dwal"))) < 2:
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(full, kept)
        require(number < 5_000, "the log never began a second file")
        faults.diario.good("-C", full, "record", "-", "--quiet",
                           stdin="".join(note(number + index) + "\n" for index in range(20)))
        number += 20
    shutil.rmtree(full)
    return kept


def points(total, chance):
    """Which of so many calls fail: the first and the last ones, and some between."""
    first = list(range(1, min(total, 8) + 1))
    last = list(range(max(1, total - 3), total + 1))
    between = [chance.randint(1, total) for _ in range(4)] if total > 12 else []
    return sorted(set(first + last + between))


def few_points(total, chance):
    return sorted({chance.randint(1, total) for _ in range(6)})


def run_all(faults, template, lines, before, choose, chance):
    """Each kind of fault at the calls that `choose` picks."""
    totals = faults.counts(template, lines)
    for kind, total in zip(KINDS, totals):
        errors = (EIO, ENOSPC, SHORT) if kind == "write" else (EIO, ENOSPC)
        for at in choose(total, chance):
            for error in errors:
                times = chance.choice((1, 2, FOR_EVER)) if error != SHORT else 1
                faults.run(template, lines, before, call=kind, at=at, error=error, times=times)


def check(program, folder):
    if shutil.which("cc") is None:
        return "skipped, because there is no C compiler (cc)"
    chance = random.Random(SEED)
    faults = Faults(program, folder)
    template = folder / "template"
    faults.diario.good("init", str(template), "--pack", "all")
    before = len(faults.diario.origins(str(template)))
    lines = [weight(number) for number in range(PIECES * PIECE_LINES)]
    totals = faults.counts(template, lines)
    run_all(faults, template, lines, before, points, chance)
    # The same where a new file of the log is begun.
    template = nearly_full(faults, template)
    before = len(faults.diario.origins(str(template)))
    run_all(faults, template, [note(number) for number in range(2 * PIECE_LINES)], before,
            few_points, chance)
    calls = ", ".join(f"{total} {kind}s" for kind, total in zip(KINDS, totals))
    return (f"{faults.runs} runs with a fault ({calls} in one without), {faults.refused} refused, "
            "no acknowledged event lost")


if __name__ == "__main__":
    main("faults.py", __doc__, check)
