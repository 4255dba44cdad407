#!/usr/bin/env python3
"""Blobs over HTTP, by a client of its own and by replicas: schema/format/http.md, section 10.

    blobs.py DIARIO

Pictures are encrypted by the second implementation, sent in parts that are cut, repeated, swapped
and sent by two at once, with the server killed between two of them. Then devices exchange pictures
through a proxy that does harm. Only right bytes may be found under an id, and all arrive. At last
200 of them are damaged at the server, at a replica and in a backup in turn, and come back.
"""

import base64
import hashlib
import json
import os
import random
import shutil
import socket
import threading

from diario_format import blobs
from diario_program import Diario, main, require
from diario_program.serving import Proxy, Server, expect

PATH = "/v1/spaces/home"
PART = 8 * 1024 * 1024
SCHEMA = {
    "title": "album.photo.taken", "x-diario-version": 1, "type": "object",
    "additionalProperties": False, "required": ["name"],
    "properties": {
        "name": {"type": "string", "maxLength": 40},
        "photo": {"type": "object", "x-diario-blob": {
            "maxSize": 40_000_000, "types": ["image/png"]}}},
}


class Rough(Proxy):
    """Cuts, loses and spoils, and does not just wait."""

    HARMS = ("none", "none", "none", "delay", "cut", "garbage", "refuse", "duplicate", "cut-answer")


class Picture:
    """A picture, and what is stored of it."""

    def __init__(self, size, chance):
        self.plain = chance.randbytes(size)
        self.key = chance.randbytes(32)
        self.stored = blobs.write(self.plain, self.key)
        self.digest = hashlib.sha256(self.stored).digest()
        self.id = self.digest.hex()

    def payload(self, has_key=True):
        fields = {"name": "a", "photoId": base64.b64encode(self.digest).decode(),
                  "photoSize": len(self.plain), "photoType": "image/png"}
        if has_key:
            fields["photoKey"] = base64.b64encode(self.key).decode()
        return fields

    def event(self, has_key=True):
        return json.dumps({"type": "album.photo.taken", "version": 1,
                           "payload": self.payload(has_key)})


class Client:
    """What a program without Diario does with blobs."""

    def __init__(self, server, token, path=PATH):
        self.server = server
        self.token = token
        self.path = path

    def want(self, *ids, status=200):
        answer = self.server.ask("POST", f"{self.path}/blobs/want", self.token,
                                 json.dumps({"ids": list(ids)}))
        return expect(answer, status, "want").json

    def offset(self, picture):
        """Where the next part begins; nil if it is whole."""
        wanted = self.want(picture.id)
        return {each["id"]: each["offset"] for each in wanted["missing"]}.get(picture.id)

    def put(self, blob_id, data, offset, size, status):
        headers = {"Upload-Offset": str(offset), "Upload-Length": str(size)}
        answer = self.server.ask("PUT", f"{self.path}/blobs/{blob_id}", self.token, data, headers)
        return expect(answer, status, f"a part from {offset} on")

    def send(self, picture):
        """Sends what is missing, in parts as they are allowed."""
        size = len(picture.stored)
        while (offset := self.offset(picture)) is not None:
            data = picture.stored[offset:offset + PART]
            self.put(picture.id, data, offset, size, 201 if offset + len(data) == size else 204)

    def get(self, picture, status=200, method="GET", **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = self.server.ask(method, f"{self.path}/blobs/{picture.id}", self.token, None,
                                 headers)
        return expect(answer, status, f"{method} of a blob")

    def record(self, picture, has_key=True):
        answer = self.server.ask("POST", f"{self.path}/events", self.token, picture.event(has_key))
        expect(answer, 201, "an event")


def check_reading(client, picture):
    answer = client.get(picture)
    require(hashlib.sha256(answer.body).hexdigest() == picture.id, "the id names the bytes")
    require(blobs.read(answer.body, picture.key) == picture.plain, "the second reader opens it")
    require(answer.headers["ETag"] == f'"{picture.id}"', "the tag is the id", answer)
    require("immutable" in answer.headers["Cache-Control"]
            and "private" in answer.headers["Cache-Control"], "it never changes", answer)
    part = client.get(picture, 206, Range="bytes=100-299")
    require(part.body == picture.stored[100:300], "a range")
    require(part.headers["Content-Range"] == f"bytes 100-299/{len(picture.stored)}", "where it is")
    require(client.get(picture, 206, Range="bytes=-5").body == picture.stored[-5:], "the end")
    client.get(picture, 304, If_None_Match=f'"{picture.id}"')
    client.get(picture, 416, Range=f"bytes={len(picture.stored)}-")
    head = client.get(picture, method="HEAD")
    require(head.headers["Content-Length"] == str(len(picture.stored)) and not head.body, "HEAD")


def check_parts(server, client, chance):
    """Cut anywhere, in the middle of a request too, it is continued."""
    picture = Picture(3_000_000, chance)
    size = len(picture.stored)
    client.get(picture, 404)
    for _ in range(6):
        offset = client.offset(picture)
        end = min(size, offset + chance.randrange(1, 300_000))
        client.put(picture.id, picture.stored[offset:end], offset, size, 204)
        # A request that breaks off before its body is there changes nothing.
        head = (f"PUT {PATH}/blobs/{picture.id} HTTP/1.1\r\nHost: a\r\n"
                f"Authorization: Bearer {client.token}\r\nUpload-Offset: {end}\r\n"
                f"Upload-Length: {size}\r\nContent-Length: 5000\r\n\r\n").encode()
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
            connection.sendall(head + picture.stored[end:end + chance.randrange(5000)])
        require(client.offset(picture) == end, "half a request counts as none")
        answer = client.put(picture.id, b"x", end + 1, size, 409)
        require(answer.headers["Upload-Offset"] == str(end), "where it should begin", answer)
    client.put(picture.id, b"\0" * (PART + 1), client.offset(picture), size, 413)
    server.kill()
    server.start()
    require(client.offset(picture) <= size, "what it says after a crash")
    client.send(picture)
    require(client.want(picture.id)["here"] == [{"id": picture.id, "size": size}], "it is here")
    client.get(picture, 404)
    client.record(picture)
    check_reading(client, picture)


def check_wrong(client, chance):
    picture = Picture(200_000, chance)
    size = len(picture.stored)
    wrong = bytearray(picture.stored)
    wrong[chance.randrange(size)] ^= 1 << chance.randrange(8)
    client.put(picture.id, bytes(wrong[:70_000]), 0, size, 204)
    client.put(picture.id, bytes(wrong[70_000:]), 70_000, size, 422)
    require(client.offset(picture) == 0, "what was wrong is gone")
    client.send(picture)
    client.record(picture, has_key=False)
    client.get(picture, 404)
    require(client.want(picture.id) == {"missing": [], "here": []}, "an erased one")


def check_two(server, token, chance):
    """Two devices that send one blob at once both come to the end."""
    picture = Picture(2_000_000, chance)
    size, failures = len(picture.stored), []

    def send(seed):
        client, own = Client(server, token), random.Random(seed)
        try:
            while (offset := client.offset(picture)) is not None:
                data = picture.stored[offset:offset + own.randrange(1, 100_000)]
                headers = {"Upload-Offset": str(offset), "Upload-Length": str(size)}
                answer = server.ask("PUT", f"{PATH}/blobs/{picture.id}", token, data, headers)
                require(answer.status in (200, 201, 204, 409, 503), "a part", answer)
        except Exception as error:  # pylint: disable=broad-except
            failures.append(error)

    threads = [threading.Thread(target=send, args=(seed,)) for seed in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    require(not failures, f"two at once: {failures}")
    client = Client(server, token)
    client.record(picture)
    require(client.get(picture).body == picture.stored, "both sent the same")


def check_stored(folder):
    """Every file under an id has the bytes of that id."""
    names = [name for name in os.listdir(folder) if len(name) == 64]
    for name in names:
        data = (folder / name).read_bytes()
        require(hashlib.sha256(data).hexdigest() == name, f"other bytes under {name}")
    return len(names)


def put(diario, device, picture, folder):
    """Stores a picture on a device, and records its event; gives its id."""
    (folder / "picture.png").write_bytes(picture)
    made = diario.good("-C", device, "blob", "put", str(folder / "picture.png"), "--json").json
    payload = {f"photo{name.capitalize()}": made[name] for name in ("id", "size", "type", "key")}
    diario.good("-C", device, "record", "album.photo.taken", json.dumps(payload | {"name": "b"}))
    return made["id"]


def sync(diario, device, *words, tries=1, missing=0):
    """Syncs until all is exchanged but what the server lacks; at most so often."""
    for _ in range(tries):
        result = diario.run("-C", device, "sync", "--json", *words)
        if result.code == 0 and result.json["blobsMissing"] == missing:
            return result.json
    require(False, f"{device} does not sync", result)


def check_devices(diario, server, token, folder, chance):
    """Two devices behind a bad network, and a third one that copies all."""
    for device in ("one", "two"):
        diario.good("clone", server.url(), device, "--token", token)
    proxy = Rough(server.port, seed=5)
    pictures = {}
    for count in (1000, 300_000, 9_000_000):
        for device in ("one", "two"):
            picture = chance.randbytes(count)
            pictures[put(diario, device, picture, folder)] = picture
    for device in ("one", "two"):
        diario.good("-C", device, "remote", "set", proxy.url(), "--token", token)
        sync(diario, device, "--no-blobs", tries=30)
    status = diario.good("-C", "two", "status", "--json").json
    require(status["blobsMissing"] + status["blobsComing"] >= 3, f"not fetched yet: {status}")
    # What the other device has comes when that has sent it.
    sync(diario, "one", tries=30, missing=3)
    sync(diario, "two", tries=30)
    sync(diario, "one", tries=30)
    proxy.close()
    diario.good("clone", server.url(), "three", "--token", token, "--with-blobs")
    for device in ("one", "two", "three"):
        for name, picture in pictures.items():
            got = diario.good("-C", device, "blob", "get", name)
            require(got.out == picture, f"{device} has another picture")
        diario.good("-C", device, "verify", "--blobs")
        check_stored(folder / device / ".diario" / "blobs")
    return sum(count for name, count in proxy.counts.items() if name != "none")


def check_quota(diario, server, token, folder, chance):
    used = sum(os.path.getsize(folder / "served" / ".diario" / "blobs" / name)
               for name in os.listdir(folder / "served" / ".diario" / "blobs") if len(name) == 64)
    diario.good("space", "quota", "home", "--data", server.data, "--blob-bytes", str(used + 5000))
    put(diario, "three", chance.randbytes(6000), folder)
    small = put(diario, "three", chance.randbytes(4000), folder)
    full = diario.run("-C", "three", "sync", "--json")
    require(full.code == 1 and "status" in full.message, "beyond the quota", full)
    require(full.json["pushed"] == 2 and full.json["blobsRefused"] == 1, "events go on", full)
    status = diario.good("-C", "three", "status")
    require("1 refused" in status.text and "may have" in status.text, "why", status)
    answer = diario.good("-C", "three", "sql", "SELECT blob_state(photoId) AS s, count(*) AS n "
                         "FROM (SELECT id AS photoId FROM diario_blob) GROUP BY s ORDER BY s",
                         "--json")
    require("refused" in answer.text, "the state", answer)
    sync(diario, "one", server.url(), "--token", token, missing=1)
    diario.good("-C", "one", "blob", "get", small)
    diario.good("space", "quota", "home", "--data", server.data, "--default")
    require(sync(diario, "three")["blobsSent"] == 1, "with room it is sent")
    require(sync(diario, "three")["requests"] <= 3, "nothing is asked twice")


def check_unreferenced(diario, folder, chance):
    """What no event refers to is removed by one command, and nothing else."""
    stored = folder / "three" / ".diario" / "blobs"
    before = check_stored(stored)
    (folder / "picture.png").write_bytes(chance.randbytes(70_000))
    made = diario.good("-C", "three", "blob", "put", str(folder / "picture.png"), "--json").json
    dropped = diario.good("-C", "three", "blob", "drop", "--unreferenced", "--json")
    require(dropped.json == {"removed": 1} and check_stored(stored) == before, "one goes", dropped)


def hit(files, chance):
    """Flips a bit of every second file, where it lies, and cuts the others."""
    for number, file in enumerate(files):
        size = file.stat().st_size
        with open(file, "r+b") as opened:
            if number % 2:
                opened.truncate(chance.randrange(size))
                continue
            place = chance.randrange(size)
            opened.seek(place)
            byte = opened.read(1)[0] ^ 1 << chance.randrange(8)
            opened.seek(place)
            opened.write(bytes([byte]))


def check_damage(diario, server, token, folder, chance):
    """200 blobs are hit at the server, at a replica and in the backup in turn."""
    client = Client(server, token, "/v1/spaces/album")
    pictures = [Picture(chance.randrange(1, 9000), chance) for _ in range(200)]
    for picture in pictures:
        client.record(picture)
        client.put(picture.id, picture.stored, 0, len(picture.stored), 201)
    ids = [picture.id for picture in pictures]
    diario.good("clone", server.url("album"), "five", "--token", token, "--with-blobs")
    places = {name: folder / name / ".diario" / "blobs" for name in ("served", "five", "kept")}
    backup = ("backup", "--data", server.data, str(folder / "kept"))
    require(diario.good(*backup, "--json").json["damagedBlobs"] == [], "a whole backup")

    def files(name):
        return [places[name] / blob_id for blob_id in ids]

    def verify(where, count, *words):
        result = diario.run("-C", where, "verify", "--json", *words)
        found = {fault["file"].split("/")[-1].split(".")[0] for fault in result.json["faults"]}
        require(result.code == (1 if count else 0) and len(found & set(ids)) == count,
                f"{where} has {count} damaged blobs", result)

    def whole():
        for name in places:
            check_stored(places[name])
            require(all(file.exists() for file in files(name)), f"{name} lacks a blob")
        for where in ("five", server.data):
            verify(where, 0, "--blobs")

    # The server: by sizes, by reading, by a backup; and a device that has them brings them.
    hit(files("served"), chance)
    for picture in pictures[:10]:
        answer = client.get(picture, 404)
        require(b"problem:damaged" in answer.body, "damaged", answer)
        client.get(picture, 404, Range="bytes=0-0")
    require(len(client.want(*ids[10:])["missing"]) == 95, "sizes tell of those that are cut")
    made = diario.run(*backup, "--json")
    require(made.code == 1 and len(made.json["damagedBlobs"]) == 200, "the backup names them", made)
    require(all(blob["kept"] for blob in made.json["damagedBlobs"]), "and keeps good copies", made)
    require(sum(blob_id in made.message for blob_id in ids) == 200, "each by its id", made)
    verify(server.data, 200, "--blobs")
    verify(str(folder / "kept"), 0, "--blobs")
    require(sync(diario, "five")["blobsSent"] == 200, "the device sends them again")
    require(sync(diario, "five")["requests"] == 1, "and asks no more")
    whole()
    require(diario.good(*backup, "--json").json["damagedBlobs"] == [], "a whole backup again")
    # The device.
    hit(files("five"), chance)
    verify("five", 100)
    verify("five", 200, "--blobs")
    require(sync(diario, "five")["blobsFetched"] == 200, "it fetches them again")
    whole()
    # The backup, which nobody changes but the next one.
    hit(files("kept"), chance)
    for _ in range(2):
        verify(str(folder / "kept"), 200, "--blobs")
    require(diario.good(*backup, "--json").json["damagedBlobs"] == [], "the next one mends it")
    whole()
    # Nobody else has them: what is dropped is kept in the backup, and comes back as is printed.
    hit(files("served")[:1], chance)
    dropped = diario.good("-C", server.data, "--space", "album", "blob", "drop", ids[0], "--force")
    require("lost their name" in dropped.text, "damaged bytes are not dropped", dropped)
    for _ in range(2):
        made = diario.run(*backup)
        require(made.code == 1 and "cp " in made.message, "the remedy", made)
    words = made.message[made.message.index("cp "):].split()
    shutil.copy(folder / words[1], folder / words[2])
    require(diario.good(*backup, "--json").json["damagedBlobs"] == [], "all is well")
    whole()


def check(path, folder):
    chance = random.Random(11)
    diario = Diario(path, folder)
    pack = folder / "album"
    (pack / "events").mkdir(parents=True)
    (pack / "pack.json").write_text('{"name": "album", "version": 1}')
    (pack / "events" / "photo.taken.1.json").write_text(json.dumps(SCHEMA))
    with Server(diario, folder / "served") as server:
        token = server.token(packs=("--schema", str(pack)))
        client = Client(server, token)
        check_parts(server, client, chance)
        check_wrong(client, chance)
        check_two(server, token, chance)
        harm = check_devices(diario, server, token, folder, chance)
        check_quota(diario, server, token, folder, chance)
        check_unreferenced(diario, folder, chance)
        other = server.token("album", packs=("--schema", str(pack)))
        check_damage(diario, server, other, folder, chance)
        reader = server.token(rights="read", packs=("--schema", str(pack)))
        Client(server, reader).want("0" * 64, status=403)
        diario.verify(server.data)
        count = check_stored(folder / "served" / ".diario" / "blobs")
        require(server.memory("VmHWM") < 400 * 1024 * 1024, "the server stays small")
        require(server.stop() == 0, "the server stops")
    return f"{count} blobs, with {harm} connections harmed"


if __name__ == "__main__":
    main("blobs.py", __doc__, check)
