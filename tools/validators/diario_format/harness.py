"""The program `DiarioHarness`, and the events that requests to it describe."""

import os
import select
import subprocess

from .canonical import parse_json
from .hashes import commitment_of, salt_of
from .payload import with_new_id
from .primitives import FormatError, parse_clock, parse_id
from .row import Event, check_subject

ANSWER_SECONDS_MAX = 60


class Child:
    """A program that answers each line on its input with one line on its output."""

    def __init__(self, command):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self.received = b""

    def ask(self, line):
        try:
            self.process.stdin.write(line.encode("utf-8") + b"\n")
        except BrokenPipeError:
            raise FormatError("the program has ended") from None
        while b"\n" not in self.received:
            ready, _, _ = select.select([self.process.stdout], [], [], ANSWER_SECONDS_MAX)
            data = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            if not data:
                raise FormatError("the program gave no answer" if ready else "no answer in time")
            self.received += data
        answer, _, self.received = self.received.partition(b"\n")
        return parse_json(answer.decode("utf-8"))

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def event_of_request(event_type, request):
    """The event that a request describes."""
    event = Event(event_type.name, event_type.version,
                  parse_id(request["replica"]), request["sequence"])
    event.batch_index = event.sequence - request["batchFirst"]
    event.batch_count = request["batchCount"]
    event.clock = parse_clock(request["clock"])
    event.at = request["at"]
    event.base = request["base"]
    event.if_unchanged = request.get("ifUnchanged", False)
    event.actor = request.get("actor")
    event.subject = request.get("subject")
    event.set_payload(event_type, with_new_id(event_type, request["payload"], event.origin))
    check_subject(event, event_type)
    if event.has_personal:
        salt = salt_of(bytes.fromhex(request["seed"]), event.sequence)
        event.commitment = commitment_of(salt, event.personal)
    return event
