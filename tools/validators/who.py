#!/usr/bin/env python3
"""Who may record what, by the real program: replicas whose people have actors and roles.

    who.py DIARIO

Somebody loses a role while offline, an author's token is revoked, a space with authors is
published, relayed and restored, and tokens are made that cannot be. Then queries for everybody.
"""

import json
import pathlib
import shutil

from diario_program import Diario, main
from diario_program.checks import Checks
from diario_program.serving import Server, expect

ROOT = pathlib.Path(__file__).resolve().parents[2]


def schema(name, subject, is_new=False):
    return {
        "title": f"shed.{name}", "x-diario-version": 1, "x-diario-subject": subject,
        "type": "object", "additionalProperties": False, "required": [] if is_new else [subject],
        "properties": {subject: {"type": "string", "minLength": 1, "maxLength": 64,
                                 "x-diario-id": "new" if is_new else "thing"}},
    }


PACK = {
    "pack.json": json.dumps({
        "name": "shed", "version": 1, "roles": {"keeper": "Keeps the list."},
        "who": {"shed.tool.lent": {"author": True}, "shed.list.set": {"roles": ["keeper"]}}}),
    "events/tool.bought.1.json": json.dumps(schema("tool.bought", "toolId", is_new=True)),
    "events/tool.lent.1.json": json.dumps(schema("tool.lent", "toolId")),
    "events/list.set.1.json": json.dumps(schema("list.set", "listId")),
    "readmodel/tools.sql":
        "-- readmodel tools version 1: the tools there are\n"
        "CREATE TABLE tool (toolId TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;\n\n"
        "-- on shed.tool.bought\n"
        "INSERT INTO tool VALUES (:toolId) ON CONFLICT (toolId) DO NOTHING;\n",
    "queries/public-count.sql":
        "-- query public-count(): how many tools there are\nSELECT count(*) AS tools FROM tool;\n",
    "queries/all.sql":
        "-- query all(): the tools there are\nSELECT toolId FROM tool ORDER BY toolId;\n",
}


def payload(what, thing):
    if thing is None:
        return "{}"
    return json.dumps({"listId" if what.startswith("list") else "toolId": thing})


class Shed:
    """The server of a space with the pack, and the folders of its people."""

    def __init__(self, checks, diario, server, folder):
        self.checks = checks
        self.diario = diario
        self.server = server
        self.folder = folder
        self.pack = folder / "pack"
        for name, text in PACK.items():
            (self.pack / name).parent.mkdir(parents=True, exist_ok=True)
            (self.pack / name).write_text(text, encoding="utf-8")

    def token(self, *words, rights="read,append", space="home"):
        return self.server.token(space, rights, *words, packs=("--schema", str(self.pack)))

    def token_id(self, label):
        listed = self.diario.good("token", "list", "--data", self.server.data, "--json").json
        return [token["id"] for token in listed if token["label"] == label][0]

    def device(self, name, token, space="home"):
        self.diario.good("clone", self.server.url(space), str(self.folder / name),
                         environment={"DIARIO_TOKEN": token})
        return Device(self, name, token)


class Device:
    """A replica of somebody."""

    def __init__(self, shed, name, token):
        self.shed = shed
        self.place = str(shed.folder / name)
        self.token = token

    def run(self, *words):
        return self.shed.diario.run("-C", self.place, *words)

    def good(self, *words):
        return self.shed.diario.good("-C", self.place, *words)

    def records(self, what, thing=None, actor=None):
        """Records it; gives its origin."""
        words = ["--actor", actor] if actor else []
        result = self.good("record", f"shed.{what}", payload(what, thing), *words)
        return result.text.split()[0]

    def fails(self, what, thing, word):
        """Tries to record it, and is told why not by some word."""
        self.shed.checks.failing("-C", self.place, "record", f"shed.{what}",
                                 payload(what, thing), has=[word])

    def sync(self):
        """Syncs; gives the rules by which events were refused."""
        self.run("sync")
        return [batch["rule"] for batch in self.good("inbox", "list", "--json").json]

    def posts(self, what, thing=None):
        """The same by HTTP; gives the status."""
        body = f'{{"type":"shed.{what}","payload":{payload(what, thing)}}}'
        answer = self.shed.server.ask("POST", "/v1/spaces/home/events", self.token, body)
        if answer.status == 422:
            self.shed.checks.equal(answer.json["rule"], "who", "the rule")
            self.shed.checks.true(answer.json["remedy"], "a remedy")
        return answer.status


def other_role():
    """A role of a pack that comes with the program."""
    for file in sorted((ROOT / "schema").glob("*/pack.json")):
        pack = json.loads(file.read_text(encoding="utf-8"))
        for role in pack.get("roles", []):
            return f"{pack['name']}.{role['name'] if isinstance(role, dict) else role}"
    raise AssertionError("no pack has a role")


def check_tokens(shed):
    """Roles that nobody knows are refused, and a token without an actor comes with a word."""
    checks, data = shed.checks, shed.server.data
    shed.token()
    make = ("token", "create", "--data", data, "--space", "home")
    other = other_role()
    checks.failing(*make, "--role", other, has=[other, "shed.keeper"])
    checks.failing(*make, "--role", "keeper", code=2)
    told = shed.diario.run(*make, "--label", "nobody")
    checks.true(told.code == 0 and "actor" in told.message, "it says what needs an actor", told)
    shed.token("--actor", "zoe", "--role", "shed.keeper", "--label", "zoe")
    admin = shed.token("--actor", "ada", rights="admin")
    answer = shed.server.ask("POST", "/v1/spaces/home/tokens", admin,
                             json.dumps({"roles": [other], "rights": ["read"]}))
    expect(answer, 400, "a role of a pack that is not in use")
    old = shed.token_id("zoe")
    shed.token("--replaces", old, "--label", "zoe-2", "--actor", "zoe")
    listed = shed.diario.good("token", "list", "--data", data, "--json").json
    new = [token for token in listed if token["label"] == "zoe-2"][0]
    checks.equal(new["roles"], ["shed.keeper"], "--replaces keeps roles")


def check_lost_role(shed):
    """Two devices keep the list; one of them loses its role while it is offline."""
    checks = shed.checks
    keeper = ("--role", "shed.keeper")
    anna = shed.device("anna", shed.token("--actor", "anna", *keeper))
    bert = shed.device("bert", shed.token("--actor", "bert", *keeper, "--label", "bert"))
    for each in (anna, bert):
        each.good("sync")
        each.records("list.set", "week")
    shed.diario.good("token", "revoke", shed.token_id("bert"), "--data", shed.server.data)
    checks.equal(anna.sync(), [], "whoever has the role still")
    checks.equal(bert.run("sync").code, 1, "a token that was revoked")
    bert.token = shed.token("--actor", "bert")
    shed.diario.good("-C", bert.place, "remote", "set", shed.server.url(),
                     environment={"DIARIO_TOKEN": bert.token})
    checks.equal(bert.sync(), ["who"], "whoever lost it")
    shown = bert.good("inbox", "list").text
    checks.true("who" in shown, "the inbox says so")
    status = bert.good("status", "--json").json
    checks.true("bert" in json.dumps(status) and "keeper" not in json.dumps(status),
                f"status says what the token gives: {status}")
    bert.fails("list.set", "week", "shed.keeper")
    checks.equal(bert.posts("list.set", "week"), 422, "JSON asks the same")
    checks.equal(anna.posts("list.set", "week"), 201, "JSON asks the same")
    return anna, bert


def check_revoked_author(shed, anna, bert):
    """An author stays one with another token, and nobody else becomes it."""
    checks = shed.checks
    dora = shed.device("dora", shed.token("--actor", "dora", "--label", "dora"))
    saw = dora.records("tool.bought")
    checks.equal(dora.sync(), [], "a tool is bought")
    shed.diario.good("token", "revoke", shed.token_id("dora"), "--data", shed.server.data)
    checks.equal(bert.posts("tool.lent", saw), 422, "another than the author")
    bert.run("inbox", "drop", "--all")
    bert.good("sync", "--no-blobs")
    bert.fails("tool.lent", saw, "author")
    dora.token = shed.token("--actor", "dora")
    checks.equal(dora.posts("tool.lent", saw), 201, "the author with a new token")
    shed.server.kill()
    shed.server.start()
    checks.equal(dora.posts("tool.lent", saw), 201, "after the server was killed")
    checks.equal(anna.posts("tool.lent", saw), 422, "after the server was killed")
    nobody = Device(shed, "nobody", shed.token())
    checks.equal(nobody.posts("tool.lent", saw), 422, "an event without an actor")
    checks.equal(nobody.posts("tool.bought"), 201, "what does not ask")


def check_publishing(shed):
    """What was recorded alone has its authors when it is published and relayed."""
    checks, diario = shed.checks, shed.diario
    admin = shed.token("--actor", "ada", rights="admin", space="mine")
    place = str(shed.folder / "alone")
    diario.good("init", place, "--schema", str(shed.pack))
    alone = Device(shed, "alone", admin)
    saw = alone.records("tool.bought", actor="anna")
    alone.records("tool.lent", saw, actor="bert")
    diario.good("-C", place, "publish", shed.server.url("mine"),
                environment={"DIARIO_TOKEN": admin})
    anna = shed.device("anna-mine", shed.token("--actor", "anna", space="mine"), "mine")
    bert = shed.device("bert-mine", shed.token("--actor", "bert", space="mine"), "mine")
    for each in (anna, bert):
        each.good("sync")
    anna.records("tool.lent", saw)
    checks.equal(anna.sync(), [], "the author before it was published")
    bert.fails("tool.lent", saw, "author")
    # What a token with relay brings is not asked.
    rita = shed.device("rita", shed.token("--actor", "rita", rights="read,append,relay",
                                          space="mine"), "mine")
    rita.good("sync")
    plane = rita.records("tool.bought", actor="bert")
    rita.records("tool.lent", saw, actor="bert")
    checks.equal(rita.sync(), [], "a relay vouches for others")
    bert.good("sync")
    bert.records("tool.lent", plane)
    checks.equal(bert.sync(), [], "whom the relay named is the author")


def check_restore(shed, anna, bert):
    """A server goes back to its backup, and gets what it lacks; today's roles count then."""
    checks, diario, server = shed.checks, shed.diario, shed.server
    copy = str(shed.folder / "backup")
    before = anna.records("tool.bought")
    checks.equal(anna.sync(), [], "before the backup")
    diario.good("backup", "--data", server.data, copy)
    after = anna.records("tool.bought")
    anna.records("list.set", "month")
    checks.equal(anna.sync(), [], "after the backup")
    server.kill()
    shutil.rmtree(server.data)
    shutil.copytree(copy, server.data)
    server.start()
    admin = shed.token("--actor", "ada", rights="admin")
    anna.token = shed.token("--actor", "anna", "--label", "plain")
    checks.equal(anna.posts("tool.lent", before), 503, "it waits")
    diario.good("authority", "resume", "--data", server.data)
    checks.equal(anna.posts("tool.lent", before), 201, "an author of the backup")
    checks.equal(bert.posts("tool.lent", before), 422, "another")
    diario.good("-C", anna.place, "remote", "set", server.url(),
                environment={"DIARIO_TOKEN": anna.token})
    checks.equal(anna.sync(), ["who"], "what was pushed again is asked by today's roles")
    checks.true("inbox" in anna.good("status").text, "status says so")
    lent = anna.posts("tool.lent", after)
    checks.equal(lent, 201, "its author made it again")
    checks.equal(bert.posts("tool.lent", after), 422, "another")
    shown = expect(server.ask("GET", "/v1/spaces/home", admin), 200, "the space").json
    checks.equal(shown["actor"], "ada", "whose token it is")


def check_queries(shed):
    """Queries for a token, and for everybody."""
    checks, server, data = shed.checks, shed.server, shed.server.data
    asking = shed.diario.run("token", "create", "--data", data, "--space", "home",
                             "--queries", "shed.public-*", "--json").json["token"]
    path = "/v1/spaces/home"
    expect(server.ask("GET", f"{path}/queries/shed.public-count", asking), 200, "its query")
    expect(server.ask("GET", f"{path}/queries/shed.all", asking), 403, "another query")
    for way in ("events", "sync", "tokens", "changes"):
        status = server.ask("GET", f"{path}/{way}", asking).status
        checks.true(status in (403, 404, 405), f"{way} for such a token: {status}")
    wrong = shed.diario.run("token", "create", "--data", data, "--space", "home",
                            "--queries", "shed.private-*")
    checks.true(wrong.code == 0 and "shed.public-count" in wrong.message,
                "what matches nothing is told, with what there is", wrong)
    count = f"{path}/queries/shed.public-count"
    expect(server.ask("GET", count), 401, "nobody, before")
    shed.diario.good("space", "public", "home", "--data", data, "--queries", "shed.public-*")
    expect(server.ask("GET", count), 200, "everybody")
    expect(server.ask("GET", f"{path}/queries/shed.all"), 401, "another query, by nobody")
    shed.diario.good("space", "public", "home", "--data", data, "--queries", "")
    expect(server.ask("GET", count), 401, "nobody, after")


def check(program, folder):
    diario = Diario(program, folder)
    checks = Checks(diario, folder / "none")
    with Server(diario, folder / "served") as server:
        shed = Shed(checks, diario, server, pathlib.Path(folder))
        check_tokens(shed)
        anna, bert = check_lost_role(shed)
        check_revoked_author(shed, anna, bert)
        check_publishing(shed)
        check_restore(shed, anna, bert)
        check_queries(shed)
        checks.equal(server.stop(), 0, "the server ends")
    return f"{checks.count} checks of who may record what"


main("who.py", __doc__, check)
