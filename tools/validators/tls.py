#!/usr/bin/env python3
"""Serves with TLS, and lets replicas and curl in by it.

    tls.py DIARIO

Certificates are made here by `openssl`: an authority of our own, one that nobody was told of, and a
certificate for another name. Who cannot trust the server says so in a sentence, and sends nothing.
"""

import http.client
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess

from diario_program import Diario, Failed, main, wait_for, weight
from diario_program.checks import Checks
from diario_program.serving import Server


class SecureServer(Server):
    """A server that speaks https under the name `localhost`."""

    def url(self, space="home"):
        return f"https://localhost:{self.port}/v1/spaces/{space}"


def openssl(*words):
    done = subprocess.run(["openssl", *words], capture_output=True, timeout=60, check=False)
    if done.returncode != 0:
        raise Failed(f"openssl {words[0]}: {done.stderr.decode('utf-8', 'replace')}")


def make_authority(folder, name):
    """An authority: its certificate and key."""
    paths = (folder / f"{name}.pem", folder / f"{name}.key")
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-days", "2", "-subj", f"/CN={name}", "-out", str(paths[0]), "-keyout", str(paths[1]),
            "-addext", "keyUsage=critical,keyCertSign,cRLSign")
    return paths


def make_certificate(folder, name, authority, names):
    """A certificate of a server for `names`, and its key."""
    request, extensions = folder / f"{name}.csr", folder / f"{name}.ext"
    paths = (folder / f"{name}.pem", folder / f"{name}.key")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
            f"/CN={name}", "-out", str(request), "-keyout", str(paths[1]))
    extensions.write_text("basicConstraints=CA:FALSE\nsubjectAltName="
                          + ",".join(names) + "\n", encoding="ascii")
    openssl("x509", "-req", "-in", str(request), "-CA", str(authority[0]), "-CAkey",
            str(authority[1]), "-CAcreateserial", "-days", "2", "-extfile", str(extensions),
            "-out", str(paths[0]))
    return paths


def curl(authority, url, token):
    """The status that curl gets, or its error."""
    done = subprocess.run(
        ["curl", "--silent", "--show-error", "--max-time", "30", "--cacert", str(authority),
         "--noproxy", "*", "--output", "/dev/null", "--write-out", "%{http_code}", "--header",
         f"Authorization: Bearer {token}", url],
        capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout.decode()


def check_trusted(checks, diario, server, authority, folder):
    """A client that is given the authority connects, and remembers it."""
    token = server.token()
    environment = {"DIARIO_TOKEN": token}
    replica = str(folder / "replica")
    diario.good("clone", server.url(), replica, "--ca-file", str(authority),
                environment=environment)
    diario.good("-C", replica, "record", "-", stdin=weight(1))
    report = diario.good("-C", replica, "sync", "--json").json
    checks.equal(report["pushed"], 1, "an event went to the server by TLS")
    other = str(folder / "other")
    diario.good("clone", server.url(), other, "--ca-file", str(authority), environment=environment)
    checks.equal(diario.verify(other)["root"], diario.verify(replica)["root"], "the same events")
    if shutil.which("curl"):
        checks.equal(curl(authority, server.url(), token), (0, "200"), "curl")
    # Without TLS nothing is answered at that port, and no token is asked for.
    plain = diario.run("clone", server.url().replace("https", "http"), str(folder / "plain"),
                       environment=environment)
    checks.equal(plain.code, 1, "http at a port of https")
    return token


def refuse(checks, diario, words, environment, parts, what):
    refused = diario.run(*words, environment=environment)
    checks.equal(refused.code, 1, f"{what}: {refused}")
    for part in parts:
        checks.true(part in refused.message, f"{what} says {part!r}: {refused}")
    checks.equal(len(refused.message.splitlines()), 1, f"{what}: one line: {refused}")


def check_untrusted(checks, diario, server, token, stranger, folder):
    """An authority that nobody was told of."""
    environment = {"DIARIO_TOKEN": token}
    where = str(folder / "untrusted")
    refuse(checks, diario, ("clone", server.url(), where), environment,
           ["certificate", "--ca-file", "localhost"], "an unknown authority")
    refuse(checks, diario, ("clone", server.url(), where, "--ca-file", str(stranger)), environment,
           ["certificate", "--ca-file"], "another authority")
    nonsense = folder / "nonsense.pem"
    nonsense.write_text("nothing\n", encoding="ascii")
    refuse(checks, diario, ("clone", server.url(), where, "--ca-file", str(nonsense)), environment,
           ["nonsense.pem", "PEM"], "a file without certificates")
    refuse(checks, diario, ("clone", server.url(), where, "--ca-file", str(folder / "gone.pem")),
           environment, ["gone.pem"], "a file that is not there")
    checks.true(not (folder / "untrusted" / ".diario").exists(), "nothing was made")
    if shutil.which("curl"):
        checks.equal(curl(stranger, server.url(), token)[0], 60, "curl does not trust it either")


def check_words(checks, diario, served, own, other):
    """Certificates that cannot be served with."""
    for words, parts in (
        (["--tls-cert", str(own[0])], ["--tls-key"]),
        (["--tls-key", str(own[1])], ["--tls-cert"]),
        (["--tls-cert", str(own[0]), "--tls-key", "gone.key"], ["gone.key"]),
        (["--tls-cert", str(own[0]), "--tls-key", str(other[1])], ["certificate"]),
        (["--tls-cert", str(own[1]), "--tls-key", str(own[0])], ["certificate"]),
    ):
        refused = diario.run("serve", "--data", served, "--listen", "127.0.0.1:0", *words)
        checks.true(refused.code in (1, 2), f"{words}: {refused}")
        for part in parts:
            checks.true(part in refused.message, f"{words} says {part!r}: {refused}")


def shown(server, authority):
    """The serial number of the certificate that the server shows to a client that trusts it."""
    context = ssl.create_default_context(cafile=str(authority))
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as plain:
        with context.wrap_socket(plain, server_hostname="localhost") as secure:
            return secure.getpeercert()["serialNumber"]


def check_renewal(checks, server, folder, authority, own, token):
    """SIGHUP shows a renewed certificate; connections of before go on, and a bad one is told of."""
    before = shown(server, authority[0])
    context = ssl.create_default_context(cafile=str(authority[0]))
    kept = http.client.HTTPSConnection("localhost", server.port, timeout=10, context=context)

    def ask():
        kept.request("GET", "/v1/spaces/home", headers={"Authorization": f"Bearer {token}"})
        answer = kept.getresponse()
        answer.read()
        return answer.status

    checks.equal(ask(), 200, "a connection of before")
    renewed = make_certificate(folder, "renewed", authority, ["DNS:localhost", "IP:127.0.0.1"])

    def hang_up(certificate, key, word):
        shutil.copy(certificate, own[0])
        shutil.copy(key, own[1])
        count = sum(word in line for line in server.log)
        server.process.send_signal(signal.SIGHUP)
        wait_for(lambda: sum(word in line for line in server.log) > count, word.decode())

    hang_up(*renewed, b"was loaded again")
    after = shown(server, authority[0])
    checks.true(after != before, "another certificate is shown")
    checks.equal(ask(), 200, "the connection of before goes on")
    for certificate, key in ((renewed[1], renewed[0]), (renewed[0], authority[1])):
        hang_up(certificate, key, b"stays as it was")
        checks.equal(shown(server, authority[0]), after, "a bad one changes nothing")
    pathlib.Path(own[0]).unlink()
    server.process.send_signal(signal.SIGHUP)
    wait_for(lambda: any(b"stays as it was" in line and b"own.pem" in line
                         for line in server.log), "a file that is gone")
    checks.equal(shown(server, authority[0]), after, "one that is gone changes nothing")
    hang_up(*renewed, b"was loaded again")
    checks.equal(ask(), 200, "the connection of before still goes on")


def check(path, folder):
    if not shutil.which("openssl"):
        return "skipped, because there is no openssl to make certificates with"
    diario = Diario(path, folder)
    checks = Checks(diario, folder / "none")
    authority, stranger = make_authority(folder, "ours"), make_authority(folder, "theirs")
    own = make_certificate(folder, "own", authority, ["DNS:localhost", "IP:127.0.0.1"])
    other = make_certificate(folder, "else", authority, ["DNS:elsewhere.example"])
    served = str(folder / "served")
    words = ("--tls-cert", str(own[0]), "--tls-key", str(own[1]))
    with SecureServer(diario, served, *words) as server:
        checks.true(server.address.startswith("https://"), f"the address: {server.address}")
        token = check_trusted(checks, diario, server, authority[0], folder)
        check_untrusted(checks, diario, server, token, stranger[0], folder)
        check_renewal(checks, server, folder, authority, own, token)
        checks.equal(server.stop(), 0, "it ends")
        events = diario.verify(str(folder / "replica"))["events"]
    with SecureServer(diario, served, "--tls-cert", str(other[0]), "--tls-key", str(other[1]),
                      port=server.port) as server:
        # The replica knows the authority, but it is not the server that it meant.
        diario.good("-C", str(folder / "replica"), "record", "-", stdin=weight(2))
        refuse(checks, diario, ("-C", str(folder / "replica"), "sync"), {},
               ["certificate", "localhost"], "another name")
        checks.equal(server.stop(), 0, "it ends again")
    with SecureServer(diario, served, *words, port=server.port) as server:
        report = diario.good("-C", str(folder / "replica"), "sync", "--json").json
        checks.equal((report["pushed"], report["pending"]), (1, 0), "nothing was lost by it")
        checks.equal(diario.verify(str(folder / "replica"))["events"], events + 1, "events")
    check_words(checks, diario, served, own, other)
    return f"{checks.count} checks"


if __name__ == "__main__":
    main("tls.py", __doc__, check)
