"""Messages of sync (`sync.md`, section 4), made again from what they say."""

import hashlib

from .checksum import crc32c
from .primitives import Writer, parse_id

MAGIC = b"dmsg"
VERSION = 1
(PUSH, VERDICTS, PULL, NEWS, PACK_WANTED, PACK, REFUSAL, COMPARE, COMMON, PUBLISH, ABANDON,
 PUBLICATION, RESTORE, RELAY) = range(1, 15)


def compare_messages(compare, vectors):
    for number, case in enumerate(vectors["cases"]):
        where = f"case {number} ({case['shows']})"
        compare.equal(where, message(case["fields"]).hex(), case["bytes"])


def message(fields):
    body = Writer()
    BODIES[fields["kind"]](body, fields)
    head = Writer()
    head.raw(MAGIC)
    head.u8(VERSION)
    head.u8(fields["kind"])
    head.u16(0)
    head.u32(len(body.done()))
    checksum = crc32c(head.done() + body.done())
    head.u32(checksum)
    return head.done() + body.done()


def write_lineage(body, fields, name="lineage"):
    high, low = fields[name][:16], fields[name][16:]
    body.u64(int(high, 16))
    body.u64(int(low, 16))


def write_standing(body, fields):
    write_lineage(body, fields)
    body.varint(int(fields["epoch"]))
    body.varint(int(fields["size"]))
    body.raw(bytes.fromhex(fields["root"]))


def write_push(body, fields):
    write_standing(body, fields)
    body.u64(parse_id(fields["replica"]))
    body.varint(len(fields["blocks"]))
    for block in fields["blocks"]:
        body.bytes(bytes.fromhex(block))


def write_verdicts(body, fields):
    body.varint(int(fields["epoch"]))
    body.varint(int(fields["head"]))
    body.varint(len(fields["verdicts"]))
    for tag, first, count, *rest in fields["verdicts"]:
        body.u8(int(tag))
        body.varint(int(first))
        body.varint(int(count))
        if rest:
            body.varint(int(rest[0]))
        if rest[1:]:
            body.zigzag(int(rest[1]))


def write_pull(body, fields):
    write_standing(body, fields)
    body.varint(len(fields["own"]))
    for replica, first, count in fields["own"]:
        body.u64(parse_id(replica))
        body.varint(int(first))
        body.varint(int(count))
    body.varint(int(fields["countMax"]))
    body.u8(fields["context"])


def write_news(body, fields):
    for name in ("epoch", "head", "end"):
        body.varint(int(fields[name]))
    body.raw(bytes.fromhex(fields["root"]))
    body.varint(len(fields["pieces"]))
    for tag, *rest in fields["pieces"]:
        body.u8(int(tag))
        if tag == "1":
            body.bytes(bytes.fromhex(rest[0]))
        else:
            body.u64(parse_id(rest[0]))
            for value in rest[1:4]:
                body.varint(int(value))
            body.zigzag(int(rest[4]))
            body.raw(bytes.fromhex(rest[5]))


def write_pack_wanted(body, fields):
    write_standing(body, fields)
    body.raw(bytes.fromhex(fields["fingerprint"]))


def write_pack(body, fields):
    write_files(body, fields["files"])


def write_files(body, files):
    body.varint(len(files))
    for path, content in files:
        body.text(path)
        body.bytes(bytes.fromhex(content))


def write_refusal(body, fields):
    body.varint(fields["reason"])
    body.varint(int(fields["number"]))
    write_lineage(body, fields)
    body.varint(int(fields["epoch"]))
    body.text(fields["text"])


def write_compare(body, fields):
    write_lineage(body, fields)
    body.varint(len(fields["points"]))
    for size, root in fields["points"]:
        body.varint(int(size))
        body.raw(bytes.fromhex(root))


def write_common(body, fields):
    for name in ("epoch", "head", "size"):
        body.varint(int(fields[name]))


def write_publish(body, fields):
    write_abandon(body, fields)
    body.zigzag(int(fields["acceptedAt"]))
    body.varint(int(fields["before"]))
    body.varint(len(fields["blocks"]))
    for block in fields["blocks"]:
        body.bytes(bytes.fromhex(block))
    write_packs(body, fields)


def write_packs(body, fields):
    pack = fields.get("pack")
    body.varint(1 if pack else 0)
    if pack:
        body.raw(bytes.fromhex(pack[0][0]))
        write_files(body, pack[1:])


def write_relay(body, fields):
    write_push(body, fields)
    write_packs(body, fields)


def write_restore(body, fields):
    standing = Writer()
    write_standing(standing, fields)
    attempt = hashlib.sha256(b"diario restore\0" + standing.done()).digest()[:16]
    body.raw(attempt)
    parts = Writer()
    write_publish(parts, fields)
    body.raw(parts.done()[16:])


def write_abandon(body, fields):
    write_lineage(body, fields, "attempt")
    write_standing(body, fields)


def write_publication(body, fields):
    write_lineage(body, fields, "attempt")
    body.u8(fields["outcome"])
    body.varint(fields["reason"])
    body.varint(int(fields["taken"]))
    body.varint(len(fields["wanted"]))
    for fingerprint in fields["wanted"]:
        body.raw(bytes.fromhex(fingerprint))
    body.text(fields["text"])


BODIES = {
    PUSH: write_push,
    VERDICTS: write_verdicts,
    PULL: write_pull,
    NEWS: write_news,
    PACK_WANTED: write_pack_wanted,
    PACK: write_pack,
    REFUSAL: write_refusal,
    COMPARE: write_compare,
    COMMON: write_common,
    PUBLISH: write_publish,
    ABANDON: write_abandon,
    PUBLICATION: write_publication,
    RESTORE: write_restore,
    RELAY: write_relay,
}
