#!/usr/bin/env python3
"""Cuts the network between replicas and a server, by link, and joins it again.

    network.py DIARIO

The server and the replicas are in two network namespaces with one slow link between them, which is
taken down in the middle of `sync --watch` and of `clone`, at either end. That needs root and the
program `ip`; without them nothing is checked, and it says so.
"""

import os
import shutil
import subprocess

from diario_program import Diario, Failed, main, require, wait_for, weight
from diario_program.checks import Checks
from diario_program.serving import Server

SERVER, CLIENT = "10.213.77.1", "10.213.77.2"
EVENTS = 120_000
# With a rate of so much the files of that many events, and the packs, take some seconds.
RATE = "200kbit"


class Wire:
    """Two namespaces and the link between them, taken away with the block that it is used in."""

    def __init__(self):
        mark = os.getpid()
        self.names = (f"diario-{mark}-server", f"diario-{mark}-client")

    def __enter__(self):
        try:
            for name in self.names:
                ip("netns", "add", name)
            ip("-n", self.names[0], "link", "add", "wire", "type", "veth", "peer", "name", "wire",
               "netns", self.names[1])
            for name, address in zip(self.names, (SERVER, CLIENT)):
                ip("-n", name, "address", "add", f"{address}/24", "dev", "wire")
                ip("-n", name, "link", "set", "lo", "up")
                ip("-n", name, "link", "set", "wire", "up")
        except Failed:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind, error, trace):
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)

    def inside(self, end):
        """The words that start a program at an end: 0 the server, 1 the replicas."""
        return ("ip", "netns", "exec", self.names[end])

    def set(self, end, state):
        ip("-n", self.names[end], "link", "set", "wire", state)

    def slow(self):
        """Lets the server's end send slowly; false where the kernel cannot do that."""
        if not shutil.which("tc"):
            return False
        done = subprocess.run(
            ["tc", "-n", self.names[0], "qdisc", "add", "dev", "wire", "root", "tbf", "rate", RATE,
             "burst", "16kb", "latency", "400ms"], capture_output=True, check=False)
        return done.returncode == 0


class DistantServer(Server):
    """A server in a namespace, under the address that it has for others."""

    def url(self, space="home"):
        return f"http://{SERVER}:{self.port}/v1/spaces/{space}"


def ip(*words):
    done = subprocess.run(["ip", *words], capture_output=True, timeout=30, check=False)
    if done.returncode != 0:
        raise Failed(f"ip {' '.join(words)}: {done.stderr.decode('utf-8', 'replace').strip()}")


def reason_to_skip():
    """Why nothing can be checked here; none if it can."""
    if os.geteuid() != 0:
        return "only root may make network namespaces"
    if not shutil.which("ip"):
        return "there is no program ip (the package iproute2)"
    try:
        with Wire():
            return None
    except Failed as error:
        return f"no network namespaces can be made ({error})"


def check_watch(checks, wire, here, replicas):
    """A watching replica goes on when the link is back, whichever end was down."""
    first, second = replicas
    watcher = here.start("-C", first, "sync", "--watch")
    try:
        number = 0
        for end in (1, 0):
            number += 10
            origin = here.good("-C", second, "record", "-", stdin=weight(number)).lines[0]
            here.good("-C", second, "sync")
            wait_for(lambda: origin in here.origins(first), "news come", 60)
            wire.set(end, "down")
            mine = here.good("-C", first, "record", "-", stdin=weight(number + 1)).lines[0]
            refused = here.run("-C", second, "sync")
            checks.equal(refused.code, 1, f"nothing can be synced meanwhile: {refused}")
            checks.true(SERVER in refused.message, f"it says with whom: {refused}")
            checks.equal(len(refused.message.splitlines()), 1, f"in one line: {refused}")
            checks.equal(watcher.poll(), None, "the watch does not end")
            wire.set(end, "up")
            wait_for(lambda: arrived(here, second, mine), "what was recorded meanwhile", 120)
            theirs = here.good("-C", second, "record", "-", stdin=weight(number + 2)).lines[0]
            here.good("-C", second, "sync")
            wait_for(lambda: theirs in here.origins(first), "news come again", 120)
            checks.count += 3
    finally:
        watcher.terminate()
        code = watcher.wait(timeout=30)
        watcher.communicate()
    checks.true(code in (0, 130, 143), f"the watch ends: {code}")
    for replica in replicas:
        here.good("-C", replica, "sync")
    checks.equal(here.verify(first)["root"], here.verify(second)["root"], "both have the same")


def arrived(here, replica, origin):
    return here.run("-C", replica, "sync").code == 0 and origin in here.origins(replica)


def check_clone(checks, wire, here, server, token, folder):
    """A copy that the link broke off is gone on with, or goes on by itself."""
    environment = {"DIARIO_TOKEN": token}
    for end in (1, 0):
        target = folder / f"copy-{end}"
        copying = here.start("clone", server.url("large"), str(target), environment=environment)
        # It has the list of files by now, and fetches them or the packs.
        wait_for(lambda: copying.poll() is not None or (target / ".diario.clone").exists(),
                 "the copy begins", 60)
        checks.equal(copying.poll(), None, "the link is cut before the copy is done")
        wire.set(end, "down")
        checks.true(not (target / ".diario").exists(), "no half of a space is shown")
        wire.set(end, "up")
        _, errors = copying.communicate(timeout=180)
        if copying.returncode != 0:
            checks.equal(len(errors.decode().strip().splitlines()), 1, f"one line: {errors!r}")
            again = here.run("clone", server.url("large"), str(target), environment=environment)
            require(again.code == 0, "the same command goes on", again)
        checks.equal(here.verify(str(target))["events"] >= EVENTS, True, "all events are there")


def check(path, folder):
    reason = reason_to_skip()
    if reason:
        return f"SKIPPED, because {reason}"
    with Wire() as wire:
        there = Diario(path, folder, wire.inside(0))
        here = Diario(path, folder, wire.inside(1))
        checks = Checks(here, folder / "none")
        with DistantServer(there, folder / "served", host=SERVER) as server:
            token = server.token("team", "read,append")
            replicas = [str(folder / "one"), str(folder / "two")]
            for replica in replicas:
                here.good("clone", server.url("team"), replica,
                          environment={"DIARIO_TOKEN": token})
            check_watch(checks, wire, here, replicas)
            token = server.token("large", "admin")
            large = str(folder / "large")
            here.good("init", large, "--pack", "meals")
            here.good("-C", large, "record", "-", "--quiet",
                      stdin="\n".join(weight(number * 7919) for number in range(EVENTS)))
            here.good("-C", large, "publish", server.url("large"),
                      environment={"DIARIO_TOKEN": token})
            is_slow = wire.slow()
            if is_slow:
                check_clone(checks, wire, here, server, token, folder)
            checks.equal(server.stop(), 0, "the server ends")
    skipped = "" if is_slow else "; clone SKIPPED, because tc cannot make the link slow"
    return f"{checks.count} checks{skipped}"


if __name__ == "__main__":
    main("network.py", __doc__, check)
