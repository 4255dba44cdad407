#!/usr/bin/env python3
"""Uses a running server as people and replicas do.

    server.py DIARIO

Everything goes through the real program and real sockets: requests by hand, live reading, replicas
that clone, record offline, sync and publish, and the server's end.
"""

import http.client
import json
import shutil
import threading
import time
from pathlib import Path

from diario_program import Diario, main, require, wait_for, weight
from diario_program.checks import Checks
from diario_program.serving import MESSAGE, Server, expect


def spoilt(token):
    """Another token, with a last character that this one does not have."""
    return token[:-1] + ("0" if token[-1] != "0" else "1")


def check_doors(checks, server):
    """Who gets in, and what is said to who does not."""
    token = server.token()
    expect(server.ask("GET", "/healthz"), 200, "health")
    metrics = expect(server.ask("GET", "/metrics"), 200, "metrics").body.decode()
    checks.true("diario_" in metrics and "# TYPE" in metrics, f"metrics: {metrics[:200]}")
    expect(server.ask("GET", "/v1/spaces/home"), 401, "no token")
    expect(server.ask("GET", "/v1/spaces/home", spoilt(token)), 401, "a wrong token")
    expect(server.ask("GET", "/v1/spaces/work", token), 404, "another space")
    space = expect(server.ask("GET", "/v1/spaces/home", token), 200, "the space").json
    checks.equal([pack["name"] for pack in space["packs"]], ["meals"], "its packs, and no other")
    answer = expect(server.ask("PUT", "/v1/spaces/home/events", token), 405, "another method")
    checks.true("POST" in answer.headers["Allow"], "Allow")
    for path in ("/v1/spaces/home/segments/../manifest", "/v1/spaces/home/segments/%2e%2e%2f",
                 "/v1/spaces/../../etc/passwd", "/v1//home", "/" + "a" * 1000):
        expect(server.ask("GET", path, token), 404, path)
    reader = server.token("home", "read")
    expect(server.ask("POST", "/v1/spaces/home/events", reader, weight(1)), 403, "a right")
    old = server.diario.good("token", "list", "--data", server.data, "--json").json
    checks.equal(len(old), 2, "tokens")
    server.diario.good("token", "revoke", old[-1]["id"], "--data", server.data)
    codes = {server.ask("GET", "/v1/spaces/home", each).status for each in (token, reader)}
    checks.equal(codes, {200, 401}, "one of two was revoked beside the server")


def check_events(checks, server):
    """Recording and reading by hand."""
    token = server.token("events", "read,append", "--actor", "alice")
    path = "/v1/spaces/events/events"
    one = expect(server.ask("POST", path, token, weight(1)), 201, "record").json
    checks.equal(len(one["origins"]), 1, "one origin")
    lines = "\n".join(weight(number) for number in range(2500))
    many = expect(server.ask("POST", path, token, lines.encode(),
                             {"Content-Type": "application/x-ndjson"}), 201, "record many").json
    checks.equal(many["head"], one["head"] + 2500, "the head")
    bad = weight(1) + "\n" + weight(2).replace("weightG", "weight")
    problem = expect(server.ask("POST", path, token, bad.encode(),
                                {"Content-Type": "application/x-ndjson"}), 400, "a bad one").json
    checks.equal((problem["line"], "line 2" in problem["detail"]), (2, True), "the line is named")
    offset, count, rounds = "-1", 0, 0
    while True:
        answer = expect(server.ask("GET", f"{path}?offset={offset}&type=meals.weight.recorded",
                                   token), 200, "read")
        count += len(answer.json)
        offset = answer.headers["Stream-Next-Offset"]
        rounds += 1
        if answer.headers.get("Stream-Up-To-Date") == "true":
            break
        require(rounds < 100, "reading has no end")
    checks.equal((count, answer.json[-1]["actor"]), (2501, "alice"), "all were read")
    again = server.ask("GET", f"{path}?offset={offset}", token)
    tag = again.headers["ETag"]
    checks.equal(server.ask("GET", f"{path}?offset={offset}", token, None,
                            {"If-None-Match": tag}).status, 304, "not modified")
    cloud = server.ask("GET", f"{path}?offset=-1&limit=3&type=meals.", token, None,
                       {"Accept": "application/cloudevents-batch+json"})
    checks.equal({event["specversion"] for event in cloud.json}, {"1.0"}, "CloudEvents")
    queries = expect(server.ask("GET", "/v1/spaces/events/queries", token), 200, "queries").json
    checks.true(any(query["name"] == "weights" for query in queries["queries"]), "weights")
    rows = expect(server.ask("GET", "/v1/spaces/events/queries/weights?user=alice"
                             "&first=2026-01-01&last=2026-12-31", token), 200, "a query").json
    checks.equal(len(rows), 2501, "rows of the query")
    expect(server.ask("GET", "/v1/spaces/events/queries/weights", token), 400, "no parameters")
    return token, path, offset


def check_live(checks, server, token, path, offset):
    """Readers that wait get what is recorded meanwhile."""
    found = {}

    def poll():
        found["poll"] = server.ask("GET", f"{path}?offset={offset}&live=long-poll", token)

    def stream():
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        connection.request("GET", f"{path}?offset={offset}&live=sse", None,
                           {"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        text = b""
        while text.count(b"event: control") < 2:
            piece = answer.read1(65536)
            if not piece:
                break
            text += piece
            if b"upToDate" in text and "ready" not in found:
                found["ready"] = True
        found["stream"] = text.decode()
        connection.close()

    threads = [threading.Thread(target=poll), threading.Thread(target=stream)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + 10
    while "ready" not in found and time.monotonic() < end:
        time.sleep(0.01)
    made = expect(server.ask("POST", path, token, weight(77)), 201, "record").json
    for thread in threads:
        thread.join(timeout=20)
    poll_answer = expect(found["poll"], 200, "long poll")
    checks.equal(poll_answer.json[0]["origin"], made["origins"][0], "the poll has the event")
    checks.true(poll_answer.headers["Stream-Cursor"].isdecimal(), "a cursor")
    checks.true(made["origins"][0] in found["stream"], "the stream has the event")
    head = server.ask("GET", f"/v1/spaces/events/head?after={made['head']}&wait=0", token)
    checks.equal(head.status, 204, "no later head")


def check_replicas(checks, diario, server, folder):
    """Two replicas work offline and converge."""
    token = server.token("team", "read,append,admin")
    expect(server.ask("POST", "/v1/spaces/team/events", token, weight(0)), 201, "a first event")
    spaces = [folder / "one", folder / "two"]
    for space in spaces:
        diario.good("clone", server.url("team"), str(space), environment={"DIARIO_TOKEN": token})
    for number, space in enumerate(spaces):
        for count in range(3):
            diario.good("-C", str(space), "record", "-", stdin=weight(10 * number + count))
    reports = [diario.good("-C", str(space), "sync", "--json").json for space in spaces]
    checks.equal([report["pushed"] for report in reports], [3, 3], "pushed")
    checks.equal(reports[1]["pulled"] >= 3, True, "pulled")
    last = diario.good("-C", str(spaces[0]), "sync", "--json").json
    checks.equal((last["pending"], last["rejected"]), (0, 0), "nothing is left")
    nothing = diario.good("-C", str(spaces[0]), "sync", "--json").json
    checks.true(nothing["requests"] == 1 and nothing["bytesSent"] < 400
                and nothing["bytesReceived"] < 400, f"nothing to do costs little: {nothing}")
    roots = {diario.good("-C", str(space), "stats", "--json").json["root"] for space in spaces}
    roots.add(server.ask("GET", "/v1/spaces/team", token).json["root"])
    checks.equal(len(roots), 1, "all have one root")
    for space in spaces:
        diario.verify(str(space))
    status = diario.good("-C", str(spaces[0]), "status", "--json").json
    checks.equal((status["pending"], status["head"]), (0, last["head"]), "status")
    listed = server.ask("GET", "/v1/spaces/team/replicas", token).json["replicas"]
    checks.equal(len([replica for replica in listed if "seen" in replica]), 2, "replicas are seen")
    named = diario.good("replicas", "--data", server.data, "--space", "team", "--json").json
    checks.equal({replica["replica"] for replica in named},
                 {replica["replica"] for replica in listed}, "diario replicas")
    return token, spaces


def check_failing(checks, diario, token, spaces):
    """A sync that fails, or whose events are refused, ends with 1, and `status` knows why."""
    first, second = map(str, spaces)
    failed = diario.run("-C", first, "sync", "http://127.0.0.1:9/v1/spaces/team",
                        environment={"DIARIO_TOKEN": token})
    checks.equal(failed.code, 1, "nobody answers")
    status = diario.good("-C", first, "status", "--json").json
    checks.true(status["lastError"] and status["lastError"] in failed.message,
                f"status knows the last error: {status}")
    checks.true("last error" in diario.good("-C", first, "status").text, "status for people")
    for space in (first, second):
        diario.good("-C", space, "record", "meals.weight.recorded", "--if-unchanged",
                    '{"measureId":"me","day":"2026-03-02","weightG":70000,"source":"manual"}')
    diario.good("-C", first, "sync")
    checks.equal(diario.good("-C", first, "status", "--json").json["lastError"], None, "it is over")
    refused = diario.run("-C", second, "sync", "--json")
    checks.true(refused.code == 1 and refused.json["rejected"] == 1
                and "diario inbox list" in refused.message, "refused events", refused)
    checks.equal(diario.good("-C", second, "sync", "--json").json["rejected"], 0, "told once")


def check_watch(checks, diario, server, spaces):
    """`sync --watch` in one terminal and `record` in another work together."""
    watcher = diario.start("-C", str(spaces[0]), "sync", "--watch")
    try:
        origin = diario.good("-C", str(spaces[0]), "record", "-", stdin=weight(99)).lines[0]
        wait_for(lambda: pulled(diario, spaces[1], origin), "the other one gets it")
        other = diario.good("-C", str(spaces[1]), "record", "-", stdin=weight(98)).lines[0]
        diario.good("-C", str(spaces[1]), "sync", "--json")
        wait_for(lambda: other in diario.origins(str(spaces[0])), "news come by themselves")
        checks.count += 2
    finally:
        watcher.terminate()
        code = watcher.wait(timeout=20)
    checks.true(code in (0, 130, 143), f"the watch ends: {code}")


def pulled(diario, space, origin):
    diario.good("-C", str(space), "sync", "--json")
    return origin in diario.origins(str(space))


def check_publishing(checks, diario, server, folder):
    """A space that was made alone is published, and cloned elsewhere."""
    token = server.token("mine", "admin")
    space = str(folder / "mine")
    diario.good("init", space, "--pack", "meals")
    diario.good("-C", space, "record", "-", "--quiet",
                stdin="\n".join(weight(number) for number in range(500)))
    before = diario.origins(space)
    diario.good("-C", space, "publish", server.url("mine"), environment={"DIARIO_TOKEN": token})
    diario.good("-C", space, "record", "-", stdin=weight(501))
    report = diario.good("-C", space, "sync", "--json").json
    checks.equal((report["pushed"], report["pending"]), (1, 0), "it is a replica now")
    copy = str(folder / "copy")
    diario.good("clone", server.url("mine"), copy, environment={"DIARIO_TOKEN": token})
    after = diario.origins(copy)
    packs = expect(server.ask("GET", "/v1/spaces/mine", token), 200, "the space").json["packs"]
    checks.equal([pack["name"] for pack in packs], ["meals"], "the packs of its space")
    checks.true(set(before) <= set(after), "nothing was lost by publishing")
    checks.equal(diario.verify(copy)["root"], diario.verify(space)["root"], "roots")


def check_restoring(checks, diario, server, folder):
    """A server that was put back to a backup, and one that lost everything, get it back."""
    admin = {"DIARIO_TOKEN": server.token("lost", "admin", "--actor", "ann")}
    user = {"DIARIO_TOKEN": server.token("lost", "read,append", "--actor", "bob")}
    ann, bob = str(folder / "ann"), str(folder / "bob")
    diario.good("clone", server.url("lost"), ann, environment=admin)
    diario.good("clone", server.url("lost"), bob, environment=user)

    def share(number):
        diario.good("-C", bob, "record", "-", stdin=weight(number))
        diario.good("-C", bob, "sync", environment=user)
        diario.good("-C", ann, "sync", environment=admin)

    def same(what):
        report = diario.good("-C", bob, "sync", "--json", environment=user).json
        checks.equal(report["pending"], 0, what)
        diario.good("-C", ann, "sync", environment=admin)
        checks.equal(diario.verify(bob)["root"], diario.verify(ann)["root"], what)
        return positions(bob)

    def positions(space):
        lines = diario.good("-C", space, "export", "--all").out.splitlines()
        return [(event.get("position"), event["origin"]) for event in map(json.loads, lines)]

    share(1)
    backup = str(folder / "backup")
    diario.good("-C", server.data, "backup", backup)
    share(2)
    before = positions(ann)
    checks.equal(server.stop(), 0, "the server ends")
    shutil.rmtree(server.data)
    shutil.copytree(backup, server.data)
    server.start()
    diario.good("-C", bob, "record", "-", stdin=weight(3))
    waits = diario.run("-C", bob, "sync", environment=user)
    checks.true(waits.code == 1 and "remote restore" in waits.message, f"it waits: {waits}")
    refused = diario.run("-C", bob, "remote", "restore", environment=user)
    checks.true(refused.code == 1 and "admin" in refused.message, f"without the right: {refused}")
    # Somebody who waits for news hears of them from the space that comes in the place of this one.
    heard = []
    path = f"/v1/spaces/lost/head?after={len(before) + 100}&wait=5"
    waiting = threading.Thread(target=lambda: heard.append(
        server.ask("GET", path, user["DIARIO_TOKEN"]).status))
    waiting.start()
    time.sleep(0.3)
    done = diario.good("-C", ann, "remote", "restore", "--json", environment=admin).json
    checks.equal(done["restored"], True, "it gets back what it lost")
    waiting.join()
    checks.true(heard and heard[0] in (200, 204, 404, 503), f"who waited is answered: {heard}")
    after = same("after the backup")
    checks.equal(after[:len(before)], before, "positions are what they were")

    server.stop()
    shutil.rmtree(server.data)
    Path(server.data).mkdir()
    admin["DIARIO_TOKEN"] = server.token("lost", "admin", "--actor", "ann")
    user["DIARIO_TOKEN"] = server.token("lost", "read,append", "--actor", "bob")
    server.start()
    diario.good("-C", bob, "record", "-", stdin=weight(4))
    refused = diario.run("-C", bob, "sync", environment=user)
    checks.true(refused.code == 1 and "remote restore" in refused.message, f"lost: {refused}")
    diario.good("-C", ann, "remote", "restore", environment=admin)
    checks.equal(same("after the loss")[:len(after)], after, "positions, once more")
    # By the address of another space: each command that the refusals name does what they say.
    other, ids = str(folder / "other"), {"DIARIO_TOKEN": server.token("other", "admin")}
    diario.good("clone", server.url("other"), other, environment=ids)
    refused = diario.run("-C", ann, "sync", server.url("other"), environment=ids)
    checks.true(refused.code == 1 and "Check the address" in refused.message
                and "diario clone" not in refused.message, f"of an unused one: {refused}")
    diario.good("-C", other, "record", "-", stdin=weight(5))
    diario.good("-C", other, "sync", environment=ids)
    refused = diario.run("-C", ann, "sync", server.url("other"), environment=ids)
    checks.true(refused.code == 1 and all(
        word in refused.message for word in ("Check the address", "diario clone", "remote set")),
        f"of one that is used: {refused}")
    refused = diario.run("-C", ann, "remote", "restore", server.url("other"), environment=ids)
    checks.true(refused.code == 1 and "remote set" in refused.message, f"taken: {refused}")
    export = folder / "ann.jsonl"
    export.write_bytes(diario.good("-C", ann, "export", "--all").out)
    made = str(folder / "anew")
    diario.good("clone", server.url("other"), made, environment=ids)
    diario.good("-C", made, "import", str(export))
    diario.good("-C", made, "sync", environment=ids)
    key = folder / "again.key"
    key.write_text(server.token("again", "admin"))
    diario.good("-C", ann, "remote", "set", server.url("again"), "--token-file", str(key))
    diario.good("-C", ann, "remote", "restore")
    diario.good("-C", ann, "sync")
    checks.equal(positions(ann)[:len(after)], after, "positions, under another name")
    rows = diario.good("replicas", "--data", server.data, "--json").json
    checks.true("bob" in [row.get("actor") for row in rows], f"a replica has an owner: {rows}")


def check_resuming(checks, diario, server, folder):
    """A server that goes on without what its backup lacks, and whose replicas lose nothing."""
    admin = {"DIARIO_TOKEN": server.token("resumed", "admin")}
    user = {"DIARIO_TOKEN": server.token("resumed", "read,append")}
    cat, dan = str(folder / "cat"), str(folder / "dan")
    diario.good("clone", server.url("resumed"), cat, environment=admin)
    diario.good("clone", server.url("resumed"), dan, environment=user)
    backup = str(folder / "resumed.backup")
    diario.good("-C", server.data, "backup", backup)
    for number in range(3):
        diario.good("-C", dan, "record", "-", stdin=weight(number))
        diario.good("-C", dan, "sync", environment=user)
    posted = server.ask("POST", "/v1/spaces/resumed/events", admin["DIARIO_TOKEN"],
                        body=weight(3))
    checks.equal(posted.status, 201, f"recorded at the server: {posted}")
    diario.good("-C", cat, "sync", environment=admin)
    before = set(diario.origins(cat))
    checks.equal(server.stop(), 0, "the server ends")
    shutil.rmtree(server.data)
    shutil.copytree(backup, server.data)
    diario.good("authority", "resume", "--data", server.data)
    server.start()
    kept = diario.run("-C", cat, "sync", environment=admin)
    checks.true(kept.code == 1 and "4 events of 2 other replicas" in kept.message
                and "remote restore" in kept.message, f"it says what is kept: {kept}")
    checks.true(b"sent again" not in kept.out, f"what was not sent: {kept}")
    status = diario.good("-C", cat, "status", "--json").json
    checks.equal((status["kept"], status["keptReplicas"]), (4, 2), "status names them")
    diario.good("-C", cat, "remote", "restore", environment=admin)
    diario.good("-C", cat, "sync", environment=admin)
    diario.good("-C", dan, "sync", environment=user)
    checks.true(before <= set(diario.origins(cat)), "nothing is gone")
    checks.equal(diario.verify(cat)["root"], diario.verify(dan)["root"], "roots after that")


def check_wrong(checks, diario, server, folder):
    """What users do wrong, and what they are told."""
    token = server.token("wrong")
    space = str(folder / "wrong")
    refused = diario.run("clone", server.url("wrong"), space,
                         environment={"DIARIO_TOKEN": spoilt(token)})
    checks.true(refused.code == 1 and "token" in refused.message, f"a wrong token: {refused}")
    refused = diario.run("clone", server.url("nothing"), space,
                         environment={"DIARIO_TOKEN": token})
    checks.equal(refused.code, 1, "a wrong space")
    refused = diario.run("clone", "http://127.0.0.1:1/v1/spaces/home", space,
                         environment={"DIARIO_TOKEN": token})
    checks.true(refused.code == 1 and "127.0.0.1" in refused.message, f"no server: {refused}")
    refused = diario.run("clone", "ftp://127.0.0.1/", space, environment={"DIARIO_TOKEN": token})
    checks.true(refused.code in (1, 2) and "http" in refused.message, f"no address: {refused}")
    checks.true(not (folder / "wrong" / ".diario").exists(), "nothing is left of a failed clone")
    alone = str(folder / "alone")
    diario.good("init", alone, "--pack", "meals")
    refused = diario.run("-C", alone, "sync")
    checks.true(refused.code == 1 and "diario publish" in refused.message, f"alone: {refused}")
    second = diario.run("serve", "--data", server.data, "--listen", f"127.0.0.1:{server.port}")
    checks.equal(second.code, 1, "a second server on the same port")


def check_removing(checks, diario, server):
    """A space gets another name and is removed, beside the server that has it open."""
    token, data = server.token("gone"), ("--data", server.data)
    path = "/v1/spaces/{}/events"
    expect(server.ask("POST", path.format("gone"), token, weight(1)), 201, "record")
    diario.good("space", "rename", "gone", "going", *data)
    expect(server.ask("GET", path.format("gone"), token), 404, "under the old name")
    expect(server.ask("GET", path.format("going"), token), 200, "under the new one")
    live = http.client.HTTPConnection("127.0.0.1", server.port, timeout=90)
    live.request("GET", path.format("going") + "?offset=now&live=sse",
                 headers={"Authorization": f"Bearer {token}"})
    stream = live.getresponse()
    checks.equal(stream.status, 200, "a live stream")
    gone = diario.good("space", "remove", "going", *data, "--yes", "--json").json
    checks.equal((gone["events"], gone["tokens"]), (1, 1), "what is removed")
    expect(server.ask("GET", path.format("going"), token), 401, "a removed space")
    live.close()
    again = server.token("going")
    expect(server.ask("POST", path.format("going"), again, weight(2)), 201, "a new one")
    events = expect(server.ask("GET", path.format("going"), again), 200, "its events").json
    checks.equal([event["payload"]["weightG"] for event in events], [40_002], "nothing came back")
    diario.verify(server.data)


def check_sync_by_hand(checks, server):
    """The door of replicas, with what is no message."""
    token = server.token()
    headers = {"Content-Type": MESSAGE, "Accept": MESSAGE}
    answer = server.ask("POST", "/v1/spaces/home/sync", token, b"nonsense", headers)
    checks.equal((answer.status, answer.headers["Content-Type"]), (400, MESSAGE), "nonsense")
    headers["Accept"] = "application/problem+json"
    expect(server.ask("POST", "/v1/spaces/home/sync", token, b"", headers), 400, "nothing")
    headers["Content-Type"] = "application/json"
    expect(server.ask("POST", "/v1/spaces/home/sync", token, b"{}", headers), 415, "another type")


def check(path, folder):
    diario = Diario(path, folder)
    checks = Checks(diario, folder / "none")
    with Server(diario, folder / "served") as server:
        check_doors(checks, server)
        check_sync_by_hand(checks, server)
        check_live(checks, server, *check_events(checks, server))
        token, spaces = check_replicas(checks, diario, server, folder)
        check_failing(checks, diario, token, spaces)
        check_watch(checks, diario, server, spaces)
        check_publishing(checks, diario, server, folder)
        check_wrong(checks, diario, server, folder)
        check_removing(checks, diario, server)
        checks.equal(server.stop(), 0, "a server that is asked to end ends with 0")
        server.start()
        report = diario.good("-C", str(spaces[0]), "sync", "--json").json
        checks.equal(report["pending"], 0, "it goes on where it was")
        checks.equal(server.stop(), 0, "and ends again")
        server.start()
        check_restoring(checks, diario, server, folder)
        check_resuming(checks, diario, server, folder)
    return f"{checks.count} checks"


if __name__ == "__main__":
    main("server.py", __doc__, check)
