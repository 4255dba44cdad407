#!/usr/bin/env python3
"""Uses a running server as replicas and administrators do, by the real program.

    server.py DIARIO

Replicas clone, record offline, sync and publish; the server is backed up beside its work, put back
to the backup, and loses everything. In the end each event is where it was.
"""

import http.client
import pathlib
import shutil
import signal
import threading
import time

from diario_program import Diario, main, wait_for, weight
from diario_program.checks import Checks
from diario_program.serving import Server, expect

ROOT = pathlib.Path(__file__).resolve().parents[2]


def record(diario, space, number):
    return diario.good("-C", space, "record", "-", stdin=weight(number)).lines[0]


def positions(diario, space):
    lines = diario.good("-C", space, "export", "--all").events
    return [(event.get("position"), event["origin"]) for event in lines]


def check_replicas(checks, diario, server, folder):
    """Two replicas work offline and converge; one of them watches while it records."""
    token = {"DIARIO_TOKEN": server.token("team")}
    spaces = [str(folder / "one"), str(folder / "two")]
    for space in spaces:
        diario.good("clone", server.url("team"), space, environment=token)
        for number in range(3):
            record(diario, space, number)
    reports = [diario.good("-C", space, "sync", "--json").json for space in spaces]
    checks.equal([report["pushed"] for report in reports], [3, 3], "pushed")
    diario.good("-C", spaces[0], "sync")
    nothing = diario.good("-C", spaces[0], "sync", "--json").json
    checks.true(nothing["requests"] == 1 and nothing["bytesSent"] < 400
                and nothing["bytesReceived"] < 400, f"nothing to do costs little: {nothing}")
    checks.equal(len({diario.verify(space)["root"] for space in spaces}), 1, "one root")
    watcher = diario.start("-C", spaces[0], "sync", "--watch")
    try:
        origin = record(diario, spaces[0], 9)
        wait_for(lambda: diario.good("-C", spaces[1], "sync")
                 and origin in diario.origins(spaces[1]), "the other one gets it")
        other = record(diario, spaces[1], 8)
        diario.good("-C", spaces[1], "sync")
        wait_for(lambda: other in diario.origins(spaces[0]), "news come by themselves")
    finally:
        watcher.terminate()
        watcher.communicate(timeout=20)


def check_refused(checks, diario, server, folder):
    """A sync that fails, or whose events are refused, ends with 1, and `status` knows why."""
    first, second = str(folder / "one"), str(folder / "two")
    failed = diario.run("-C", first, "sync", "http://127.0.0.1:9/v1/spaces/team",
                        environment={"DIARIO_TOKEN": server.token("team")})
    checks.equal(failed.code, 1, "nobody answers")
    checks.true("last error" in diario.good("-C", first, "status").text, "status for people")
    for space in (first, second):
        diario.good("-C", space, "record", "meals.weight.recorded", "--if-unchanged",
                    '{"measureId":"me","day":"2026-03-02","weightG":70000,"source":"manual"}')
    diario.good("-C", first, "sync")
    refused = diario.run("-C", second, "sync", "--json")
    checks.true(refused.code == 1 and refused.json["rejected"] == 1
                and "diario inbox list" in refused.message, "refused events", refused)
    for address in (server.url("nothing"), "http://127.0.0.1:1/v1/spaces/home", "ftp://x/"):
        refused = diario.run("clone", address, str(folder / "wrong"),
                             environment={"DIARIO_TOKEN": server.token("team")})
        checks.true(refused.code in (1, 2) and "diario: " in refused.message, "a wrong address")
    checks.true(not (folder / "wrong" / ".diario").exists(), "nothing is left of a failed clone")


def check_publishing(checks, diario, server, folder):
    """A space that was made alone is published, and cloned elsewhere."""
    token = {"DIARIO_TOKEN": server.token("mine", "admin")}
    space, copy = str(folder / "mine"), str(folder / "copy")
    diario.good("init", space, "--pack", "meals")
    diario.good("-C", space, "record", "-", "--quiet",
                stdin="\n".join(weight(number) for number in range(500)))
    before = diario.origins(space)
    diario.good("-C", space, "publish", server.url("mine"), environment=token)
    record(diario, space, 501)
    diario.good("-C", space, "sync")
    diario.good("clone", server.url("mine"), copy, environment=token)
    checks.true(set(before) <= set(diario.origins(copy)), "nothing was lost by publishing")
    checks.equal(diario.verify(copy)["root"], diario.verify(space)["root"], "roots")


def check_backup(checks, diario, server, target):
    """A backup while somebody writes has all that was acknowledged before."""
    token, is_over, heads = server.token("busy"), threading.Event(), []

    def write(count):
        lines = "\n".join(weight(number) for number in range(count))
        answer = server.ask("POST", "/v1/spaces/busy/events", token, lines.encode(),
                            {"Content-Type": "application/x-ndjson"})
        heads.append(expect(answer, 201, "record").json["head"])

    def write_on():
        while not is_over.is_set():
            write(50)

    write(10_000)
    writer = threading.Thread(target=write_on)
    writer.start()
    before = heads[-1]
    made = diario.good("backup", "--data", server.data, target, "--json").json["spaces"]
    is_over.set()
    writer.join(timeout=30)
    head = max(space["head"] for space in made)
    checks.true(before <= head <= heads[-1], f"what was acknowledged is there: {made}")
    diario.verify(target)
    diario.good("backup", "--data", server.data, target)
    refused = diario.run("backup", "--data", server.data, server.data)
    checks.true(refused.code == 1 and "holds a space" in refused.message, "onto itself", refused)


def check_restoring(checks, diario, server, folder):
    """A server that was put back to a backup, and one that lost everything, get it back."""
    admin = {"DIARIO_TOKEN": server.token("lost", "admin", "--actor", "ann")}
    user = {"DIARIO_TOKEN": server.token("lost", "read,append", "--actor", "bob")}
    first_user = dict(user)
    ann, bob = str(folder / "ann"), str(folder / "bob")
    diario.good("clone", server.url("lost"), ann, environment=admin)
    diario.good("clone", server.url("lost"), bob, environment=user)

    def share(number):
        record(diario, bob, number)
        diario.good("-C", bob, "sync", environment=user)
        diario.good("-C", ann, "sync", environment=admin)

    def restored(before, what):
        waits = diario.run("-C", bob, "sync", environment=user)
        checks.true(waits.code == 1 and "remote restore" in waits.message, f"it waits: {waits}")
        diario.good("-C", ann, "remote", "restore", environment=admin)
        diario.good("-C", bob, "sync", environment=user)
        diario.good("-C", ann, "sync", environment=admin)
        checks.equal(diario.verify(bob)["root"], diario.verify(ann)["root"], what)
        checks.equal(positions(diario, bob)[:len(before)], before, f"positions {what}")

    share(1)
    backup = str(folder / "backup")
    check_backup(checks, diario, server, backup)
    share(2)
    before = positions(diario, ann)
    checks.equal(server.stop(), 0, "the server ends")
    shutil.rmtree(server.data)
    shutil.copytree(backup, server.data)
    server.start()
    record(diario, bob, 3)
    restored(before, "after the backup")
    before = positions(diario, ann)
    server.stop()
    shutil.rmtree(server.data)
    pathlib.Path(server.data).mkdir()
    admin["DIARIO_TOKEN"] = server.token("lost", "admin", "--actor", "ann")
    user["DIARIO_TOKEN"] = server.token("lost", "read,append", "--actor", "bob")
    server.start()
    record(diario, bob, 4)
    restored(before, "after the loss")
    rows = diario.good("replicas", "--data", server.data, "--json").json
    checks.true("bob" in [row.get("actor") for row in rows], f"a replica has an owner: {rows}")
    # Put back once more, but nobody gives back: the replica begins again with what the backup has.
    server.stop()
    shutil.rmtree(server.data)
    shutil.copytree(backup, server.data)
    diario.good("authority", "resume", "--data", server.data)
    server.start()
    replica = diario.good("-C", bob, "stats", "--json").json["replica"]
    own = {origin for origin in diario.origins(bob) if origin.startswith(replica)}
    diario.good("-C", bob, "sync", environment=first_user)
    checks.true(own <= set(diario.origins(bob)), "nothing was lost by resuming")
    status = diario.good("-C", bob, "status", "--json").json
    checks.true(status["lastSync"] is not None, f"the sync is remembered: {status}")


def check_revoked(checks, diario, server):
    """Whoever reads on with a token that is revoked hears of it at once."""
    token = server.token("team", "read")
    head = expect(server.ask("GET", "/v1/spaces/team/head", token), 200, "head").json["head"]
    waiting = []
    for path in ("events?live=sse&offset=now", "events?live=long-poll&offset=now",
                 f"head?after={head}"):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        connection.request("GET", f"/v1/spaces/team/{path}",
                           headers={"Authorization": f"Bearer {token}"})
        waiting.append((path, connection))
    stream = waiting[0][1].getresponse()
    checks.true(stream.status == 200 and b"control" in stream.readline(), "a stream begins")
    wait_for(lambda: b"\ndiario_waiting 2\n" in server.ask("GET", "/metrics").body, "two wait")
    began = time.monotonic()
    diario.good("token", "revoke", token.split("_")[1], "--data", server.data)
    stream.read()
    for path, connection in waiting[1:]:
        checks.equal(connection.getresponse().status, 401, path)
    took = time.monotonic() - began
    checks.true(took < 2, f"they end at once, and not after {took} s")


def check_health(checks, diario, server):
    """The numbers of spaces that do not answer, and nothing of where their files lie."""
    spaces = {row["space"] for row in diario.good("space", "list", "--data", server.data,
                                                  "--json").json}
    diario.good("authority", "hold", "--data", server.data, "--space", "team")
    health = expect(server.ask("GET", "/healthz"), 200, "health").json
    checks.equal((health["waiting"], health["damaged"]), (1, 0), "one waits")
    checks.true(b"\ndiario_spaces_waiting 1\n" in server.ask("GET", "/metrics").body, "metrics")
    diario.good("authority", "hold", "--data", server.data)
    health = expect(server.ask("GET", "/healthz"), 503, "health of none").json
    checks.equal((health["waiting"], health["damaged"]), (len(spaces), 0), "all wait")
    diario.good("authority", "resume", "--data", server.data)
    token = server.token("broken", "read")
    spaces = diario.good("space", "list", "--data", server.data, "--json").json
    broken = next(row["id"] for row in spaces if row["space"] == "broken")
    manifest = pathlib.Path(server.data, ".diario", "spaces", broken, "manifest")
    kept = manifest.read_bytes()
    manifest.write_bytes(b"nothing")
    health = expect(server.ask("GET", "/healthz"), 200, "health").json
    checks.equal((health["waiting"], health["damaged"]), (0, 1), "one is damaged")
    refused = expect(server.ask("GET", "/v1/spaces/broken/events", token), 503, "damaged")
    checks.true(broken not in str(refused) and "manifest" not in str(refused), f"{refused}")
    wait_for(lambda: any(b'"cause":' in line and b"manifest" in line for line in server.log),
             "the log says which file")
    manifest.write_bytes(kept)
    expect(server.ask("GET", "/v1/spaces/broken/events", token), 200, "whole again")
    server.process.send_signal(signal.SIGHUP)
    wait_for(lambda: any(b"SIGHUP: there is no certificate" in line for line in server.log),
             "SIGHUP without TLS")
    expect(server.ask("GET", "/healthz"), 200, "after SIGHUP")


def check_queries(checks, diario, server):
    """Named queries for a token that gives nothing else, and for anybody."""
    files = sorted((ROOT / "schema").glob("*/queries/public-*.sql"))
    pack = files[0].parts[-3]
    first, last = files[0].stem, [file for file in files if file.parts[-3] == pack][-1].stem
    private = next(file.stem for file in sorted(files[0].parent.iterdir())
                   if not file.stem.startswith("public-"))
    reader = server.token("sums", "read", packs=("--pack", pack))
    queries = [row["pack"] + "." + row["name"] for row in server.ask(
        "GET", "/v1/spaces/sums/queries", reader).json["queries"]]
    public = sorted(name for name in queries if name.startswith(f"{pack}.public-"))
    made = diario.good("token", "create", "--data", server.data, "--space", "sums",
                       "--queries", f"{pack}.public-*", "--json")
    checks.equal((made.json["rights"], made.json["queries"]), (["ask"], [f"{pack}.public-*"]),
                 "ask")
    token = made.json["token"]

    def listed(bearer):
        answer = expect(server.ask("GET", "/v1/spaces/sums/queries", bearer), 200, "the list")
        return sorted(row["pack"] + "." + row["name"] for row in answer.json["queries"])

    def status(path, bearer):
        return server.ask("GET", f"/v1/spaces/sums{path}", bearer).status

    checks.equal(listed(token), public, "only those are listed")
    checks.equal(status(f"/queries/{pack}.{first}", token), 200, "one of those")
    for path in (f"/queries/{pack}.{private}", f"/queries/{pack}.none", "/events", "/head", "",
                 "/packs"):
        checks.equal(status(path, token), 403, path)
        checks.equal(status(path, None), 401, f"{path} without a token")
    checks.equal(diario.run("clone", server.url("sums"), "asked", environment={
        "DIARIO_TOKEN": token}).code, 1, "no replica is made with it")
    checks.equal(status(f"/queries/{pack}.{first}", None), 401, "off by default")
    warned = diario.good("token", "create", "--data", server.data, "--space", "sums",
                         "--queries", f"{pack}.pubic-*", "--json")
    checks.true(f"{pack}.pubic-*" in warned.message and f"{pack}.{last}" in warned.message,
                "what matches nothing is told", warned)
    set_public = ("space", "public", "sums", "--data", server.data)
    shown = diario.good(*set_public, "--queries", f"{pack}.public-*", "--json").json
    checks.equal((shown["queries"], shown["matches"]), ([f"{pack}.public-*"], public), "public")
    checks.equal(diario.good(*set_public, "--json").json, shown, "shown")
    checks.equal(listed(None), public, "anybody sees those")
    checks.equal(status(f"/queries/{pack}.{first}", None), 200, "anybody asks them")
    checks.equal(status(f"/queries/{pack}.{private}", None), 401, "and no other")
    answer = server.ask("GET", f"/v1/spaces/sums/queries/{first}",
                        headers={"Origin": "https://example.org"})
    checks.equal(answer.headers["Access-Control-Allow-Origin"], "*", "from another page")
    statuses = [status("/queries", None) for _ in range(300)]
    checks.true(429 in statuses and set(statuses) == {200, 429}, f"a rate: {set(statuses)}")
    checks.equal(status("/queries", reader), 200, "tokens are not concerned")
    checks.equal(diario.good(*set_public, "--queries", "", "--json").json["queries"], [], "ended")
    checks.equal(status(f"/queries/{pack}.{first}", None), 401, "it is over")
    wrong = diario.run(*set_public, "--queries", "public-*")
    checks.true(wrong.code == 2 and "PACK.QUERY" in wrong.message, "without a pack", wrong)


def check_unused(checks, diario, folder):
    """A space that nobody had used at the backup waits as well after it was put back."""
    data, copy, backup = folder / "fresh", str(folder / "freshcopy"), str(folder / "freshbackup")
    diario.good("space", "create", "home", "--data", str(data), "--pack", "meals")
    with Server(diario, data) as server:
        token = server.token("home", "read,append")
        # One that is made beside the server counts too.
        later = server.token("later", "read,append")
        diario.good("backup", "--data", server.data, backup)
        diario.good("clone", server.url(), copy, environment={"DIARIO_TOKEN": token})
        origin = record(diario, copy, 1)
        diario.good("-C", copy, "sync", environment={"DIARIO_TOKEN": token})
        server.kill()
        shutil.rmtree(server.data)
        shutil.copytree(backup, server.data)

        def waiting():
            rows = diario.good("authority", "status", "--data", server.data, "--json").json
            return {row["space"]: row["waiting"] for row in rows}

        checks.equal(waiting(), {"home": True, "later": True}, "both wait before the start")
        server.start()
        new = server.token("new", "read,append")
        for space, bearer, status in (("home", token, 503), ("later", later, 503),
                                      ("new", new, 201)):
            answer = server.ask("POST", f"/v1/spaces/{space}/events", bearer, weight(2))
            expect(answer, status, space)
        checks.equal(waiting(), {"home": True, "later": True, "new": False}, "those of before wait")
        diario.good("authority", "resume", "--data", server.data)
        answer = server.ask("POST", "/v1/spaces/home/events", token, weight(2))
        origins = {origin, *expect(answer, 201, "resumed").json["origins"]}
        diario.good("-C", copy, "sync", environment={"DIARIO_TOKEN": token})
        checks.true(origins <= set(diario.origins(copy)), "the replica has both events then")


def check(path, folder):
    diario = Diario(path, folder)
    checks = Checks(diario, folder / "none")
    with Server(diario, folder / "served") as server:
        expect(server.ask("GET", "/healthz"), 200, "health")
        metrics = expect(server.ask("GET", "/metrics"), 200, "metrics").body.decode()
        checks.true("# TYPE diario_" in metrics, f"metrics: {metrics[:200]}")
        check_replicas(checks, diario, server, folder)
        check_refused(checks, diario, server, folder)
        check_publishing(checks, diario, server, folder)
        check_revoked(checks, diario, server)
        check_health(checks, diario, server)
        check_queries(checks, diario, server)
        check_restoring(checks, diario, server, folder)
    check_unused(checks, diario, folder)
    return f"{checks.count} checks"


if __name__ == "__main__":
    main("server.py", __doc__, check)
