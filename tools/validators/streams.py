#!/usr/bin/env python3
"""Reads a running server as the protocol Durable Streams says, sentence by sentence.

    streams.py DIARIO

Written from the protocol's text on reading (its sections 5.4 to 5.7, 6, 7.1, 8 and 10.7). Each
check names what that demands.
"""

import http.client
import json
import re
import threading

from diario_program import Diario, main, require, wait_for, weight
from diario_program.checks import Checks
from diario_program.serving import Server, expect

COUNT = 2300
SPACE = "/v1/spaces/stream"
EVENTS = f"{SPACE}/events"
NDJSON = {"Content-Type": "application/x-ndjson"}


class Reader:
    """Somebody who reads the stream."""

    def __init__(self, server, token):
        self.server = server
        self.token = token

    def get(self, query="", headers=None, method="GET"):
        return self.server.ask(method, f"{EVENTS}{'?' if query else ''}{query}", self.token,
                               None, headers)

    def record(self, number):
        made = self.server.ask("POST", EVENTS, self.token, weight(number))
        return expect(made, 201, "record").json["origins"][0]

    def tail(self):
        return self.get(method="HEAD").headers["Stream-Next-Offset"]

    def raw(self, query):
        """The request, and then the end of what the client sends: it waits no more."""
        text = (f"GET {EVENTS}?{query} HTTP/1.1\r\nHost: a\r\n"
                f"Authorization: Bearer {self.token}\r\n\r\n")
        answer = self.server.raw(text.encode(), half_close=True)
        head = answer.decode("latin-1").split("\r\n\r\n")[0].split("\r\n")
        headers = dict(line.split(": ", 1) for line in head[1:])
        return int(head[0].split()[1]), headers

    def waiting(self):
        """How many requests wait for news."""
        text = self.server.ask("GET", "/metrics").body.decode()
        return int(re.search(r"^diario_waiting (\d+)", text, re.MULTILINE).group(1))

    def while_waiting(self, query, then):
        """The answer to a long poll, while which something is done."""
        found = {}
        thread = threading.Thread(target=lambda: found.update(answer=self.get(query)))
        thread.start()
        wait_for(lambda: self.waiting() == 1, "the reader waits")
        told = then()
        thread.join(timeout=30)
        require("answer" in found, f"{query}: no answer came")
        return found["answer"], told


def check_catch_up(checks, reader):
    first = expect(reader.get(), 200, "no offset")
    start = expect(reader.get("offset=-1"), 200, "the start")
    checks.equal(first.json, start.json, "no offset is the start")
    checks.equal(start.headers["Content-Type"], "application/json", "JSON is JSON")
    checks.true(isinstance(start.json, list), "an array")
    checks.true("Stream-Up-To-Date" not in start.headers, "a part is not up to date")
    checks.true("private" in start.headers["Cache-Control"], "what is personal is private")

    events, offsets, offset = [], [], "-1"
    while True:
        page = expect(reader.get(f"offset={offset}&limit=700"), 200, "a page")
        events += page.json
        offset = page.headers["Stream-Next-Offset"]
        offsets.append(offset)
        if page.headers.get("Stream-Up-To-Date") == "true":
            break
        require(len(offsets) < 20, "reading has no end")
    origins = [event["origin"] for event in events]
    checks.equal(len(set(origins)), len(origins), "no message comes twice")
    checks.equal(len([e for e in events if e["type"] == "meals.weight.recorded"]), COUNT,
                 "no message is left out")
    checks.equal(offsets, sorted(set(offsets)), "offsets sort as text and grow")
    for each in offsets:
        checks.true(len(each) < 256 and not set(each) & set(",&=?/"), f"the offset {each}")
        checks.true(each not in ("-1", "now"), "no reserved value is an offset")
    checks.equal(reader.get(f"offset={offsets[0]}&limit=1").json[0]["origin"], origins[700],
                 "an offset stays valid, and reading goes on behind it")

    end = expect(reader.get(f"offset={offset}"), 200, "the end")
    checks.equal((end.json, end.headers["Stream-Next-Offset"], end.headers["Stream-Up-To-Date"]),
                 ([], offset, "true"), "nothing is beyond the end")
    return origins, offset


def check_requests(checks, reader, end):
    """Malformed ones are 400, and what is not known is passed over."""
    for query in ("offset=", "offset=abc", "offset=1", "offset=-2", "offset=0,1", "offset",
                  "offset=" + "9" * 20, "offset=" + "0" * 19, "offset=-1&offset=-1",
                  "live=sse", "live=long-poll", "offset=-1&live=maybe", "offset=-1&cursor=x"):
        expect(reader.get(query), 400, query)
    ahead = str(int(end) + 1).zfill(20)
    problem = expect(reader.get(f"offset={ahead}"), 400, "an offset ahead of the log").json
    checks.true("backup" in problem["remedy"], "it says why an offset may be ahead")
    checks.equal(expect(reader.get(f"offset={end}&colour=blue&v=2"), 200, "others").json, [],
                 "unknown parameters are passed over")
    for method in ("GET", "HEAD"):
        answer = reader.server.ask(method, "/v1/spaces/nowhere/events", reader.token)
        checks.equal(answer.status, 404, f"{method} of a stream that is not there")
    for method in ("PUT", "DELETE"):
        answer = reader.server.ask(method, EVENTS, reader.token)
        checks.equal((answer.status, "GET" in answer.headers["Allow"]), (405, True), method)
    for accept in ("text/event-stream", "text/event-stream, application/problem+json"):
        answer = expect(reader.get(f"offset={end}", {"Accept": accept}), 200, accept)
        checks.equal(answer.headers["Content-Type"], "application/json",
                     "who will read a stream catches up in JSON")
    expect(reader.get(f"offset={end}", {"Accept": "image/png"}), 406, "pictures")


def check_tags(checks, reader, end):
    page = reader.get("offset=-1&limit=5")
    tag = page.headers["ETag"]
    for known in (tag, "*", f'"other", {tag}', f"W/{tag}"):
        answer = reader.get("offset=-1&limit=5", {"If-None-Match": known})
        checks.equal((answer.status, answer.body), (304, b""), f"{known} is known")
        checks.equal(answer.headers["Stream-Next-Offset"], page.headers["Stream-Next-Offset"],
                     "304 has the headers")
    checks.equal(reader.get("offset=-1&limit=5", {"If-None-Match": '"other"'}).status, 200,
                 "another tag")
    open_tag = reader.get(f"offset={end}").headers["ETag"]
    reader.record(1)
    answer = reader.get(f"offset={end}", {"If-None-Match": open_tag})
    checks.equal((answer.status, len(answer.json)), (200, 1), "a part that grew has another tag")


def check_tail(checks, reader):
    head = reader.get(method="HEAD")
    checks.equal((head.status, head.body), (200, b""), "HEAD has no body")
    tail = head.headers["Stream-Next-Offset"]
    last = reader.get(f"offset={tail}")
    checks.equal((last.json, last.headers["Stream-Next-Offset"]), ([], tail), "it is the end")
    checks.equal((head.headers["Stream-Up-To-Date"], head.headers["Content-Type"]),
                 ("true", "application/json"), "HEAD says what there is")
    checks.true("no-store" in head.headers["Cache-Control"], "nobody keeps where the end is")
    now = expect(reader.get("offset=now"), 200, "now")
    checks.equal((now.body.strip(), now.headers["Stream-Next-Offset"],
                  now.headers["Stream-Up-To-Date"]), (b"[]", tail, "true"), "now is the end")
    checks.true("ETag" not in now.headers and "no-store" in now.headers["Cache-Control"],
                "nobody keeps what `now` was")
    origin = reader.record(2)
    checks.equal([event["origin"] for event in reader.get(f"offset={tail}").json], [origin],
                 "read from now on, by the protocol's recipe")


def check_long_poll(checks, reader):
    tail = reader.tail()
    at_once = expect(reader.get("offset=-1&live=long-poll"), 200, "what is there comes at once")
    checks.true(at_once.headers["Stream-Cursor"].isdecimal(), "a cursor")
    for offset in (tail, "now"):
        answer, origin = reader.while_waiting(
            f"offset={offset}&live=long-poll", lambda: reader.record(3))
        expect(answer, 200, f"a wait from {offset}")
        checks.equal([event["origin"] for event in answer.json], [origin],
                     f"what was recorded while it waited from {offset}")
        checks.equal(answer.headers["Stream-Next-Offset"], reader.tail(), "the end is told")
        checks.true(answer.headers["Stream-Cursor"].isdecimal(), "a cursor")
        tail = reader.tail()
        status, headers = reader.raw(f"offset={offset if offset == 'now' else tail}"
                                     "&live=long-poll")
        checks.equal((status, headers["Stream-Next-Offset"], headers["Stream-Up-To-Date"]),
                     (204, tail, "true"), "nothing came")
        checks.true(headers["Stream-Cursor"].isdecimal(), "a cursor with nothing")
    status, headers = reader.raw(f"offset={tail}&live=long-poll")
    cursor = int(headers["Stream-Cursor"])
    for sent in (cursor, cursor + 1000):
        _, headers = reader.raw(f"offset={tail}&live=long-poll&cursor={sent}")
        checks.true(int(headers["Stream-Cursor"]) > sent, "a cursor never goes back")
    _, headers = reader.raw(f"offset={tail}&live=long-poll&cursor=5")
    checks.true(int(headers["Stream-Cursor"]) >= cursor, "an old cursor becomes a new one")
    status, _ = reader.raw(f"offset={tail}&live=long-poll&cursor=")
    checks.equal(status, 204, "an empty cursor is none")


class Stream:
    """Server-sent events, one after the other."""

    def __init__(self, reader, query):
        self.connection = http.client.HTTPConnection("127.0.0.1", reader.server.port, timeout=30)
        self.connection.request("GET", f"{EVENTS}?{query}", None,
                                {"Authorization": f"Bearer {reader.token}",
                                 "Accept": "text/event-stream"})
        self.answer = self.connection.getresponse()
        self.text = ""

    def next(self):
        """The name and the data of the next event."""
        while True:
            event, found, rest = self.text.partition("\n\n")
            if not found:
                piece = self.answer.read1(65536)
                require(piece, "the stream ended")
                self.text += piece.decode()
                continue
            self.text = rest
            lines = [line for line in event.split("\n") if not line.startswith(":")]
            if not lines:
                continue
            require(lines[0].startswith("event: "), f"an event without a name: {event!r}")
            require(all(line.startswith("data:") for line in lines[1:]), f"no data: {event!r}")
            data = "\n".join(line[5:] for line in lines[1:])
            return lines[0][7:], json.loads(data)


def check_stream(checks, reader):
    stream = Stream(reader, "offset=-1&live=sse")
    checks.equal(stream.answer.headers["Content-Type"].split(";")[0], "text/event-stream", "SSE")
    count, control = 0, {}
    while not control.get("upToDate"):
        name, data = stream.next()
        if name == "data":
            count += len(data)
            name, control = stream.next()
            checks.equal(name, "control", "a control event follows each data event")
        else:
            control = data
        checks.true("streamNextOffset" in control and control["streamCursor"].isdecimal(),
                    "control says how to go on")
    checks.true(count >= COUNT, "all is streamed")
    checks.equal(control["streamNextOffset"], reader.tail(), "up to the end")
    stream.connection.close()

    tail = reader.tail()
    stream = Stream(reader, "offset=now&live=sse")
    name, control = stream.next()
    checks.equal((name, control["streamNextOffset"], control.get("upToDate")),
                 ("control", tail, True), "now begins with the end")
    origin = reader.record(4)
    name, data = stream.next()
    checks.equal((name, [event["origin"] for event in data]), ("data", [origin]), "what follows")
    name, control = stream.next()
    checks.equal((name, control["streamNextOffset"]), ("control", reader.tail()), "and its end")
    stream.connection.close()


def check_headers(checks, reader):
    answers = [reader.get("offset=now"), reader.get("offset=x"), reader.get(method="HEAD"),
               reader.server.ask("GET", "/nothing"), reader.server.ask("GET", EVENTS)]
    for answer in answers:
        checks.equal((answer.headers["X-Content-Type-Options"],
                      answer.headers["Cross-Origin-Resource-Policy"]),
                     ("nosniff", "cross-origin"), f"headers for browsers: {answer.status}")


def check_more(checks, reader, origins):
    """What goes beyond the protocol: one event, the last ones, and times."""
    one = expect(reader.server.ask("GET", f"{EVENTS}/{origins[5]}", reader.token), 200, "one")
    checks.equal(one.json["origin"], origins[5], "an event by its origin")
    position = one.json["position"]
    same = expect(reader.server.ask("GET", f"{EVENTS}/{position}", reader.token), 200, "one")
    checks.equal(same.json, one.json, "and by its position")
    for name, status in (("0", 400), ("nothing", 400), ("99999999", 404),
                         (origins[5][:13] + "-99999999", 404)):
        expect(reader.server.ask("GET", f"{EVENTS}/{name}", reader.token), status, name)
    everything = []
    offset = "-1"
    while len(everything) == 0 or offset != reader.tail():
        page = reader.get(f"offset={offset}")
        everything += page.json
        offset = page.headers["Stream-Next-Offset"]
    last = expect(reader.get("last=3"), 200, "the last ones")
    checks.equal(last.json, everything[-3:], "the last three, oldest first")
    checks.equal(last.headers["Stream-Next-Offset"], reader.tail(), "and how to go on")
    checks.equal(reader.get("last=2&type=meals.weight.recorded&actor=nobody").json, [], "of none")
    checks.equal(reader.get("last=2&offset=-1").json, everything[-2:], "in the place of an offset")
    time = everything[-1]["acceptedAt"]
    since = expect(reader.get(f"offset=-1&since={time}"), 200, "since").json
    checks.true(everything[-1] in since and len(since) < len(everything), "since")
    until = reader.get(f"offset=-1&until={everything[0]['acceptedAt']}").json
    checks.equal(until, [], "until")
    expect(reader.get("offset=-1&since=yesterday"), 400, "a time that is none")


def check(program, folder):
    diario = Diario(program, folder)
    with Server(diario, folder / "data") as server:
        checks = Checks(diario, server.data)
        reader = Reader(server, server.token("stream"))
        lines = "\n".join(weight(number) for number in range(COUNT))
        expect(server.ask("POST", EVENTS, reader.token, lines.encode(), NDJSON), 201, "record")
        origins, end = check_catch_up(checks, reader)
        check_requests(checks, reader, end)
        check_tags(checks, reader, end)
        check_tail(checks, reader)
        check_long_poll(checks, reader)
        check_stream(checks, reader)
        check_headers(checks, reader)
        check_more(checks, reader, origins)
        checks.equal(server.stop(), 0, "the server ends")
    return f"{checks.count} checks"


if __name__ == "__main__":
    main("streams", __doc__, check)
