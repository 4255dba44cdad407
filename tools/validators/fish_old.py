#!/usr/bin/env python3
"""Uses the old interface of the pack fish as the app of the thesis did, and files of reports.

    fish_old.py DIARIO

Requests are written to the socket byte by byte as the app wrote them: nothing is encoded, and the
form has no type. Each species is asked for in each month by number and by both names, each answer
is judged against the printed table, a second tap is no second report, and what is no text of the
old lists is refused. Then reports go through files: out of one space, into another, again, and into
two replicas that sync.
"""

import csv
import datetime
import http.client
import io
import json
import socket
import time

from diario_program import Diario, main, require
from diario_program.serving import Server

PACK = ("--pack", "fish")
# Of the thesis, table 1.2: name, least length in mm, closed months.
TABLE = [
    ("Sardina", 110, range(5, 10)), ("Acciuga", 90, range(4, 12)), ("Sogliola", 200, range(1, 5)),
    ("Merluzzo o Nasello", 200, (12, *range(1, 7))),
    ("Gambero Rosa Mediterraneo", 20, range(4, 13)), ("Sgombro", 180, (3, 4)),
    ("Seppia", 150, range(4, 8)), ("Calamaro", 120, (3, 4)),
    ("Triglia di fango", 110, range(4, 9)), ("Costardella", 0, range(10, 13)),
]
ITALIAN = ("gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre "
           "dicembre").split()
ENGLISH = ("january february march april may june july august september october november "
           "december").split()
COLUMNS = ("id_fish,fish_name,detectedSize,eligibilitySize,eligibilityDate,origin,production,"
           "townReport").split(",")
TOWN = "Porto D'Ercole (Monte Argentario)"


def today():
    """The day in Italy, which is one or two hours ahead."""
    now = datetime.datetime.now(datetime.timezone.utc)

    def last_sunday(month):
        last = datetime.datetime(now.year, month, 31, 1, tzinfo=datetime.timezone.utc)
        return last - datetime.timedelta(days=(last.weekday() + 1) % 7)

    summer = last_sunday(3) <= now < last_sunday(10)
    return (now + datetime.timedelta(hours=2 if summer else 1)).date()


def report(number, length, **changes):
    """What the app sends of a fish, in the order in which it does."""
    name, least, closed = TABLE[number - 1]
    fields = {"action": "save_report", "id_fish": str(number), "fish_name": name,
              "detectedSize": str(length), "eligibilitySize": str(int(length >= least)),
              "eligibilityDate": str(int(today().month not in closed)),
              "origin": "Mar Mediterraneo", "production": "pescato fresco", "townReport": TOWN}
    return {key: value for key, value in (fields | changes).items() if value is not None}


class OldApp:
    """The app of the thesis: it knows two scripts, and looks for the status 200."""

    def __init__(self, server):
        self.server = server

    def ask(self, head, body=b"", is_patient=True):
        """One request; who is told to wait does so, unless that is what is looked at."""
        while True:
            status, answer = self.send_bytes(head, body)
            if status != 429 or not is_patient:
                return status, answer
            time.sleep(1)

    def send_bytes(self, head, body):
        answer = self.server.raw(f"{head} HTTP/1.1\r\nHost: ltw1600.web.cs.unibo.it\r\n"
                                 f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
                                 .encode() + body)
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), body

    def species(self, query="?all_fishes"):
        status, body = self.ask(f"GET /fish/handleFishes.php{query}")
        return status, body

    def send(self, fields):
        form = "&".join(f"{name}={value}" for name, value in fields.items())
        return self.ask("POST /fish/handleReport.php", form.encode())


def check_species(app):
    status, body = app.species()
    require(status == 200, "all species", body)
    listed = json.loads(body)
    require([each["id"] for each in listed] == [str(n) for n in range(1, 11)], "their order", body)
    for each, (name, least, closed) in zip(listed, TABLE):
        require(all(isinstance(value, str) for value in each.values()), "all values are texts")
        require(set(each) == {"id", "commName", "sciName", "minSize", "reproduction"}, "names")
        require(each["commName"] == name and each["minSize"] == str(least), name, each)
        months = [ITALIAN.index(word) + 1 for word in each["reproduction"].split(", ")]
        require(months == sorted(closed), f"the closed months of {name}", months)
    require(app.species("") == (200, b""), "without all_fishes")
    cells = 0
    for month in range(1, 13):
        wanted = [name for name, _, closed in TABLE if month not in closed]
        for word in (str(month), ITALIAN[month - 1], ENGLISH[month - 1].upper()):
            status, body = app.species(f"?all_fishes&month={word}")
            require(status == 200, f"month {word}", body)
            found = [each["commName"] for each in json.loads(body)]
            require(found == wanted, f"the species of {word}", found)
        cells += len(wanted)
    require(cells == 71, f"{cells} cells are open")
    for word in ("0", "13", "1%27%20OR%20%271%27=%271", "", "gen", "%25", "1%00"):
        status, body = app.species(f"?all_fishes&month={word}")
        require(status == 400, f"month {word}", body)


def check_reports(app, rows):
    status, body = app.send(report(2, 113))
    require(status == 200, "a report", body)
    name = json.loads(body)["id"]
    require(app.send(report(2, 113)) == (200, body), "a second tap")
    require(json.loads(app.send(report(2, 113.5))[1])["id"] != name, "another fish")
    found = rows()
    require(len(found) == 2, "two reports", found)
    for row in found:
        require(row["source"] == "legacy_http" and row["placeId"] == "porto_ercole", "it", row)
    for number in range(1, 11):
        for length in (19, 20, 110.5, 200):
            status, body = app.send(report(number, length))
            require(status == 200, f"species {number}, {length} mm", body)
    require(len(rows()) == 42, "all of them", len(rows()))
    right = report(2, 120)
    wrong = {
        422: [{"eligibilitySize": "0"}, {"eligibilityDate": str(1 - int(right["eligibilityDate"]))},
              {"detectedSize": "89.999"}],
        400: [{name: None} for name in right] + [
            {"action": "x"}, {"id_fish": "11"}, {"fish_name": "Sardina"}, {"detectedSize": "0.9"},
            {"detectedSize": "5001"}, {"detectedSize": "nan"}, {"eligibilitySize": "2"},
            {"origin": "Marte"}, {"production": "fresco"}, {"townReport": "Orbetello"},
            {"townReport": "Orbetello (Monte Argentario)"}, {"townReport": "- Seleziona comune - "},
        ] + [{name: f"{right[name]}{sql}"} for name in right
             for sql in ("'; DROP TABLE report; --", "' OR '1'='1", "\") OR (\"1\"=\"1")],
    }
    for status, cases in wrong.items():
        for changes in cases:
            found, body = app.send(report(2, 120, **changes))
            require(found == status, f"{changes}", body)
            require(json.loads(body)["status"] == status, "a problem", body)
    for body, status in ((b"", 400), (b"\xff=1", 400), (b"&&&===", 400), (b"x" * 9000, 413)):
        require(app.ask("POST /fish/handleReport.php", body)[0] == status, body[:20])
    require(app.ask("GET /fish/handleReport.php")[0] == 405, "only POST")
    require(len(rows()) == 42, "nothing else was recorded")


def check_rate(app):
    statuses = [app.ask("GET /fish/handleFishes.php", is_patient=False)[0] for _ in range(1000)]
    require(429 in statuses and set(statuses) == {200, 429}, "a rate", set(statuses))


def lines_of(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def check_files(diario, server, folder, data):
    """Out of the space of the old app, into another one, and back."""
    here = ("-C", str(data), "--space", "home", "fish")
    old = diario.good(*here, "export", "--legacy").text
    rows = lines_of(old)
    require(list(rows[0]) == COLUMNS and len(rows) == 42, "the old columns", old[:200])
    require({row["townReport"] for row in rows} == {TOWN}, "the town as it was sent", rows[0])
    cells = json.loads(diario.good(*here, "export", "--legacy", "--json").text)
    require([dict(row) for row in rows] == cells, "CSV and JSON", cells[:1])
    whole = diario.good(*here, "export").text
    (folder / "whole.csv").write_text(whole, newline="")
    diario.good("init", "copy", *PACK)
    copy = ("-C", "copy", "fish")
    taken = diario.good(*copy, "import", "whole.csv", "--json").json
    require(taken["imported"] == 42 and taken["refusedCount"] == 0, "an import", taken)
    again = diario.good(*copy, "import", "-", "--json", stdin=whole).json
    require((again["imported"], again["known"]) == (0, 42), "again", again)
    back = diario.good(*copy, "export").text
    require(back == whole.replace(",legacy_http,", ",import,"), "as it was", back[:400])
    require(diario.good(*here, "import", "-", "--json", stdin=back).json["known"] == 42, "home")
    check_bad_rows(diario, old)
    check_devices(diario, server, folder)


def check_bad_rows(diario, old):
    head, first = old.split("\r\n")[:2]
    name = first.split(",")[1]
    text = "\r\n".join([head, first, first.replace(name, "Tonno"), first.replace("1", "x", 1), "",
                        first + ",more", '"' + first, first.replace(TOWN, "Roma")])
    dry = diario.run("-C", "copy", "fish", "import", "-", "--json", "--dry-run", "--on",
                     "2016-02-10", stdin=f"{head}\n3,Sogliola,210,1,0,Altro,allevamento,Albinia\n")
    require(dry.code == 0 and dry.json["imported"] == 1, "what would be taken", dry)
    require(diario.good("-C", "copy", "sql", "SELECT count(*) AS n FROM report", "--json").json
            == [{"n": 42}], "nothing is taken by it")
    require(diario.run("-C", "copy", "fish", "import", "-", "--on", "soon").code == 2, "a day")
    answer = diario.run("-C", "copy", "fish", "import", "-", "--json", stdin=text)
    found = answer.json
    require(answer.code == 1 and found["refusedCount"] == 5, "five rows are refused", answer)
    require([row["line"] for row in found["refused"]] == [6, 7, 3, 4, 8], "their lines", answer)
    told = diario.run("-C", "copy", "fish", "import", "-", "--language", "it", stdin=text)
    require("line 3, fish_name (Tonno): La specie" in told.message, "their reasons", told)
    require(diario.run("-C", "copy", "fish", "import", "-", stdin="a,b\n").code == 1, "columns")


def check_devices(diario, server, folder):
    """Two devices import one file while they are apart: they make the same reports."""
    rows = [",".join(COLUMNS)] + [
        f"3,Sogliola,{200 + number},1,0,Altro,allevamento,Talamone (Orbetello)"
        for number in range(300)
    ] + ["10,=1+1,50,1,1,Altro,allevamento,Talamone (Orbetello)"]
    (folder / "old.csv").write_text("\n".join(rows))
    token = server.token("shared", "read,append,relay", packs=PACK)
    for device in ("one", "two"):
        diario.good("clone", server.url("shared"), device, stdin="",
                    environment={"DIARIO_TOKEN": token})
        answer = diario.run("-C", device, "fish", "import", "old.csv", "--on", "2016-02-10",
                            "--json")
        require(answer.code == 1 and answer.json["imported"] == 300, device, answer)
        require(answer.json["refused"][0]["value"] == "=1+1", "the last row", answer)
    for device in ("one", "two", "one"):
        diario.good("-C", device, "sync")
    counts = [diario.good("-C", device, "sql", "SELECT count(*) AS n, sum(lengthUm) AS s FROM "
                          "counted", "--json").json for device in ("one", "two")]
    require(counts[0] == counts[1] and counts[0][0]["n"] == 300, "the same reports", counts)


def own_address():
    """An address of this machine that others would use; None if it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Nothing is sent.
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        address = probe.getsockname()[0]
    return None if address.startswith(("127.", "0.")) else address


def check_others(diario, data):
    """Who is not on this machine, by its address, is answered only with --legacy-open."""
    address = own_address()
    for words, status in (((), 403), (("--legacy-open",), 200)):
        with Server(diario, data, "--legacy-fish", "home", *words, host="0.0.0.0") as server:
            require(OldApp(server).species()[0] == 200, "this machine")
            if address is None:
                continue
            connection = http.client.HTTPConnection(address, server.port, timeout=30)
            connection.request("GET", "/fish/handleFishes.php?all_fishes")
            found = connection.getresponse().status
            connection.close()
            require(found == status, f"{address} is answered with {found}, {words}")


def check(path, folder):
    diario = Diario(path, folder)
    data = folder / "served"
    refused = diario.run("serve", "--data", str(data), "--legacy-fish", "home")
    require(refused.code == 1 and not data.exists(), "a folder that is not there", refused)
    diario.good("space", "create", "other", "--data", str(data), *PACK)
    refused = diario.run("serve", "--data", str(data), "--legacy-fish", "home")
    require(refused.code == 1 and "space create home" in refused.message, "no space yet", refused)
    require(diario.run("serve", "--legacy-open").code == 2, "--legacy-open alone")
    diario.good("space", "create", "home", "--data", str(data), *PACK)
    with Server(diario, data) as server:
        require(OldApp(server).species()[0] == 404, "off unless it is named")
    with Server(diario, data, "--legacy-fish", "home") as server:
        token = server.token("home", "read", packs=PACK)
        app = OldApp(server)
        check_species(app)

        def rows():
            return server.ask("GET", "/v1/spaces/home/queries/fish.reports?most=1000", token).json

        check_reports(app, rows)
        check_files(diario, server, folder, data)
        check_rate(app)
    with Server(diario, data, "--legacy-fish", "home", "--legacy-unit", "cm") as server:
        app = OldApp(server)
        listed = json.loads(app.species()[1])
        require(listed[0]["minSize"] == "11" and listed[9]["minSize"] == "0", "in cm", listed)
        require(app.send(report(1, 110) | {"detectedSize": "11"})[0] == 200, "11 cm")
        require(app.send(report(1, 109) | {"detectedSize": "10.9"})[0] == 200, "10.9 cm")
        require(server.stop() == 0, "the server stops")
    check_others(diario, data)
    return "71 of 120 open, 44 reports of the old app, 40 others refused, and files of them"


if __name__ == "__main__":
    main("fish_old.py", __doc__, check)
