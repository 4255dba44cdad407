"""frames.md: what the records of one space add up to, and whether they agree.

The hashes are those of rows.md, section 5; rules B are in blocks.md, F in frames.md, D in
directory.md.
"""

from bisect import bisect_left

from .block import COMPRESSION_NONE, parse_block
from .hashes import HASH_SIZE, CompactRange, commitment_of, leaf_of, salt_group, salt_of
from .inbox import REFUSAL_TYPE, Refusal
from .lane_records import SealedRows
from .primitives import FormatError, Reader, id_text, moment, origin_text
from .row import check_subject, encode_public_part, event_hash

KIND_ROWS = 1
KIND_SEED = 2
KIND_PROMOTION = 3
KIND_STATE = 4
KIND_DROPPED = 5
KIND_SEALED = 6
PROMOTION_SIZE = 40
ADOPTION_TYPE = "engine.pack.adopted"


class State:
    """A state record."""

    def __init__(self, content, where):
        reader = Reader(content)
        self.where = where
        self.released = reader.u64()
        self.size = reader.u64()
        self.accepted_at = moment(reader.i64(), "acceptance")
        self.highest_clock = reader.u64()
        replica_count, adoption_count, node_count = reader.u32(), reader.u32(), reader.u32()
        reader.zeros(4)
        if reader.left != 24 * replica_count + 40 * adoption_count + 32 * node_count:
            raise FormatError("the counts and the size of the state disagree")
        self.replicas = {}      # replica: (last sequence known, whether it is an authority's)
        for _ in range(replica_count):
            replica, last, is_authority = reader.id(), reader.u64(), reader.u64()
            if replica <= max(self.replicas, default=0) or is_authority > 1:
                raise FormatError("a replica of the state that is not in order, or no boolean")
            self.replicas[replica] = (last, is_authority == 1)
        self.adoptions = [(reader.u64(), reader.raw(HASH_SIZE)) for _ in range(adoption_count)]
        if self.adoptions != sorted(self.adoptions):
            raise FormatError("adoptions that are not in order of position")
        self.nodes = [reader.raw(HASH_SIZE) for _ in range(node_count)]
        if self.size < self.released or bin(self.size).count("1") != node_count:
            raise FormatError("the size of the state disagrees with released or nodes")
        if self.size == 0 and self.accepted_at != 0:
            raise FormatError("a time of position 0")


class Ledger:
    """The live content of one space."""

    def __init__(self, catalogue, problems, space=None):
        self.catalogue = catalogue
        self.problems = problems
        self.space = space
        self.events = {}        # (replica, sequence): event
        self.types = {}         # (replica, sequence): type of the schema that the block names
        self.place = {}         # (replica, sequence): (position, acceptedAt)
        self.positions = {}     # position: (replica, sequence)
        self.seeds = {}         # (replica, group): seed
        self.states = []
        self.authority = set()  # replicas of blocks with the flag `authority`
        self.ordinary = set()   # replicas of the other blocks
        self.promotions = []    # applied only when all rows are known, since records may move
        self.hashes = {}        # (replica, sequence): event hash
        self.payloads = {}      # (replica, sequence): payload
        self.sealed = []        # (where, segment), in order of position
        self.private = []       # (where, segment), in order of replica and sequence
        self.sealed_rows = []   # what sealed records say, in order
        self.refused = []       # what refusals at positions say

    def problem(self, where, reason):
        self.problems.append(f"{where}: {reason}")

    # Records

    def apply(self, record):
        kinds = {
            KIND_ROWS: self.apply_rows,
            KIND_SEED: self.apply_seed,
            KIND_PROMOTION: self.apply_promotion,
            KIND_STATE: self.apply_state,
            KIND_SEALED: self.apply_sealed,
        }
        try:
            kinds[record.kind](record)
        except FormatError as error:
            self.problem(record.where, error)

    def apply_rows(self, record):
        block = parse_block(record.content, may_continue=True)
        if block.compression != COMPRESSION_NONE or block.is_salted:
            raise FormatError("a block in the log that is compressed or salted")
        self.take_block(record.where, block)

    def take_block(self, where, block):
        replicas = self.authority if block.is_authority else self.ordinary
        replicas.update(block.replicas)
        times = block.accepted_times()
        for index, event in enumerate(block.events):
            key = (event.replica, event.sequence)
            self.events[key] = event
            if block.is_positioned:
                self.put(key, block.first_position + index, times[index])
            try:
                self.types[key] = self.catalogue.find(*block.types[block.type_indexes[index]])
                check_subject(event, self.types[key])
            except FormatError as error:
                self.problem(where, error)

    def put(self, key, position, accepted_at):
        before = self.place.get(key)
        if before is not None and before != (position, accepted_at):
            self.problem(origin_text(*key), f"at {before} first and then at position {position}")
        self.place[key] = (position, accepted_at)
        self.positions[position] = key

    def apply_seed(self, record):
        reader = Reader(record.content)
        replica, group = reader.id(), reader.u64()
        seed = reader.raw(16)
        reader.end()
        self.seeds[replica, group] = seed

    def apply_promotion(self, record):
        reader = Reader(record.content)
        count = reader.u32()
        if reader.left != PROMOTION_SIZE * count:
            raise FormatError("the count and the size of the promotion disagree")
        for _ in range(count):
            replica, first, length, position = (reader.u64() for _ in range(4))
            accepted_at = moment(reader.i64(), "acceptance")
            if 0 in (replica, first, length, position):
                raise FormatError("a promotion with a zero")
            self.promotions.append((record.where, replica, first, length, position, accepted_at))

    def apply_sealed(self, record):
        rows = SealedRows(record.content)
        self.sealed_rows.append((record.where, rows.replica, rows.first, rows.count,
                                 rows.position, rows.accepted_at))

    def apply_state(self, record):
        self.states.append(State(record.content, record.where))

    # Segments

    def apply_segment(self, where, segment):
        """Takes the events of a segment; those that the log has too must be the same (D3)."""
        for index, event in enumerate(segment.events):
            key = (event.replica, event.sequence)
            position = segment.first_position + index
            if self.positions.get(position, key) != key:
                self.problem(where, f"another event than in the log at position {position}")
            if key in self.events and not self.is_same(self.events[key], event):
                self.problem(where, f"D3: {event.origin} is another in the log")
            self.events[key] = event
            self.types[key] = segment.types[segment.type_indexes[index]]
            self.put(key, position, segment.accepted_times[index])
            replicas = self.authority if segment.is_authority(index) else self.ordinary
            replicas.add(event.replica)
        for replica, group, level, _, value in segment.nodes:
            if level == 0 and self.seeds.get((replica, group), value) != value:
                self.problem(where, f"another seed of {id_text(replica)} than in the log")

    def apply_private(self):
        """Takes the events of private segments that sealed records speak of (D3, D4)."""
        held = {}
        for where, segment in self.private:
            for index, event in enumerate(segment.events):
                key = (event.replica, event.sequence)
                held[key] = (event, segment.types[segment.type_indexes[index]])
                if key in self.events and not self.is_same(self.events[key], event):
                    self.problem(where, f"D3: {event.origin} is another in the log")
            for replica, group, level, _, value in segment.nodes:
                if level == 0 and self.seeds.get((replica, group), value) != value:
                    self.problem(where, f"another seed of {id_text(replica)} than in the log")
        for where, replica, first, count, position, accepted_at in self.sealed_rows:
            for place in range(count):
                key = (replica, first + place)
                if key in held:
                    self.events[key], self.types[key] = held[key]
                    self.ordinary.add(replica)
                if position:
                    self.put(key, position + place, accepted_at)
        self.missing = {(replica, first + place): where
                        for where, replica, first, count, *_ in self.sealed_rows
                        for place in range(count) if (replica, first + place) not in held}

    def check_private(self):
        """D4: events of a sealed record are in a private segment, unless released."""
        for key, where in self.missing.items():
            position = self.place.get(key, (self.released + 1,))[0]
            if key not in self.events and not self.is_refused(key) and position > self.released:
                self.problem(where, f"D4: {origin_text(*key)} is in no private segment")

    def is_same(self, ours, sealed):
        same = encode_public_part(ours) == encode_public_part(sealed)
        same = same and (ours.type_name, ours.version) == (sealed.type_name, sealed.version)
        if ours.personal is None or sealed.personal is None:
            return same
        return same and ours.personal == sealed.personal

    def is_refused(self, key):
        return any(rows.holds(key) for rows in self.refused)

    @property
    def sealed_end(self):
        """The last position that is in a segment."""
        if not self.sealed:
            return 0
        segment = self.sealed[-1][1]
        return segment.first_position + segment.count - 1

    # Checks at the end

    @property
    def released(self):
        """Of states the greatest counts (F4)."""
        return max((state.released for state in self.states), default=0)

    @property
    def head(self):
        size = max((state.size for state in self.states), default=0)
        return max(max(self.positions, default=0), size)

    def pending(self):
        """Keys of events without a position, lane by lane, in order of sequence."""
        keys = sorted(key for key in self.events if key not in self.place)
        clocks = {}
        for key in keys:
            clocks.setdefault(key[0], self.events[key].clock)
        return sorted(keys, key=lambda key: (clocks[key[0]], key))

    def ordered(self):
        """Keys of all events at hand: positions, then pending ones."""
        placed = [self.positions[position] for position in sorted(self.positions)]
        return [key for key in placed if key in self.events] + self.pending()

    def check(self):
        """All checks; the compact range of the whole log, or None if leaves are missing."""
        for where, segment in self.sealed:
            self.apply_segment(where, segment)
        self.apply_private()
        self.promote()
        self.take_refused()
        self.check_promotions()
        self.check_private()
        self.check_positions()
        for replica in sorted(self.authority & self.ordinary):
            self.problem("blocks", f"{id_text(replica)} is an authority's, and is not")
        self.hash_events()
        self.decode_payloads()
        return self.check_states()

    def promote(self):
        """Gives promoted events their positions."""
        sequences = {}
        for replica, sequence in sorted(self.events):
            sequences.setdefault(replica, []).append(sequence)
        for where, replica, first, length, position, accepted_at in self.promotions:
            known = sequences.get(replica, [])
            known = known[bisect_left(known, first) : bisect_left(known, first + length)]
            for sequence in known:
                self.put((replica, sequence), position + sequence - first, accepted_at)
            if len(known) < length and position + length - 1 > self.released:
                self.problem(where, f"promotes {length} events, of which {len(known)} are here")

    def take_refused(self):
        """Takes out what the authority refused; such events never have positions."""
        for key, (position, _) in sorted(self.place.items()):
            if key not in self.events or self.events[key].type_name != REFUSAL_TYPE:
                continue
            try:
                self.refused.append(Refusal(self.events[key].payload(self.types[key])))
            except (FormatError, KeyError) as error:
                self.problem(f"the refusal at position {position}", error)
        refused = {(rows.replica, sequence) for rows in self.refused
                   for sequence in range(rows.first, rows.last + 1)}
        for key in sorted(refused & set(self.place)):
            self.problem(origin_text(*key), "refused, but it has a position")
        for key in refused & set(self.events) - set(self.place):
            self.events.pop(key)
            self.types.pop(key, None)

    def check_promotions(self):
        """F6: no promotion comes before a pending event."""
        first_pending = {}
        for replica, sequence in self.pending():
            first_pending.setdefault(replica, sequence)
        for where, replica, first, *_ in self.promotions:
            if first_pending.get(replica, first) < first:
                self.problem(where, f"F6: {origin_text(replica, first)} before a pending event")

    def check_positions(self):
        """Positions follow without gaps; B2 and B3 over all blocks."""
        if self.released > self.sealed_end:
            self.problem("positions", f"D2: released up to {self.released}, of which segments "
                                      f"hold {self.sealed_end}")
        firsts = [segment.first_position for _, segment in self.sealed[:1]]
        before = min(firsts, default=self.released + 1) - 1
        placed = sorted(position for position in self.positions if position > before)
        expected = list(range(before + 1, before + 1 + len(placed)))
        if placed != expected or self.head > before + len(placed):
            self.problem("positions", f"gaps after {before}, head {self.head}")
        last_sequence, last_time = {}, None
        for position in sorted(self.positions):
            key = self.positions[position]
            time = self.place[key][1]
            if self.place[key][0] != position:
                self.problem(f"position {position}", f"{origin_text(*key)} stands elsewhere too")
            if key[1] <= last_sequence.get(key[0], 0):
                self.problem(f"position {position}", f"B2: {origin_text(*key)}")
            if last_time is not None and time < last_time:
                self.problem(f"position {position}", f"B3: {time} after {last_time}")
            last_sequence[key[0]], last_time = key[1], time

    def hash_events(self):
        for key, event in self.events.items():
            try:
                self.complete(key, event)
                self.hashes[key] = event_hash(event)
            except FormatError as error:
                self.problem(event.origin, error)

    def complete(self, key, event):
        """Gives the event the commitment that its row has and its block has not."""
        if event.personal is None or event.commitment is not None:
            return
        seed = self.seeds.get((event.replica, salt_group(event.sequence)))
        if seed is None:
            raise FormatError("a personal part, but no seed of its group")
        event.commitment = commitment_of(salt_of(seed, event.sequence), event.personal)

    def leaf(self, position):
        key = self.positions.get(position)
        if key not in self.hashes:
            return None
        return leaf_of(self.hashes[key], self.place[key][1])

    def check_states(self):
        """Hashes again from position 1, or from the first state after which nothing is missing."""
        starts = [CompactRange()] + [CompactRange(state.size, state.nodes)
                                     for state in sorted(self.states, key=lambda s: s.size)]
        for start in starts:
            ranges = self.extend(start)
            if self.head in ranges:
                for state in self.states:
                    self.check_state(state, ranges)
                return ranges[self.head]
        return None

    def extend(self, start):
        """The compact ranges at the sizes of states and at the head, as far as leaves go."""
        sizes = {state.size for state in self.states} | {self.head}
        current = CompactRange(start.size, start.nodes)
        found = {}
        while True:
            if current.size in sizes:
                found[current.size] = CompactRange(current.size, current.nodes)
            leaf = self.leaf(current.size + 1)
            if leaf is None:
                return found
            current.append(leaf)

    def check_state(self, state, ranges):
        if state.size in ranges and ranges[state.size].nodes != state.nodes:
            self.problem(state.where, f"the compact range of {state.size} is another")
        key = self.positions.get(state.size)
        if key is not None and self.place[key][1] != state.accepted_at:
            self.problem(state.where, f"acceptedAt {state.accepted_at} at {state.size}")
        clocks = [self.events[key].clock for position, key in self.positions.items()
                  if position <= state.size and key in self.events]
        # How far a clock that ran far ahead is believed (F5) depends on which others are in one
        # block with it, and that cannot be told.
        leads = [(self.events[key].clock >> 16) - self.place[key][1]
                 for position, key in self.positions.items()
                 if position <= state.size and key in self.events and key in self.place]
        if max(leads, default=0) <= 300_000 and max(clocks, default=0) > state.highest_clock:
            self.problem(state.where, f"the highest clock is not {state.highest_clock}")
        self.check_replicas_of_state(state)
        for position, fingerprint in state.adoptions:
            self.check_adoption(state, position, fingerprint)

    def check_replicas_of_state(self, state):
        """The last sequences known lie between those of the positions and those of all events."""
        known, within = {}, {}
        for rows in self.refused:
            known[rows.replica] = max(known.get(rows.replica, 0), rows.last)
        for replica, sequence in self.events:
            known[replica] = max(known.get(replica, 0), sequence)
            if self.place.get((replica, sequence), (state.size + 1,))[0] <= state.size:
                within[replica] = max(within.get(replica, 0), sequence)
        for replica in set(within) | set(state.replicas):
            last, is_authority = state.replicas.get(replica, (0, False))
            if last < within.get(replica, 0) or self.released == 0 and last > known.get(replica, 0):
                self.problem(state.where, f"the last sequence is not {origin_text(replica, last)}")
            if replica in (self.ordinary if is_authority else self.authority):
                self.problem(state.where, f"{id_text(replica)} and the flag `authority`")

    def check_adoption(self, state, position, fingerprint):
        key = self.positions.get(position)
        if key not in self.payloads:
            if position > self.released:
                self.problem(state.where, f"no adoption is at position {position}")
            return
        is_adoption = self.events[key].type_name == ADOPTION_TYPE
        if not is_adoption or self.payloads[key]["fingerprint"] != fingerprint.hex():
            self.problem(state.where, f"position {position} adopts no {fingerprint.hex()}")

    def decode_payloads(self):
        for key, event_type in self.types.items():
            try:
                self.payloads[key] = self.events[key].payload(event_type)
            except FormatError as error:
                self.problem(origin_text(*key), error)
