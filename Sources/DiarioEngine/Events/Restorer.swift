import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSchema

/// Fills an empty space with events that keep their origins, positions and times.
struct Restorer {
    private var space: Space
    /// The packs of the space, if the lines do not name them.
    private let packs: [Pack]
    private var reader: EventLineReader
    private var line = EventLine()
    /// Rows that are ready to be appended.
    private var rows: [PreservedRows] = []
    private var size = 0
    private var block = Block()
    private var batch = Batch()
    /// One or two; looking through them is quicker than hashing.
    private var authorities: [ReplicaID] = []
    /// The last event of the replica of the row before, and those of the others: mostly a replica
    /// wrote several events in a row, and its last one need not be looked up for each.
    private var last: (replica: ReplicaID, event: LastEvent)?
    private var lastEvents: [ReplicaID: LastEvent] = [:]
    private var position: UInt64 = 0
    private var acceptedAt: Timestamp?
    private var hasPending = false
    private var count = 0

    private struct LastEvent {
        var sequence: UInt64 = 0
        var clock = HybridTime(rawValue: 0)
    }

    /// Rows of authorities, or of others, that follow each other.
    private struct Block {
        var draft = DraftBatch(isContainer: true)
        var envelopes: [RowEnvelope] = []
        var acceptedAt: [Timestamp?] = []
        var isAuthority = false
    }

    /// Lines with the same `batch`, which may go on.
    private struct Batch {
        var name: [UInt8]?
        /// Its beginning, for messages; nil before the first one.
        var beginning: InputPlace?
        /// The offset of its rows in the block.
        var start = 0
        var startSize = 0
    }

    /// Several blocks make a frame; so much of them at the most.
    private static let appendSizeMax = Limits.frameSizeMax / 4
    /// An upper bound of the bytes of a row's origin and times in a frame.
    private static let envelopeSizeMax = 64

    init(_ space: Space, _ catalog: TypeCatalog, packs: [Pack]) {
        self.space = space
        self.packs = packs
        reader = EventLineReader(catalog: catalog, options: [.exportKeys])
    }

    /// Reads all lines; how many events they were.
    mutating func restore(
        _ lines: inout EventInput,
        _ total: Int,
        _ progress: (Int, Int) -> Void
    ) throws(DiarioError) -> Int {
        while try lines.next({ (text, place) throws(DiarioError) in
            guard !text.isBlank else { return }
            try take(text, place)
        }) {
            if size >= Self.appendSizeMax {
                try append()
                progress(lines.offset, total)
            }
        }
        endBatch()
        endBlock()
        try append()
        return count
    }

    private mutating func take(_ text: Span<UInt8>, _ place: InputPlace) throws(DiarioError) {
        do throws(SchemaError) { try reader.read(text, into: &line) } catch {
            throw DiarioError(error, at: place)
        }
        guard let origin = line.origin else {
            throw DiarioError.refused(
                place,
                "there is no origin. Record lines without one with `diario record -`."
            )
        }
        if line.type.pack == "engine" {
            if !authorities.contains(origin.replica) { authorities.append(origin.replica) }
            try checkAdoption(place)
        } else if line.position == nil {
            // Those with positions were accepted with their times.
            try EventTime.check(line.at, now: space.now, at: place)
        }
        if count == 0 { try begin(place) }
        try checkPlace(place)
        try beginRow(origin, place)
        do throws(FormatError) {
            try block.draft.append(line, origin: origin)
        } catch {
            throw DiarioError(error, at: place)
        }
        position += 1
        count += 1
        let clock = try clock(of: origin, place)
        block.envelopes.append(
            RowEnvelope(
                replica: origin.replica,
                sequence: origin.sequence,
                batchFirst: origin.sequence,
                batchCount: 1,
                clock: clock,
                at: line.at ?? Timestamp(milliseconds: clock.milliseconds),
                base: line.base ?? position - 1
            )
        )
        block.acceptedAt.append(line.acceptedAt)
        try continueBatch(origin, place)
    }

    /// Before the first event: lines that do not begin with the adoption of packs, such as those of
    /// a workload, are events of the packs that this space was made with.
    private mutating func begin(_ place: InputPlace) throws(DiarioError) {
        if let given = line.position, given != 1 {
            throw DiarioError.refused(
                place,
                "position \(given) is not the first one, 1: these lines are a part of an export. "
                    + "Import all of it."
            )
        }
        guard line.type.pack != "engine" else { return }
        _ = try space.adopt(packs) { _, _ in }
        position = space.head
    }

    /// A pack that a line says was adopted must be here: its bytes are not in the lines.
    private func checkAdoption(_ place: InputPlace) throws(DiarioError) {
        guard line.type.name == EngineReader.adoptionName,
            let index = line.type.fields.firstIndex(where: { $0.name == "fingerprint" }),
            let bytes = line.payload.bytes(at: index)
        else { return }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let fingerprint = Hash32(text: text),
            (try? Space.adoptedPack(fingerprint, in: space.store)) != nil
        else {
            throw DiarioError.refused(
                place,
                "the pack\(packName) with fingerprint \(text) is not here. Let the space use it "
                    + "before the import, and each edition that the lines name: diario schema "
                    + "adopt --pack NAME, or diario schema adopt DIR with its folder."
            )
        }
    }

    /// The name of the pack in the line, with a blank before it.
    private var packName: String {
        let fields = line.type.fields
        guard let name = fields.firstIndex(where: { $0.name == "pack" }),
            let version = fields.firstIndex(where: { $0.name == "version" }),
            let bytes = line.payload.bytes(at: name),
            case .integer(let number) = line.payload.slots[version]
        else { return "" }
        return " \(String(decoding: bytes, as: UTF8.self)) \(number)"
    }

    /// Positions have no gaps, and events without one come last; times never go back.
    private mutating func checkPlace(_ place: InputPlace) throws(DiarioError) {
        if let given = line.position {
            let next = position + 1
            guard given == next, !hasPending else {
                throw DiarioError.refused(
                    place,
                    "position \(given) is not the next one, \(next). "
                        + "Import the lines of one export in their order."
                )
            }
        } else {
            hasPending = true
        }
        if let time = line.acceptedAt {
            guard time >= acceptedAt ?? time else {
                throw DiarioError.refused(place, "acceptedAt is earlier than in the line before.")
            }
            acceptedAt = time
        }
    }

    /// Makes room in the block for the row, which may go on with the batch of the row before.
    private mutating func beginRow(_ origin: Origin, _ place: InputPlace) throws(DiarioError) {
        if !continuesBatch {
            endBatch()
            let isAuthority = authorities.contains(origin.replica)
            let isFull =
                block.envelopes.count >= Limits.batchCountMax
                || block.draft.size >= Limits.batchSizeMax / 2
            if isFull || isAuthority != block.isAuthority {
                endBlock()
                block.isAuthority = isAuthority
            }
            batch = Batch(
                name: line.batch.map { Array(line.arena[$0]) },
                beginning: place,
                start: block.envelopes.count,
                startSize: block.draft.size
            )
        } else if block.envelopes.count - batch.start == Limits.batchCountMax
            || block.draft.size - batch.startSize > Limits.batchSizeMax
        {
            throw DiarioError(
                .tooLarge,
                "\(place.text): the batch that begins in "
                    + "\(batch.beginning?.beginning ?? "it") is too large: "
                    + "at most \(Limits.batchCountMax) events and \(Limits.batchSizeMax) bytes.",
                line: place.line
            )
        }
    }

    /// True if the line has the batch of the line before.
    private var continuesBatch: Bool {
        guard let name = batch.name, let range = line.batch else { return false }
        return line.arena[range].elementsEqual(name)
    }

    private mutating func continueBatch(_ origin: Origin, _ place: InputPlace) throws(DiarioError) {
        let first = block.envelopes[batch.start]
        let index = block.envelopes.count - 1 - batch.start
        guard
            index == 0
                || origin.replica == first.replica
                    && origin.sequence == first.sequence &+ UInt64(index)
        else {
            throw DiarioError.refused(
                place,
                "a batch has events of one replica with sequences in a row, and "
                    + "\(origin.text) does not follow."
            )
        }
    }

    private mutating func clock(
        of origin: Origin,
        _ place: InputPlace
    ) throws(DiarioError) -> HybridTime {
        var before = LastEvent()
        if let last, last.replica == origin.replica {
            before = last.event
        } else {
            if let last { lastEvents[last.replica] = last.event }
            before = lastEvents[origin.replica] ?? before
        }
        guard origin.sequence > before.sequence else {
            throw DiarioError.refused(
                place,
                "\(origin.text) comes after sequence \(before.sequence) of its replica, and those "
                    + "of a replica increase. Import the lines of one export in their order, each "
                    + "once."
            )
        }
        guard origin.sequence <= LogNumber.max else {
            throw DiarioError.refused(place, "the sequence of \(origin.text) is out of all bounds.")
        }
        let at = line.at ?? Timestamp(milliseconds: before.clock.milliseconds)
        let clock = line.clock ?? before.clock.next(at: at)
        guard clock > before.clock else {
            throw DiarioError.refused(
                place,
                "the clock of \(origin.text) is not later than that of the event of its replica "
                    + "before."
            )
        }
        guard clock <= HybridTime.highest else {
            throw DiarioError.refused(
                place,
                "the clock of \(origin.text) is out of all bounds: the year 4199 is the last one."
            )
        }
        last = (origin.replica, LastEvent(sequence: origin.sequence, clock: clock))
        return clock
    }

    /// The batch is complete: each of its rows now learns how many there are.
    private mutating func endBatch() {
        let count = block.envelopes.count - batch.start
        if count > 1 {
            let first = block.envelopes[batch.start].sequence
            for index in batch.start..<block.envelopes.count {
                block.envelopes[index].batchFirst = first
                block.envelopes[index].batchCount = count
            }
        }
        batch = Batch(name: nil, start: block.envelopes.count)
    }

    private mutating func endBlock() {
        guard !block.envelopes.isEmpty else { return }
        rows.append(
            PreservedRows(
                batch: block.draft,
                envelopes: block.envelopes,
                acceptedAt: block.acceptedAt,
                isAuthority: block.isAuthority
            )
        )
        size += block.draft.sizeInBlockMax + block.envelopes.count * Self.envelopeSizeMax
        block.draft.removeAll()
        block.envelopes.removeAll(keepingCapacity: true)
        block.acceptedAt.removeAll(keepingCapacity: true)
        batch.start = 0
        batch.startSize = 0
    }

    private mutating func append() throws(DiarioError) {
        guard !rows.isEmpty else { return }
        let append = Append(space: space.id, content: .preserved(rows))
        rows.removeAll(keepingCapacity: true)
        size = 0
        do { _ = try space.store.append(append) } catch { throw DiarioError(error) }
    }
}
