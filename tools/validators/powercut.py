#!/usr/bin/env python3
"""Cuts the power of a file system while the program records, and reads what is left.

    powercut.py DIARIO

Makes an ext4 image, mounts it, records, and shuts the file system down without writing back what
it holds in memory (EXT4_IOC_SHUTDOWN). After a new mount every acknowledged event must be there.
Needs root, a loop device and ext4; without them it says so and checks nothing.
"""

import ctypes
import fcntl
import os
import pathlib
import random
import shutil
import struct
import subprocess
import threading

from diario_program import Diario, main, require, weight

SHUTDOWN = 0x8004587D
# Goes down at once, without writing back its journal either.
NO_LOG_FLUSH = 2
# A mount namespace of its own.
NEW_NAMESPACE = 0x00020000
ROUNDS = 8
SEED = 11
IMAGE_SIZE = 96 * 1024 * 1024


def tool(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, timeout=60)
    return done.returncode, done.stdout.strip()


class Volume:
    """An ext4 file system in a file."""

    def __init__(self, folder):
        self.image = str(folder / "image")
        self.place = folder / "mounted"
        self.place.mkdir()
        with open(self.image, "wb") as file:
            file.truncate(IMAGE_SIZE)

    def make(self):
        """Why there is none; nothing if there is."""
        if os.getuid() != 0:
            return "it needs root"
        if shutil.which("mkfs.ext4") is None:
            return "there is no mkfs.ext4"
        # Another program that makes a namespace meanwhile would take a copy of this mount along,
        # and the file system would stay as it is, shut down, after it is unmounted here.
        if ctypes.CDLL(None, use_errno=True).unshare(NEW_NAMESPACE) != 0:
            return f"it gets no mount namespace: {os.strerror(ctypes.get_errno())}"
        code, text = tool("mount", "--make-rprivate", "/")
        if code != 0:
            return f"the mounts cannot be made its own: {text}"
        code, text = tool("mkfs.ext4", "-q", "-F", self.image)
        if code != 0:
            return f"mkfs.ext4 fails: {text}"
        code, text = tool("mount", "-o", "loop", self.image, str(self.place))
        return None if code == 0 else f"mount fails: {text}"

    def mount(self):
        code, text = tool("mount", "-o", "loop", self.image, str(self.place))
        require(code == 0, f"the image cannot be mounted again: {text}")

    def unmount(self):
        code, text = tool("umount", str(self.place))
        require(code == 0, f"the image cannot be unmounted: {text}")

    def cut(self):
        """Takes the power away; why not, if it cannot be done."""
        descriptor = os.open(self.place, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
            return None
        except OSError as error:
            return f"the file system cannot be shut down: {error.strerror}"
        finally:
            os.close(descriptor)


def feed(pipe, first):
    try:
        for start in range(first, first + 100_000, 10):
            lines = [weight(number) for number in range(start, start + 10)]
            pipe.write("".join(line + "\n" for line in lines).encode())
    except (BrokenPipeError, ValueError):
        pass


def one_round(diario, volume, space, number, chance):
    """Records until the power goes; the origins that were printed, or why it cannot be cut."""
    process = diario.start("-C", space, "record", "-")
    feeder = threading.Thread(target=feed, args=(process.stdin, number * 100_000))
    feeder.start()
    wanted = chance.randint(1, 1500)
    origins = []
    while len(origins) < wanted:
        line = process.stdout.readline()
        if not line.endswith(b"\n"):
            break
        origins.append(line.decode().strip())
    problem = volume.cut()
    # Everything printed from now on must have been synced before.
    watch = threading.Timer(30, process.kill)
    watch.start()
    if problem is not None:
        process.kill()
    rest = process.stdout.read().rpartition(b"\n")[0]
    origins += rest.decode().split("\n") if rest else []
    errors = process.stderr.read()
    code = process.wait()
    watch.cancel()
    feeder.join()
    for pipe in (process.stdin, process.stdout, process.stderr):
        try:
            pipe.close()
        except BrokenPipeError:
            pass
    if problem is None:
        require(code == 1 and errors.startswith(b"diario: "),
                f"after the power cut it ended with {code}: {errors!r}")
    return origins, problem


def check(program, folder):
    volume = Volume(pathlib.Path(folder))
    problem = volume.make()
    if problem is not None:
        return f"skipped, because {problem}"
    chance = random.Random(SEED)
    diario = Diario(program, folder)
    try:
        space = str(volume.place / "space")
        diario.good("init", space, "--pack", "meals")
        acknowledged = []
        for number in range(ROUNDS):
            origins, problem = one_round(diario, volume, space, number, chance)
            if problem is not None:
                return f"skipped, because {problem}"
            acknowledged += origins
            volume.unmount()
            volume.mount()
            found = diario.origins(space)
            missing = [origin for origin in acknowledged if found.get(origin) != 1]
            require(not missing, f"seed {SEED}, round {number}: lost {len(missing)} of "
                                 f"{len(acknowledged)} acknowledged events: {missing[:3]}")
            diario.verify(space)
        return (f"{ROUNDS} power cuts, {len(acknowledged)} acknowledged events all there, "
                f"{len(found)} in all")
    finally:
        tool("umount", str(volume.place))


if __name__ == "__main__":
    main("powercut.py", __doc__, check)
