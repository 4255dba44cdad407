import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioFrames
import DiarioSchema
import DiarioStorage

/// Gathers rows and writes them as segments, whose files are durable when `finish` returns.
///
/// With a replica they are private segments of its pending events. Holds the rows of one segment in
/// memory. Each segment is read back from its files and compared
/// with what went in before it is believed.
struct SegmentFiles: ~Copyable {
    private let store: LogShared
    private let space: SpaceID
    /// Who wrote the events, if they are pending.
    private let replica: ReplicaID?
    private var types: SealedTypes
    /// How columns were written best, kept from segment to segment.
    private var plan: SegmentPlan
    /// What was written so far, in order of position, or of sequence.
    private(set) var entries: [SegmentEntry] = []

    private let expected: Int
    private let extent: SealExtent
    private var builder: SegmentBuilder?
    private var first: UInt64 = 0
    private var seeds: Seeds
    private var salts: Set<SaltNode> = []
    private var typesSeen: Set<TypeEntry> = []
    private var rowCount = 0
    private var rowSize = 0
    private var digest = RowDigest()
    // Of all rows that were taken: a segment is made of no others than those the format allows.
    private var lastSequences: [ReplicaID: UInt64] = [:]
    private var lastAcceptedAt = Int64.min

    /// What was learned of columns when others were sealed is made use of.
    ///
    /// `expected` is how many rows will come, of which each segment takes what it can.
    init(
        _ store: LogShared,
        _ space: SpaceID,
        of replica: ReplicaID? = nil,
        expected: Int = 0,
        _ extent: SealExtent = .complete
    ) {
        self.expected = expected
        self.extent = extent
        self.store = store
        self.space = space
        self.replica = replica
        types = SealedTypes(store, space)
        plan = store.sealing.plan(extent)
        seeds = Seeds(store: store, space: space)
    }

    /// Takes events that follow those taken before.
    mutating func append(_ events: StoredEvents) throws(LogError) {
        seeds.segment = events.salts
        let bytes = events.bytes.span
        // Of each type once: to look it up for each row costs as much as taking the row.
        var known = [EventType?](repeating: nil, count: events.types.count)
        let marks = events.types.map(RowDigest.mark)
        for stored in events.rows {
            let index = stored.row.typeIndex
            let entry = events.types[index]
            let size = stored.size
            if isFull(for: known[index] == nil ? entry : nil, size: size) {
                try finish()
                for index in known.indices { known[index] = nil }
            }
            let type: EventType
            if let found = known[index] {
                type = found
            } else {
                type = try types.type(entry)
                known[index] = type
                typesSeen.insert(entry)
            }
            do throws(FormatError) {
                try take(stored, bytes, entry, type)
                digest.add(stored, bytes, typeMark: marks[index])
            } catch {
                throw .corrupt(
                    Fault(
                        file: events.file,
                        offset: 0,
                        what: "\(stored.row.origin.text) cannot be sealed: \(error.message)"
                    )
                )
            }
            rowCount += 1
            rowSize += size
        }
    }

    /// Whether the segment under construction cannot take a row.
    ///
    /// `entry` is its type, if it may be a new one here.
    private func isFull(for entry: TypeEntry?, size: Int) -> Bool {
        guard rowCount > 0 else { return false }
        if rowCount == SegmentLimits.eventCountMax { return true }
        if rowSize + size > store.sizes.segmentMax { return true }
        guard let entry, !typesSeen.contains(entry) else { return false }
        // One schema for each version of a type: no log of ours has two, but another's might.
        return typesSeen.count == SegmentLimits.typeCountMax
            || typesSeen.contains { $0.isSameType(as: entry) }
    }

    private mutating func take(
        _ stored: StoredRow,
        _ bytes: Span<UInt8>,
        _ entry: TypeEntry,
        _ type: EventType
    ) throws(FormatError) {
        let row = stored.row
        let last = lastSequences.updateValue(row.sequence, forKey: row.replica) ?? 0
        guard row.sequence > last else { throw .malformed(.sequence, at: 0) }
        if let replica {
            guard row.replica == replica, last == 0 || row.sequence == last + 1 else {
                throw .malformed(.sequence, at: 0)
            }
            begin(row.sequence, isPositioned: false)
        } else {
            guard let position = stored.position, let acceptedAt = stored.acceptedAt,
                acceptedAt.milliseconds >= lastAcceptedAt
            else { throw .malformed(.acceptedTimes, at: 0) }
            lastAcceptedAt = acceptedAt.milliseconds
            begin(position, isPositioned: true)
        }
        try builder?.append(
            SegmentEvent(row, isAuthority: stored.isAuthority, acceptedAt: stored.acceptedAt),
            of: bytes,
            type: type
        )
        if stored.isAuthority {
            for refusal in try store.engine.facts(of: stored, in: bytes, entry).refusals {
                builder?.refuse(refusal.replica, refusal.sequences)
            }
        }
        if case .present(let range) = row.personal {
            guard let node = seeds.node(of: row) else {
                throw .malformed(.saltNode, at: range.lowerBound)
            }
            if salts.insert(node).inserted { builder?.append(node) }
        }
    }

    /// Begins a segment with this position or sequence, unless one is begun.
    private mutating func begin(_ number: UInt64, isPositioned: Bool) {
        guard builder == nil else { return }
        builder = SegmentBuilder(
            firstPosition: isPositioned ? number : nil,
            expected: expected
        )
        first = number
    }

    /// Writes what was gathered, if there is something.
    mutating func finish() throws(LogError) {
        guard let builder = builder.take() else { return }
        let count = builder.eventCount
        let sealed: SealedSegment
        do throws(FormatError) { sealed = try builder.finish(&plan) } catch {
            if case .compression = error { throw .format(error) }
            throw .corrupt(
                Fault(
                    file: LogPaths.segments(space),
                    offset: 0,
                    what: "\(count) events from \(first) on cannot be sealed: \(error.message)"
                )
            )
        }
        let name = SegmentName(first: first, number: store.entropy.next())
        let (space, directory) = (space, store.directory)
        try storing { () throws(StorageError) in
            // The space lasts: the manifest was changed, or looked at, before (`writableHome`).
            try Files.makeDirectoryDurably(
                LogPaths.segments(space),
                below: LogPaths.space(space),
                in: directory
            )
            try Self.write(sealed.segment, to: LogPaths.segment(name, of: space), in: directory)
            try Self.write(sealed.sidecar, to: LogPaths.sidecar(name, of: space), in: directory)
            try directory.syncDirectory(LogPaths.segments(space))
        }
        var entry = SegmentEntry(
            name: name,
            count: count,
            segmentSize: sealed.segment.count,
            sidecarSize: sealed.sidecar.count,
            rowSize: rowSize,
            identity: SegmentIdentity(first: 0, second: 0),
            sidecarChecksum: 0,
            replica: replica
        )
        try readBack(&entry)
        entries.append(entry)
        salts.removeAll()
        typesSeen.removeAll()
        rowCount = 0
        rowSize = 0
        digest = RowDigest()
        store.sealing.keep(plan, extent)
    }

    private static func write(
        _ bytes: [UInt8],
        to path: String,
        in directory: any LogDirectory
    ) throws(StorageError) {
        let file = try directory.open(path, .createNew)
        try file.write(bytes.span, at: 0)
        try file.sync()
    }

    /// Reads the files as any reader does, and takes their marks.
    private func readBack(_ entry: inout SegmentEntry) throws(LogError) {
        let place = SegmentPlace(entry, of: space)
        var found = RowDigest()
        let (segment, sidecar) = try storing { () throws(StorageError) in
            (
                try store.directory.open(place.path(.segment), .read),
                try store.directory.open(place.path(.sidecar), .read)
            )
        }
        do throws(SegmentError) {
            var reader = try SegmentReader(
                SegmentOnDisk(file: segment, kind: .segment, failure: place.failure),
                sidecar: SegmentOnDisk(file: sidecar, kind: .sidecar, failure: place.failure),
                known: types.known
            )
            entry.identity = reader.header.identity
            entry.sidecarChecksum = reader.sidecarHeader?.checksum ?? 0
            let entries = reader.index.types.map { $0.entry }
            // To make the types of them anew would cost more than all else.
            for (index, entry) in entries.enumerated() {
                guard try reader.schema(index) == types.known[entry]?.canonicalSchema else {
                    throw SegmentError.unknownType(entry)
                }
            }
            let marks = entries.map(RowDigest.mark)
            var rows = try SegmentRows(reader)
            while let row = try rows.next() {
                found.add(StoredRow(row), rows.bytes.span, typeMark: marks[row.typeIndex])
            }
        } catch {
            throw place.error(error)
        }
        guard found == digest else {
            throw place.fault(.segment, "its rows are not those that were sealed")
        }
    }
}

extension StoredRow {
    /// Bytes of both parts.
    var size: Int {
        switch row.personal {
        case .absent: row.publicPart.count
        case .erased(let range), .present(let range): row.publicPart.count + range.count
        }
    }
}

/// A checksum over rows and all that is known beside them, whatever they came from.
private struct RowDigest: Equatable {
    private var checksum: UInt32 = 0
    private var count = 0
    /// Of one row: written over for each, since gathering them would take longer than the checksum.
    private var marks = [UInt64](repeating: 0, count: 5)

    static func == (left: RowDigest, right: RowDigest) -> Bool {
        (left.checksum, left.count) == (right.checksum, right.count)
    }

    /// What stands for a type in the digest.
    static func mark(of type: TypeEntry) -> UInt32 {
        var bytes = type.name
        bytes.append(littleEndian: UInt32(type.version))
        bytes.append(type.fingerprint)
        return Checksum.crc32c(bytes.span.raw)
    }

    mutating func add(_ stored: StoredRow, _ bytes: Span<UInt8>, typeMark: UInt32) {
        let row = stored.row
        let (kind, personal): (UInt64, Range<Int>?) =
            switch row.personal {
            case .absent: (0, nil)
            case .erased(let range): (1, range)
            case .present(let range): (2, range)
            }
        marks[0] = row.replica.rawValue
        marks[1] = row.sequence
        marks[2] = stored.position ?? 0
        marks[3] = UInt64(bitPattern: stored.acceptedAt?.milliseconds ?? 0)
        marks[4] = UInt64(typeMark) << 32 | kind << 1 | (stored.isAuthority ? 1 : 0)
        // Safe: a number has no padding, so each of its bytes is initialized.
        checksum = unsafe Checksum.crc32c(marks.span.bytes, continuing: checksum)
        checksum = Checksum.crc32c(bytes.raw.extracting(row.publicPart), continuing: checksum)
        if let personal {
            checksum = Checksum.crc32c(bytes.raw.extracting(personal), continuing: checksum)
        }
        count += 1
    }
}
