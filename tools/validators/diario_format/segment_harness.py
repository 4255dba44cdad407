"""The subcommand `segments`: random events that the program seals, read back and compared."""

import random

from .canonical import parse_json
from .generate import written
from .harness import Child, event_of_request
from .hashes import SALT_DEPTH, salt_child, salt_group, salt_index
from .primitives import FormatError
from .row import canonical_row
from .segment_generate import LogGenerator, probe_types
from .segments import Segment

ERASED_SHARES = (0, 0, 0.1, 0.7, 1)


def mark_erased(generator, pairs):
    """Marks some events with personal parts, and gives the salt nodes that are left."""
    share = generator.random.choice(ERASED_SHARES)
    events = []
    erased = {}
    groups = {}
    for event_type, request in pairs:
        event = event_of_request(event_type, parse_json(written(request)))
        events.append(event)
        key = (request["replica"], salt_group(event.sequence))
        if event.has_personal:
            groups[key] = request["seed"]
            if generator.chance(share):
                request["erased"] = True
                erased.setdefault(key, set()).add(salt_index(event.sequence))
    nodes = []
    for (replica, group), seed in groups.items():
        for level, index in left_nodes(erased.get((replica, group), set())):
            value = node_at(bytes.fromhex(seed), level, index)
            nodes.append({"replica": replica, "group": group, "level": level, "index": index,
                          "value": value.hex()})
    return events, nodes


def left_nodes(erased, level=0, index=0):
    """The highest nodes that have none of the erased leaves below them."""
    below = {leaf for leaf in erased if leaf >> (SALT_DEPTH - level) == index}
    if not below:
        return [(level, index)]
    if level == SALT_DEPTH:
        return []
    return (left_nodes(below, level + 1, 2 * index)
            + left_nodes(below, level + 1, 2 * index + 1))


def node_at(seed, level, index):
    """The node of a level, found as the salt of a tree of that depth."""
    node = seed
    for depth in range(level):
        node = salt_child(node, index >> (level - 1 - depth) & 1)
    return node


def request_of(generator, pairs, nodes, schemas, keeps_plan):
    rows = "[" + ",".join(written(request) for _, request in pairs) + "]"
    parts = [f'"rows":{rows}', f'"nodes":{written(nodes)}', f'"schemas":{written(schemas)}']
    if generator.positioned:
        parts.append(f'"firstPosition":{generator.first_position}')
    if keeps_plan:
        parts.append('"keepsPlan":true')
    return '{"segment":{' + ",".join(parts) + "}}"


def compare(generator, events, pairs, answer):
    """Texts for what differs between the events and those of the segment."""
    if not answer.get("ok"):
        return [f"refused: {answer.get('message')} {answer.get('rule')}"]
    segment = Segment(bytes.fromhex(answer["segment"]), bytes.fromhex(answer["sidecar"]))
    differences = []
    if segment.first_position != generator.first_position:
        differences.append(f"position {segment.first_position}")
    if len(segment.events) != len(events):
        return differences + [f"{len(segment.events)} events instead of {len(events)}"]
    for index, (event, (_, request)) in enumerate(zip(events, pairs)):
        found = segment.events[index]
        accepted_at = request["acceptedAt"] if generator.positioned else None
        is_erased = request.get("erased", False)
        wanted = (None if is_erased else event.personal, accepted_at,
                  request.get("authority", False), is_erased)
        here = (found.personal, segment.accepted_times[index], segment.is_authority(index),
                index in segment.erased)
        if canonical_row(found) != canonical_row(event) or here != wanted:
            differences.append(f"event {index}, {event.origin}, {written(request)}\n"
                               f"  here  {canonical_row(found).hex()} {here}\n"
                               f"  there {canonical_row(event).hex()} {wanted}")
    return differences


def run(program, types, count, seed, keep=None):
    """The number of events that agree, and a text for each difference.

    `keep` gets the request and the answer of a segment that differs.
    """
    source = random.Random(seed)
    schemas, probes = probe_types()
    child = Child([program])
    agreed, differences, number = 0, [], 0
    try:
        while agreed < count and not differences:
            number += 1
            chosen = source.sample(types, source.randint(1, min(8, len(types))))
            chosen += source.sample(probes, source.randint(0, len(probes)))
            if not any(t.pack_name != "engine" for t in chosen):
                continue
            if not any(t.pack_name == "engine" for t in chosen):
                chosen += [t for t in types if t.pack_name == "engine"]
            generator = LogGenerator(chosen, source, positioned=source.random() < 0.8)
            size = source.choice((1, 2, 9, source.randint(1, 300), source.randint(300, 1500)))
            pairs = generator.events(size)
            events, nodes = mark_erased(generator, pairs)
            line = request_of(generator, pairs, nodes, schemas, source.random() < 0.3)
            answer = child.ask(line)
            try:
                found = compare(generator, events, pairs, answer)
            except FormatError as error:
                found = [str(error)]
            if found and keep is not None:
                keep(line, answer)
            differences += [f"segment {number} of {size} events: {text}" for text in found]
            agreed += 0 if found else size
    except FormatError as error:
        differences.append(f"after {agreed} events: {error}")
    finally:
        child.close()
    return agreed, differences
