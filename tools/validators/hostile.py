#!/usr/bin/env python3
"""Does harm to a server and to what travels to it, and looks for what was acknowledged.

    hostile.py DIARIO

First clients that keep no rules, while another one is served; then replicas that sync through a
proxy which delays, cuts, doubles and garbles, while they and the server are killed. In the end
every event is there once, and all have one root.
"""

import hashlib
import random
import socket
import threading
import time

from diario_format.checksum import crc32c
from diario_format.primitives import Writer
from diario_program import Diario, main, require, weight
from diario_program.checks import Checks
from diario_program.serving import MESSAGE, Proxy, Server, expect

SEED = 20_261_122
ROUNDS = 12
REPLICAS = 3
MEMORY_GROWTH_MAX = 192 * 1024 * 1024
# Twice the size to which one message may unpack.
BOMB_GROWTH_MAX = 64 * 1024 * 1024


def check_wild_clients(checks, server):
    """Messages that unpack to too much, clients that are slow, and guesses."""
    token = server.token()
    path = "/v1/spaces/home/events"
    expect(server.ask("POST", path, token, weight(1)), 201, "a first event")
    memory, descriptors = server.memory(), server.descriptors()
    liar = b"dmsg\x01\x01\x00\x00" + b"\xff\xff\xff\x01" + b"\x00" * 4 + b"\x00" * 100
    peak = server.memory("VmHWM")
    for message, what in ((liar, "a message that lies about its size"),
                          (bomb(server, token), "a message of 100 KB that unpacks to 2 GiB")):
        refused = server.ask("POST", "/v1/spaces/home/sync", token, message,
                             {"Content-Type": MESSAGE, "Accept": MESSAGE})
        checks.equal(refused.status, 400, what)
    grown = server.memory("VmHWM") - peak
    checks.true(grown < BOMB_GROWTH_MAX, f"the memory for it grew by {grown >> 20} MiB")
    slow = [slow_client(server) for _ in range(200)]
    expect(server.ask("GET", "/v1/spaces/home", token), 200, "beside slow clients")
    for connection in slow:
        connection.close()
    guesses = {server.ask("GET", "/v1/spaces/home", f"diario_7zk3m9q2c1f4a_{number:052d}").status
               for number in range(300)}
    checks.equal(guesses, {401}, "guessed tokens")
    end = time.monotonic() + 20
    while server.descriptors() > descriptors + 8 and time.monotonic() < end:
        time.sleep(0.1)
    checks.true(server.descriptors() <= descriptors + 8,
                f"descriptors: {descriptors}, then {server.descriptors()}")
    grown = server.memory() - memory
    checks.true(grown < MEMORY_GROWTH_MAX, f"memory grew by {grown >> 20} MiB")


def bomb(server, token):
    """A push of blocks with a right checksum, each of which is a frame of zstd full of zeros."""
    space = expect(server.ask("GET", "/v1/spaces/home", token), 200, "the space").json
    size, repeated = 2 << 20, 128 << 10
    count = size // repeated
    # Blocks of one byte that is repeated; the last one says that it is.
    frame = b"\x28\xb5\x2f\xfd\xa0" + size.to_bytes(4, "little") + b"".join(
        (repeated << 3 | 1 << 1 | (number == count - 1)).to_bytes(3, "little") + b"\0"
        for number in range(count))
    head = b"dblk\x01\x01" + (2).to_bytes(2, "little") + b"".join(
        number.to_bytes(4, "little") for number in (1, size, len(frame)))
    block = head + crc32c(head, frame).to_bytes(4, "little") + frame
    body = Writer()
    body.u64(int(space["lineage"][:16], 16))
    body.u64(int(space["lineage"][16:], 16))
    body.varint(space["epoch"])
    body.varint(0)
    body.raw(hashlib.sha256(b"").digest())
    body.u64(7)
    body.varint(1000)
    for _ in range(1000):
        body.bytes(block)
    size = len(body.done()).to_bytes(4, "little")
    start = b"dmsg\x01\x01\x00\x00" + size
    return start + crc32c(start, body.done()).to_bytes(4, "little") + body.done()


def slow_client(server):
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=10)
    connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ")
    return connection


def check_faults(checks, diario, server, folder):
    """Replicas sync through harm; they and the server are killed."""
    token = server.token("storm", "read,append")
    expect(server.ask("POST", "/v1/spaces/storm/events", token, weight(0)), 201, "a first event")
    spaces = [str(folder / f"storm-{number}") for number in range(REPLICAS)]
    for space in spaces:
        diario.good("clone", server.url("storm"), space, environment={"DIARIO_TOKEN": token})
    chance = random.Random(SEED)
    proxy = Proxy(server.port, SEED)
    environment = {"DIARIO_TOKEN": token}
    acknowledged = set()
    for space in spaces:
        diario.good("-C", space, "remote", "set", proxy.url("storm"), environment=environment)
    for number in range(ROUNDS):
        processes = []
        for space in spaces:
            lines = "\n".join(weight(chance.randrange(90_000)) for _ in range(chance.choice(
                [1, 10, 500])))
            acknowledged.update(diario.good("-C", space, "record", "-", stdin=lines).lines)
            processes.append(diario.start("-C", space, "sync", "--json"))
        timers = []
        if number % 3 == 1:
            victim = chance.choice(processes)
            timers.append(threading.Timer(chance.uniform(0.01, 0.3), victim.kill))
        if number % 4 == 2:
            timers.append(threading.Timer(chance.uniform(0.01, 0.3), server.kill))
        for timer in timers:
            timer.start()
        for process in processes:
            try:
                process.communicate(timeout=3)
            except Exception:  # pylint: disable=broad-except
                process.kill()
                process.communicate()
        for timer in timers:
            timer.join()
        if server.process.poll() is not None:
            server.start()
    proxy.is_healed = True
    for _ in range(2):
        for space in spaces:
            diario.good("-C", space, "sync", "--json")
    proxy.close()
    roots = set()
    for space in spaces:
        origins = diario.origins(space)
        missing = acknowledged - set(origins)
        require(not missing, f"{len(missing)} acknowledged events are gone: {sorted(missing)[:3]}")
        require(max(origins.values()) == 1, "an event is there twice")
        roots.add(diario.verify(space)["root"])
    roots.add(server.ask("GET", "/v1/spaces/storm", token).json["root"])
    checks.equal(len(roots), 1, "all have one root")
    return len(acknowledged), proxy.counts


def check(path, folder):
    diario = Diario(path, folder)
    checks = Checks(diario, folder / "none")
    with Server(diario, folder / "served") as server:
        check_wild_clients(checks, server)
        count, harms = check_faults(checks, diario, server, folder)
        checks.equal(server.stop(), 0, "it ends with 0")
    told = ", ".join(f"{harm} {count}" for harm, count in sorted(harms.items()))
    return f"{checks.count} checks, {count} events through {told}"


if __name__ == "__main__":
    main("hostile.py", __doc__, check)
