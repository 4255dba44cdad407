"""What people read: preferences, the guide and their reports, in the language that they want."""

import json
import os
import pty
import subprocess

from diario_program import require
from diario_program.serving import expect

# Heading, then a row of a report that is pending, and one that was refused.
REPORTS = {
    "en": ("Report Day of the fish Species Length in mm Size Season Town Status Review Server "
           "Why refused Words of the server",
           "r 2026-02-10 sardine 109.9 too short in season Talamone (Orbetello) counted - "
           "not sent yet - -",
           "same 2026-02-10 sardine 120 long enough in season Albinia (Orbetello) - - refused "
           "it is somebody else's"),
    "it": ("Segnalazione Giorno del pesce Specie Lunghezza in mm Misura Stagione Luogo Stato "
           "Revisione Server Perch\u00e9 rifiutata Parole del server",
           "r 2026-02-10 Sardina 109.9 troppo corto di stagione Talamone (Orbetello) contata - "
           "non ancora inviata - -",
           "same 2026-02-10 Sardina 120 abbastanza lungo di stagione Albinia (Orbetello) - - "
           "rifiutata \u00e8 di un'altra persona"),
}
PAGES = {
    "en": ["Guide     coin", "Title     The coin beside the fish", "Version   1",
           "Put away  yes", "Put the coin flat beside the middle of the fish, not beside its head"],
    "it": ["Guida      coin", "Titolo     La moneta accanto al pesce", "Versione   1",
           "Messa via  s\u00ec",
           "Metti la moneta piatta accanto alla met\u00e0 del pesce, non accanto alla"],
}


def on_terminal(diario, *words, columns=70):
    """The lines that the program prints on a terminal."""
    near, far = pty.openpty()
    environment = diario.environment | {"COLUMNS": str(columns), "TERM": "dumb", "LANG": "C"}
    with subprocess.Popen([diario.program, *words], cwd=diario.folder, env=environment,
                          stdin=subprocess.DEVNULL, stdout=far) as process:
        os.close(far)
        data = b""
        while True:
            try:
                part = os.read(near, 65536)
            except OSError:  # The other end is closed.
                break
            if not part:
                break
            data += part
    os.close(near)
    require(process.returncode == 0, f"{words} on a terminal", data)
    return data.decode("utf-8").replace("\r\n", "\n").split("\n")


def check_words(diario, server):
    """Each heading and value against a table that was written by hand, in both languages."""
    def call(device, command, given):
        diario.good("-C", device, "fish", command, "--input", "-", stdin=json.dumps(given))

    def report(device, identifier, length, place):
        call(device, "assessment.start", {"assessmentId": f"{device}-{identifier}",
                                          "speciesId": "sardina", "startedOn": "2026-02-10"})
        call(device, "length.enter", {"assessmentId": f"{device}-{identifier}",
                                      "lengthUm": length})
        call(device, "verdict.issue", {"assessmentId": f"{device}-{identifier}"})
        call(device, "report.file", {"assessmentId": f"{device}-{identifier}", "placeId": place,
                                     "reportId": identifier, "origin": "mediterranean",
                                     "production": "wild_fresh"})

    tokens = {}
    for user in ("w1", "w2"):
        tokens[user] = server.token("words", "read,append", "--actor", user,
                                    packs=("--pack", "fish"))
        diario.good("clone", server.url("words"), user, environment={"DIARIO_TOKEN": tokens[user]})
        diario.good("-C", user, "actor", "set", user)
    report("w1", "same", 120_000, "albinia")
    diario.good("-C", "w1", "sync", environment={"DIARIO_TOKEN": tokens["w1"]})
    call("w2", "preference.set", {"key": "language", "value": "it"})
    call("w2", "guide.dismiss", {"guideId": "coin", "version": 1})
    report("w2", "same", 120_000, "albinia")
    diario.run("-C", "w2", "sync", environment={"DIARIO_TOKEN": tokens["w2"]})
    report("w2", "r", 109_900, "talamone")
    for words, language in (((), "it"), (("--language", "en"), "en"),
                            (("--language", "it-CH"), "it")):
        lines = on_terminal(diario, "-C", "w2", "fish", "my-reports", "--user", "w2", *words,
                            columns=400)
        found = [" ".join(line.split()) for line in lines if line]
        heading, *rows = found
        require(heading == REPORTS[language][0], "the heading", heading)
        for row, wanted in zip(rows, REPORTS[language][1:], strict=True):
            require(row.startswith(wanted), "the reports of a user", (row, wanted))
        lines = on_terminal(diario, "-C", "w2", "fish", "guide", "--user", "w2", *words)
        start = lines.index(PAGES[language][0])
        require(lines[start:start + 5] == PAGES[language], "a page", lines[start:start + 5])
        require(all(len(line) <= 70 for line in lines), "nothing is wider than the terminal", lines)
    codes = diario.good("-C", "w2", "fish", "my-reports", "--user", "w2", "--json").json
    require([row["refusedRule"] for row in codes] == [None, "who"], "codes for programs", codes)

    def title(query, headers=None):
        answer = server.ask("GET", f"/v1/spaces/words/queries/fish.guide{query}", tokens["w2"],
                            headers=headers)
        expect(answer, 200, "the guide over HTTP")
        return answer.json[0]["title"]

    italian = {"Accept-Language": "it, en;q=0.5"}
    require(title("") == "How it works", "English, if nobody says more")
    require(title("?user=w2") == "Come funziona", "the language that the user prefers")
    require(title("", italian) == "Come funziona", "that of the request")
    require(title("?language=en&user=w2", italian) == "How it works", "that of the question")

    def judged(headers=None):
        return server.ask("GET", "/v1/spaces/words/views/fish.judge?speciesId=sardina"
                          "&lengthUm=120000&on=2026-03-04", tokens["w2"],
                          headers=headers).json["text"][0]

    require(judged() == "Una buona scelta.", "the language that the user prefers")
    require(judged({"Accept-Language": "en"}) == "A good choice.", "that of the request")
