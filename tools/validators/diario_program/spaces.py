"""Spaces of a server are made, renamed and removed, and so are files with tokens."""

import sqlite3

PAYLOAD = '{"day":"2026-03-02","weightG":78400,"source":"manual"}'


def check_spaces(checks, diario, folder, data):
    made = diario.good("space", "create", "hme", *data, "--pack", "meals", "--json").json
    checks.equal((made["space"], [pack["name"] for pack in made["packs"]]), ("hme", ["meals"]),
                 "a space with a pack")
    checks.failing("space", "create", "hme", *data, has=["hme", "taken"])
    checks.failing("space", "create", "x", *data, "--pack", "plants", has=["plants", "meals"])
    checks.failing("space", "create", "x", *data, "--schema", "nowhere", has=["nowhere"])
    packless = diario.good("space", "create", "bare", *data)
    checks.true("no packs" in packless.text and "schema adopt --pack" in packless.message,
                "a space without a pack", packless)
    bare = ("-C", str(folder / "served"), "--space", "bare")
    checks.failing(*bare, "record", "meals.weight.recorded", PAYLOAD,
                   has=["diario schema adopt --pack meals"])
    diario.good(*bare, "schema", "adopt", "--pack", "meals")
    diario.good(*bare, "record", "meals.weight.recorded", PAYLOAD)
    checks.equal(diario.good("space", "rename", "hme", "home", *data).lines[0].split(",")[0],
                 "hme is called home", "a new name")
    checks.failing("space", "rename", "hme", "other", *data, has=["no space hme"])
    checks.failing("space", "rename", "bare", "home", *data, has=["home", "taken"])
    checks.failing("token", "create", *data, "--space", "typo",
                   has=["no space typo", "diario space create typo"])
    checks.failing("token", "create", *data, "--space", "home", "--expires", "2020-01-01",
                   has=["end"])
    secret = folder / "secret"
    diario.good("token", "create", *data, "--space", "bare", "--output", str(secret))
    checks.equal((secret.stat().st_mode & 0o777, secret.read_text()[:7]), (0o600, "diario_"),
                 "a file with a token")
    (folder / "link").symlink_to(folder / "elsewhere")
    for name in ("secret", "link"):
        checks.failing("token", "create", *data, "--space", "bare", "--output",
                       str(folder / name), has=[name, "is not replaced"])
    checks.equal((len(diario.good("token", "list", *data, "--json").json),
                  (folder / "elsewhere").exists()), (1, False), "nothing was made")
    would = diario.run("space", "remove", "bare", *data)
    checks.true(would.code == 1 and "1 event and 1 token" in would.text and "--yes" in would.text,
                "what would be lost", would)
    diario.good(*bare, "stats")
    gone = diario.good("space", "remove", "bare", *data, "--yes", "--json").json
    checks.equal((gone["events"], gone["removed"]), (1, True), "a removed space")
    checks.true(not (folder / "served" / ".diario" / "spaces" / gone["id"]).exists(),
                "its folder is gone")
    checks.failing("space", "remove", "bare", *data, "--yes", has=["no space bare"])
    # As after a crash before the space got its name, or after it lost it.
    orphan = diario.good("space", "create", "orphan", *data, "--json").json["id"]
    with sqlite3.connect(folder / "served" / ".diario" / "control.sqlite") as control:
        control.execute("DELETE FROM space WHERE id = ?", (orphan,))
    control.close()
    diario.good("space", "remove", orphan, *data, "--yes")
    checks.equal([space["space"] for space in diario.good("space", "list", *data, "--json").json],
                 ["home"], "a space without a name is gone")
    checks.equal(diario.good("token", "list", *data, "--json").json, [], "its tokens are gone")
