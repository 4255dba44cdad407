import DiarioCore
import DiarioFormat
import DiarioSchema
import DiarioStorage

/// Reads a segment and its sidecar whatever a manifest says of them, and as far as they verify.
///
/// Of a private segment all numbers are sequences. Events whose payloads cannot be read, or were
/// lost before, come as rows of `LostRow`.
final class PairReader {
    let name: SegmentName
    let header: SegmentHeader
    /// Who wrote the events, if the segment is a private one; then numbers are sequences.
    let replica: ReplicaID?
    /// The lowest and the highest clock.
    let (firstClock, lastClock): (HybridTime, HybridTime)
    private let place: SegmentPlace
    private let shared: LogShared
    private let types: [TypeEntry]
    private let salts: SaltNodes
    /// The seeds of groups that the sidecar has.
    let seeds: [SaltSeed]
    private let sidecarHeader: SegmentHeader?
    private let known: [TypeEntry: EventType]
    private var rows: SegmentRows
    /// Events whose payloads cannot be read, as far as somebody asked.
    private var hollow = HollowRows()
    private var runs: [ClosedRange<UInt64>]?
    /// Gives envelopes alone.
    private var envelopes: PairReader?

    var first: UInt64 { name.first }
    var last: UInt64 { name.first + UInt64(header.eventCount) - 1 }

    /// Nil if it does not open; without the sidecar if that does not.
    static func open(_ name: SegmentName, of space: SpaceID, in shared: LogShared) -> PairReader? {
        for usesSidecar in [true, false] {
            if let reader = try? PairReader(name, space, shared, usesSidecar: usesSidecar),
                reader.replica != nil || reader.header.firstPosition == name.first
            {
                return reader
            }
        }
        return nil
    }

    private init(
        _ name: SegmentName,
        _ space: SpaceID,
        _ shared: LogShared,
        usesSidecar: Bool
    ) throws(LogError) {
        self.name = name
        self.shared = shared
        place = SegmentPlace(name, of: space)
        known = try Self.knownTypes(of: place, shared)
        var reader = try Self.reader(place, shared, known, usesSidecar: usesSidecar)
        header = reader.header
        guard LogNumber.isValid(name.first, count: UInt64(header.eventCount)) else {
            throw place.fault(.segment, "its numbers are out of all bounds")
        }
        sidecarHeader = reader.sidecarHeader
        types = reader.index.types.map(\.entry) + [LostRow.entry]
        firstClock = HybridTime(rawValue: reader.index.clocks.lowerBound)
        lastClock = HybridTime(rawValue: reader.index.clocks.upperBound)
        let run = SegmentRun(
            first: name.first,
            last: name.first + UInt64(reader.header.eventCount) - 1,
            isRefused: false
        )
        let writer = reader.index.replicas.first
        replica = reader.header.isPositioned || writer?.runs != [run] ? nil : writer?.replica
        do throws(SegmentError) {
            // Those that are gone may be in the write-ahead log.
            let nodes = (try? reader.saltNodes()) ?? []
            salts = SaltNodes(nodes)
            seeds = nodes.filter { $0.level == 0 }.map {
                SaltSeed(replica: $0.replica, group: $0.group, root: $0.value)
            }
            rows = try SegmentRows(reader)
        } catch {
            throw place.error(error)
        }
    }

    /// Types of the segment that others know: its own schemas may be damaged.
    private static func knownTypes(
        of place: SegmentPlace,
        _ shared: LogShared
    ) throws(LogError) -> [TypeEntry: EventType] {
        let index = try reader(place, shared, [:], usesSidecar: false).index
        var types = SealedTypes(shared, place.space)
        var known: [TypeEntry: EventType] = [:]
        for type in index.types {
            if let found = try? types.type(type.entry) { known[type.entry] = found }
        }
        return known
    }

    private static func reader(
        _ place: SegmentPlace,
        _ shared: LogShared,
        _ known: [TypeEntry: EventType],
        usesSidecar: Bool
    ) throws(LogError) -> SegmentReader {
        let directory = shared.directory
        let segment = try storing { () throws(StorageError) in
            try directory.open(place.path(.segment), .read)
        }
        var sidecar: SegmentOnDisk?
        if usesSidecar {
            let file = try storing { () throws(StorageError) in
                try directory.open(place.path(.sidecar), .read)
            }
            sidecar = SegmentOnDisk(file: file, kind: .sidecar, failure: place.failure)
        }
        do throws(SegmentError) {
            var reader = try SegmentReader(
                SegmentOnDisk(file: segment, kind: .segment, failure: place.failure),
                sidecar: sidecar,
                known: known
            )
            reader.forgoDamagedSchemas()
            return reader
        } catch {
            throw place.error(error)
        }
    }

    /// The events at positions of the segment.
    func events(_ positions: ClosedRange<UInt64>) throws(LogError) -> StoredEvents {
        let start = Int(positions.lowerBound - first)
        let end = Int(positions.upperBound - first) + 1
        do throws(SegmentError) {
            let found = try rows.rows(in: start..<end)
            return StoredEvents(
                bytes: rows.bytes,
                types: types,
                rows: found.map(StoredRow.init),
                fileName: .segment(place.entry.name, place.space),
                salts: salts
            )
        } catch {
            // What was read until then may be in a state of its own.
            try begin()
            throw place.error(error)
        }
    }

    /// Gives all events at positions of the segment as events that were lost.
    func readEnvelopes(
        _ positions: ClosedRange<UInt64>,
        _ visit: (StoredEvents) throws(LogError) -> Void
    ) throws(LogError) {
        if envelopes == nil {
            let other = try PairReader(name, place.space, shared, usesSidecar: false)
            for type in types.indices.dropLast() {
                other.hollow.insert(type: type, isPersonal: false)
            }
            try other.begin()
            envelopes = other
        }
        try envelopes?.read(positions, visit)
    }

    /// Begins to read anew.
    private func begin() throws(LogError) {
        let reader = try anew()
        do throws(SegmentError) {
            rows = try SegmentRows(reader)
            rows.hollow(hollow)
        } catch {
            throw place.error(error)
        }
    }

    private func anew() throws(LogError) -> SegmentReader {
        try Self.reader(place, shared, known, usesSidecar: sidecarHeader != nil)
    }

    /// Gives all events at positions of the segment, piece by piece.
    func read(
        _ positions: ClosedRange<UInt64>,
        _ visit: (StoredEvents) throws(LogError) -> Void
    ) throws(LogError) {
        var next = positions.lowerBound
        while next <= positions.upperBound {
            let end = min(positions.upperBound, next + Self.pieceCount - 1)
            try visit(try events(next...end))
            next = end + 1
        }
    }

    /// Whether events of it were lost before.
    var holdsLost: Bool { types.dropLast().contains(LostRow.entry) }

    private static let pieceCount: UInt64 = 1024

    /// The positions whose events can be read, in order.
    ///
    /// From then on the others come as events that were lost.
    func readable() throws(LogError) -> [ClosedRange<UInt64>] {
        if let runs { return runs }
        hollow = try unreadable()
        try begin()
        var found = NumberRanges()
        do throws(LogError) {
            try read(first...last) { events in
                for stored in events.rows where !events.isLost(stored) {
                    let number = stored.position ?? stored.row.sequence
                    found.insert(number...number)
                }
            }
        } catch {
            // Its blocks contradict each other, whatever their checksums say.
            guard case .corrupt = error else { throw error }
            found = NumberRanges()
        }
        runs = found.ranges
        return found.ranges
    }

    /// The rows whose blocks of fields do not verify, or lack something that they need.
    private func unreadable() throws(LogError) -> HollowRows {
        var hollow = HollowRows()
        var reader = try anew()
        for type in types.indices.dropLast() {
            if !reader.canRead(type: type, isPersonal: false) {
                hollow.insert(type: type, isPersonal: false)
                reader = try anew()
            } else if !reader.canRead(type: type, isPersonal: true) {
                hollow.insert(type: type, isPersonal: true)
                reader = try anew()
            }
        }
        return hollow
    }

    /// The first block that does not verify, whether events need it or not.
    func damage() throws(LogError) -> LogError? {
        var reader = try anew()
        do throws(SegmentError) {
            return try reader.damagedBlocks().first.map { place.error(.fault($0)) }
        } catch {
            throw place.error(error)
        }
    }

    /// What a manifest says of the pair; nil if a part of it cannot be read.
    func entry() -> SegmentEntry? {
        guard let sidecarHeader else { return nil }
        var rowSize = 0
        do throws(LogError) {
            try read(first...last) { events in
                for stored in events.rows { rowSize += stored.size }
            }
        } catch {
            return nil
        }
        return SegmentEntry(
            name: name,
            count: header.eventCount,
            segmentSize: header.fileSize,
            sidecarSize: sidecarHeader.fileSize,
            rowSize: rowSize,
            identity: header.identity,
            sidecarChecksum: sidecarHeader.checksum,
            replica: replica
        )
    }
}

extension StoredEvents {
    /// Whether a row stands for an event that was lost.
    func isLost(_ stored: StoredRow) -> Bool { types[stored.row.typeIndex] == LostRow.entry }
}
