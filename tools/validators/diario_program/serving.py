"""A running server, and what speaks to it: requests, raw bytes, and a proxy that does harm."""

import http.client
import json
import os
import random
import signal
import socket
import threading
import time

from . import Failed, require

MESSAGE = "application/vnd.diario.message"


class Server:
    """`diario serve` on a port of its own, ended with the block that it is used in.

    Its folder is made if it is missing, with no space in it.
    """

    def __init__(self, diario, data, *words, port=0, host="127.0.0.1"):
        self.host = host
        self.diario = diario
        self.data = str(data)
        self.words = words
        self.port = port
        self.process = None
        self.start()

    def make_folder(self):
        if not os.path.isdir(os.path.join(self.data, ".diario")):
            self.diario.good("space", "create", "first", "--data", self.data)
            self.diario.good("space", "remove", "first", "--data", self.data, "--yes")

    def start(self):
        self.make_folder()
        self.process = self.diario.start("serve", "--data", self.data, "--listen",
                                         f"{self.host}:{self.port}", "--json", *self.words)
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            raise Failed(f"the server did not start: {self.process.stderr.read()!r}")
        self.address = json.loads(line)["address"]
        self.port = int(self.address.rsplit(":", 1)[1].split("/")[0])
        # Nobody reads what it logs; a full pipe would hold it up.
        self.log = []
        threading.Thread(target=self.read_log, args=(self.process,), daemon=True).start()

    def read_log(self, process):
        for line in process.stderr:
            self.log.append(line)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def stop(self):
        """Asks it to end, and gives its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=30)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def token(self, space="home", rights="read,append", *words, packs=("--pack", "meals")):
        """A token for a space, which is made with these packs if it is not there."""
        made = self.diario.run("space", "create", space, "--data", self.data, *packs)
        require(made.code == 0 or "is taken" in made.message, "a space is made", made)
        made = self.diario.good("token", "create", "--data", self.data, "--space", space,
                                "--rights", rights, "--json", *words)
        return made.json["token"]

    def url(self, space="home"):
        return f"http://127.0.0.1:{self.port}/v1/spaces/{space}"

    def ask(self, method, path, token=None, body=None, headers=None, timeout=30):
        """One request; gives status, headers and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            all_headers = dict(headers or {})
            if token:
                all_headers["Authorization"] = f"Bearer {token}"
            if isinstance(body, str):
                body = body.encode()
                all_headers.setdefault("Content-Type", "application/json")
            connection.request(method, path, body, all_headers)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def raw(self, data, timeout=10, half_close=False):
        """Sends bytes as they are; gives what comes until the server closes or is silent."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as connection:
            try:
                connection.sendall(data)
                if half_close:
                    connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            return read_all(connection)

    def memory(self, line="VmRSS"):
        """Bytes of memory that it has resident; with VmHWM, that it had at most."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            for each in status:
                if each.startswith(f"{line}:"):
                    return int(each.split()[1]) * 1024
        raise Failed("the server is gone")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


class Answer:
    """An answer."""

    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)

    def __str__(self):
        return f"{self.status} {dict(self.headers)} {self.body[:400]!r}"


def read_all(connection):
    pieces = []
    try:
        while piece := connection.recv(65536):
            pieces.append(piece)
    except (TimeoutError, ConnectionError):
        pass
    return b"".join(pieces)


def expect(answer, status, what):
    require(answer.status == status, f"{what}: {status} was expected, and this came: {answer}")
    if status >= 400:
        kind = answer.headers.get("Content-Type", "")
        require(kind == "application/problem+json", f"{what}: no problem document: {answer}")
        problem = answer.json
        for key in ("type", "title", "status", "detail", "remedy"):
            require(key in problem, f"{what}: the problem has no {key}: {answer}")
        require(problem["status"] == status, f"{what}: two statuses: {answer}")
    return answer


class Proxy:
    """Carries bytes to a server and does harm to some of the connections, by chance."""

    HARMS = ("none", "none", "delay", "cut", "half-close", "throttle", "garbage", "refuse",
             "duplicate", "cut-answer")

    def __init__(self, port, seed):
        self.server = port
        self.chance = random.Random(seed)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.is_healed = False
        self.counts = {}
        threading.Thread(target=self.serve, daemon=True).start()

    def url(self, space="home"):
        return f"http://127.0.0.1:{self.port}/v1/spaces/{space}"

    def close(self):
        self.listener.close()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            harm = "none" if self.is_healed else self.chance.choice(self.HARMS)
            self.counts[harm] = self.counts.get(harm, 0) + 1
            seed = self.chance.random()
            threading.Thread(target=self.carry, args=(client, harm, random.Random(seed)),
                             daemon=True).start()

    def carry(self, client, harm, chance):
        if harm == "refuse":
            client.close()
            return
        try:
            server = socket.create_connection(("127.0.0.1", self.server), timeout=30)
        except OSError:
            client.close()
            return
        limit = chance.choice([1, 100, 1000, 20_000])
        if harm == "garbage":
            client.sendall(bytes(chance.randrange(256) for _ in range(limit)))
            client.close()
            server.close()
            return
        there = threading.Thread(target=self.pump, daemon=True,
                                 args=(client, server, harm, limit, chance, "there"))
        there.start()
        self.pump(server, client, harm, limit, chance, "back")
        there.join(timeout=30)
        client.close()
        server.close()

    def pump(self, source, target, harm, limit, chance, way):
        moved = 0
        first = b""
        try:
            while piece := source.recv(16384):
                if harm == "delay":
                    time.sleep(chance.uniform(0, 0.05))
                if harm == "throttle":
                    for start in range(0, min(len(piece), 2000), 200):
                        target.sendall(piece[start:start + 200])
                        time.sleep(0.002)
                    piece = piece[2000:]
                moved += len(piece)
                cuts = harm == "cut" and way == "there" or harm == "cut-answer" and way == "back"
                if cuts and moved > limit:
                    target.sendall(piece[:max(0, len(piece) - (moved - limit))])
                    source.close()
                    target.close()
                    return
                target.sendall(piece)
                if harm == "duplicate" and way == "there":
                    first += piece
                if harm == "half-close" and way == "there" and moved > limit:
                    target.shutdown(socket.SHUT_WR)
                    return
            if harm == "duplicate" and way == "there" and first:
                # The same bytes once more, by a connection of their own, as a network may do.
                with socket.create_connection(("127.0.0.1", self.server), timeout=5) as again:
                    again.sendall(first)
                    read_all(again)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass
