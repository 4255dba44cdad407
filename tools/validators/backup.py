#!/usr/bin/env python3
"""Makes backups beside a running server and of a closed folder, and restores them.

    backup.py DIARIO

A restored server has what was acknowledged before the backup began, verifies, and goes on with its
replicas in the next epoch.
"""

import os
import pathlib
import shutil
import subprocess
import threading

from diario_program import Diario, main, require, weight
from diario_program.checks import Checks
from diario_program.serving import Server, expect


def files(folder):
    """Each file of a backup with its inode and bytes."""
    found = {}
    for root, _, names in os.walk(folder):
        for name in names:
            path = pathlib.Path(root) / name
            found[str(path.relative_to(folder))] = (path.stat().st_ino, path.read_bytes())
    return found


def record(server, token, numbers):
    lines = "\n".join(weight(number) for number in numbers)
    return expect(server.ask("POST", "/v1/spaces/home/events", token, lines.encode(),
                             {"Content-Type": "application/x-ndjson"}), 201, "record").json


def check_beside(checks, diario, server, token, target):
    """A backup while somebody writes has all that was acknowledged before."""
    is_over = threading.Event()
    heads = []

    def write():
        number = 0
        while not is_over.is_set():
            heads.append(record(server, token, range(number, number + 50))["head"])
            number += 50

    writer = threading.Thread(target=write)
    before = record(server, token, range(20_000))["head"]
    writer.start()
    made = diario.good("backup", "--data", server.data, target, "--json").json
    is_over.set()
    writer.join(timeout=30)
    space = made["spaces"][0]
    checks.true(before <= space["head"] <= heads[-1], f"what was acknowledged is there: {made}")
    diario.verify(target)
    checks.equal(events_of(diario, target), events_of(diario, server.data)[:space["head"]],
                 "the events, with positions and times")


def events_of(diario, folder):
    return diario.good("-C", folder, "export", "--all").lines


def check_again(checks, diario, server, token, target):
    """A second backup copies what is new, and takes away what is gone."""
    diario.good("-C", server.data, "seal")
    diario.good("backup", "--data", server.data, target)
    first = files(pathlib.Path(target) / ".diario")
    record(server, token, range(100))
    made = diario.good("backup", "--data", server.data, target, "--json").json
    second = files(pathlib.Path(target) / ".diario")
    segments = [name for name in first if name.endswith((".dseg", ".dper"))]
    kept = [name for name in segments if name in second]
    checks.true(kept, "there are segments in both")
    for name in kept:
        checks.equal(second[name][0], first[name][0], f"{name} is the same file")
    size = sum(len(first[name][1]) for name in kept)
    checks.true(made["keptBytes"] >= size, f"what was there is kept: {made}")
    checks.true(".diario.backup" not in os.listdir(target), "nothing is left beside it")
    root = server.ask("GET", "/v1/spaces/home", token).json["root"]
    checks.equal(diario.verify(target)["root"], root, "the root is that of the server")
    # A file of the backup that went bad is copied anew.
    name = pathlib.Path(target) / ".diario" / kept[0]
    name.write_bytes(bytes(len(first[kept[0]][1])))
    diario.good("backup", "--data", server.data, target)
    checks.equal(name.read_bytes(), first[kept[0]][1], "a damaged copy is made anew")
    # One of the source that went bad is not copied.
    source = pathlib.Path(server.data) / ".diario" / kept[0]
    bad = bytearray(first[kept[0]][1])
    bad[len(bad) // 2] ^= 1
    source.write_bytes(bad)
    refused = diario.run("backup", "--data", server.data, target)
    source.write_bytes(first[kept[0]][1])
    checks.true(refused.code == 1 and str(source) in refused.message
                and "is kept as it was" in refused.message, f"a damaged source: {refused}")
    diario.verify(target)
    diario.good("backup", "--data", server.data, target)


def check_broken_off(checks, diario, server, target):
    """What was broken off does no harm, and is gone on with."""
    old = diario.verify(target)["root"]
    for delay in (0.0, 0.005, 0.02, 0.05):
        process = diario.start("backup", "--data", server.data, target)
        try:
            process.wait(timeout=delay)
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()
        checks.equal(diario.verify(target)["root"], old, "the backup before, or the same anew")
    diario.good("backup", "--data", server.data, target)
    checks.equal(sorted(name for name in os.listdir(target) if not name.endswith(".lock")),
                 [".diario"], "all is tidy")


def check_restored(checks, diario, server, token, target, folder):
    """A restored server waits, and goes on with its replicas."""
    replica = str(folder / "replica")
    diario.good("clone", server.url(), replica, environment={"DIARIO_TOKEN": token})
    diario.good("backup", "--data", server.data, target)
    diario.good("-C", replica, "record", "-", stdin=weight(5))
    diario.good("-C", replica, "sync")
    late = diario.origins(replica)
    checks.equal(server.stop(), 0, "the server ends")
    restored = str(folder / "restored")
    shutil.copytree(target, restored, symlinks=True)
    status = diario.good("authority", "status", "--data", restored, "--json").json
    checks.true(status[0]["waiting"], f"it waits before it is served: {status}")
    with Server(diario, restored, port=server.port) as other:
        status = diario.good("authority", "status", "--data", restored, "--json").json
        checks.true(status[0]["waiting"], f"it waits before it is asked: {status}")
        diario.run("-C", replica, "sync")
        status = diario.good("authority", "status", "--data", restored, "--json").json
        checks.true(status[0]["waiting"] and status[0]["epoch"] > 0, f"it waits: {status}")
        diario.good("authority", "resume", "--data", restored)
        expect(other.ask("POST", "/v1/spaces/home/events", token, weight(7)), 201, "it goes on")
        diario.good("-C", replica, "sync")
        checks.equal(diario.verify(replica)["root"],
                     other.ask("GET", "/v1/spaces/home", token).json["root"], "they converge")
        checks.true(set(late) <= set(diario.origins(replica)), "the late event came back")
    refused = diario.run("backup", "--data", target, restored)
    checks.true(refused.code == 1 and "holds a space" in refused.message, f"in use: {refused}")


def check_tokens(checks, diario, data, folder):
    """A token that is made in a backup makes a diary of it."""
    for words in (("token", "create", "--space", "home", "--rights", "read"),
                  ("space", "quota", "home", "--events", "9")):
        target = str(folder / words[0])
        diario.good("backup", "--data", data, target)
        diario.good("token", "list", "--data", target)
        diario.good("space", "quota", "home", "--data", target)
        diario.good("backup", "--data", data, target)
        diario.good(*words, "--data", target)
        refused = diario.run("backup", "--data", data, target)
        checks.true(refused.code == 1 and "holds a space" in refused.message,
                    f"{words[0]} was changed: {refused}")


def check_control(checks, diario, folder):
    """Names and tokens that were damaged are told, kept out of a backup, and given back."""
    data, target = folder / "control", folder / "control-backup"
    with Server(diario, data) as server:
        token = server.token()
        record(server, token, range(3))
        space = diario.good("space", "list", "--data", str(data), "--json").json[0]["id"]
    diario.good("backup", "--data", str(data), str(target))
    file = data / ".diario" / "control.sqlite"
    bad = bytearray(file.read_bytes())
    bad[4096:8192] = bytes(range(256)) * 16
    file.write_bytes(bad)
    for words in (("-C", str(data), "verify"), ("-C", str(data), "repair")):
        told = diario.run(*words)
        checks.true(told.code == 1 and "control.sqlite" in told.text, f"{words[2]}: {told}")
    for words in (("serve", "--data", str(data), "--listen", "127.0.0.1:0"),
                  ("backup", "--data", str(data), str(target))):
        told = diario.run(*words)
        checks.true(told.code == 1 and str(file) in told.message, f"{words[0]}: {told}")
    # What the messages say: the file of the backup, or a new one.
    for is_new in (False, True):
        for path in file.parent.glob("control.sqlite*"):
            path.unlink()
        if is_new:
            told = diario.good("space", "create", "another", "--data", str(data))
            checks.true("1 space without a name" in told.message, f"a nameless space: {told}")
            diario.good("space", "name", space, "home", "--data", str(data))
            told = diario.good("space", "create", "third", "--data", str(data))
            checks.true("without a name" not in told.message, f"none is nameless: {told}")
        else:
            shutil.copy(target / ".diario" / "control.sqlite", file)
        with Server(diario, data) as server:
            record(server, server.token("home", "read,append,relay") if is_new else token,
                   range(3, 6))
        diario.verify(str(data))
        diario.good("backup", "--data", str(data), str(target))


def check_one_damaged(checks, diario, folder):
    """A space without its manifest is named, and keeps nobody from the others."""
    data = folder / "one-damaged"
    with Server(diario, data) as server:
        tokens = {name: server.token(name) for name in ("bad", "good")}
        for name, token in tokens.items():
            expect(server.ask("GET", f"/v1/spaces/{name}", token), 200, "made")
    spaces = diario.good("space", "list", "--data", str(data), "--json").json
    space = next(space["id"] for space in spaces if space["space"] == "bad")
    (data / ".diario" / "spaces" / space / "manifest").write_bytes(b"XXXX")
    with Server(diario, data) as server:
        expect(server.ask("GET", "/v1/spaces/good", tokens["good"]), 200, "the others")
        expect(server.ask("GET", "/v1/spaces/bad", tokens["bad"]), 503, "the damaged one")
    listed = {space["space"]: space for space in
              diario.good("space", "list", "--data", str(data), "--json").json}
    checks.true(listed["bad"]["events"] is None and "manifest" in listed["bad"]["fault"]["file"]
                and listed["good"]["events"] is not None, f"the list: {listed}")
    for word in ("status", "hold", "resume"):
        told = diario.good("authority", word, "--data", str(data))
        checks.true("bad" in told.message and "good" in told.text, f"{word}: {told}")
    refused = diario.run("authority", "hold", "--space", "bad", "--data", str(data))
    checks.true(refused.code == 1 and "manifest" in refused.message, f"held: {refused}")
    diario.good("authority", "hold", "--space", "good", "--data", str(data))
    refused = diario.run("backup", "--data", str(data), str(folder / "one-damaged-backup"))
    checks.true(refused.code == 1 and "the space bad" in refused.message
                and ".." not in refused.message, f"a backup: {refused}")


def check_new(checks, diario, folder):
    """A server's folder in which nothing was recorded yet."""
    data, target = str(folder / "new"), str(folder / "new-backup")
    with Server(diario, data) as server:
        server.stop()
    made = diario.good("backup", "--data", data, target, "--json").json
    checks.equal(made["spaces"], [], "no space")
    for place in (data, target):
        checks.equal(diario.verify(place), {"ok": True, "events": 0, "faults": [], "spaces": []},
                     f"{place} verifies")
        diario.good("-C", place, "repair")
    restored = str(folder / "new-restored")
    shutil.copytree(target, restored)
    with Server(diario, restored) as server:
        record(server, server.token(), range(3))
    diario.verify(restored)


def check_many(checks, diario, folder):
    """Backups beside a server on which spaces are made all the time; one that is made counts."""
    target = str(folder / "many-backup")
    with Server(diario, folder / "many") as server:
        is_over = threading.Event()
        made = []

        def make():
            while not is_over.is_set() and len(made) < 200:
                token = server.token(f"s{len(made)}")
                expect(server.ask("POST", f"/v1/spaces/s{len(made)}/events", token,
                                  weight(len(made))), 201, "record")
                made.append(token)

        maker = threading.Thread(target=make)
        maker.start()
        for _ in range(25):
            before = len(made)
            spaces = diario.good("backup", "--data", server.data, target, "--json").json["spaces"]
            checks.true(len(spaces) >= before, f"{len(spaces)} of at least {before} spaces")
        is_over.set()
        maker.join(timeout=60)
        diario.good("backup", "--data", server.data, target)
    checked = diario.verify(target)
    checks.equal(len(checked["spaces"]), len(made), "all spaces")


def check_refused(checks, diario, data, target, folder):
    """Targets that cannot be used, each with its reason."""
    refused = diario.run("backup", "--data", data, data)
    checks.true(refused.code == 1 and "holds a space" in refused.message, f"itself: {refused}")
    refused = diario.run("backup", "--data", str(folder / "nothing"), target)
    checks.true(refused.code == 1 and "nothing" in refused.message, f"no source: {refused}")
    checks.equal(diario.run("backup").code, 2, "no target")
    (folder / "file").write_text("x")
    refused = diario.run("backup", "--data", data, str(folder / "file"))
    checks.true(refused.code == 1 and "file" in refused.message, f"a file: {refused}")
    full = shutil.which("prlimit")
    if full:
        # A bound on the length of files is what a full disk is to who writes.
        small = folder / "small"
        done = subprocess.run([full, "--fsize=65536", diario.program, "backup", "--data", data,
                               str(small)], capture_output=True, timeout=60, check=False)
        checks.true(done.returncode != 0 and not (small / ".diario").exists(), f"full: {done}")
        diario.good("backup", "--data", data, str(small))
        diario.verify(str(small))
    if os.geteuid() != 0:
        locked = folder / "locked"
        locked.mkdir(mode=0o500)
        refused = diario.run("backup", "--data", data, str(locked))
        checks.true(refused.code == 1 and "may not be written" in refused.message, "read-only")
    diario.good("authority", "resume", "--data", target)
    refused = diario.run("backup", "--data", data, target)
    checks.true(refused.code == 1 and "written to since" in refused.message, f"used: {refused}")


def check(path, folder):
    diario = Diario(path, folder)
    checks = Checks(diario, folder / "none")
    target = str(folder / "backup")
    with Server(diario, folder / "served") as server:
        token = server.token("home", "read,append")
        check_beside(checks, diario, server, token, target)
        check_again(checks, diario, server, token, target)
        check_broken_off(checks, diario, server, target)
        check_restored(checks, diario, server, token, target, folder)
        require((folder / "restored").exists(), "there is a restored folder")
    check_control(checks, diario, folder)
    check_one_damaged(checks, diario, folder)
    check_new(checks, diario, folder)
    check_many(checks, diario, folder)
    check_tokens(checks, diario, str(folder / "served"), folder)
    check_refused(checks, diario, str(folder / "served"), target, folder)
    return f"{checks.count} checks"


if __name__ == "__main__":
    main("backup.py", __doc__, check)
