import DiarioCore
import DiarioFormat
import DiarioStorage

/// Reads a segment and its sidecar whatever a manifest says of them, and as far as they verify.
///
/// Of a private segment all numbers are sequences.
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
    private let sidecarHeader: SegmentHeader?
    private var rows: SegmentRows

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
        var reader = try Self.reader(place, shared, usesSidecar: usesSidecar)
        header = reader.header
        guard LogNumber.isValid(name.first, count: UInt64(header.eventCount)) else {
            throw place.fault(.segment, "its numbers are out of all bounds")
        }
        sidecarHeader = reader.sidecarHeader
        types = reader.index.types.map(\.entry)
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
            salts = SaltNodes((try? reader.saltNodes()) ?? [])
            rows = try SegmentRows(reader)
        } catch {
            throw place.error(error)
        }
    }

    private static func reader(
        _ place: SegmentPlace,
        _ shared: LogShared,
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
            return try SegmentReader(
                SegmentOnDisk(file: segment, kind: .segment, failure: place.failure),
                sidecar: sidecar
            )
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

    /// Begins to read anew.
    private func begin() throws(LogError) {
        let reader = try Self.reader(place, shared, usesSidecar: sidecarHeader != nil)
        do throws(SegmentError) { rows = try SegmentRows(reader) } catch {
            throw place.error(error)
        }
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

    private static let pieceCount: UInt64 = 1024
    /// Into so many parts a segment is cut at most to find what can be read of it.
    private static let partCountMax: UInt64 = 128

    /// The positions whose events can be read, in order.
    func readable() -> [ClosedRange<UInt64>] {
        let count = UInt64(header.eventCount)
        var found: [ClosedRange<UInt64>] = []
        search(first...last, max(1, count / Self.partCountMax), &found)
        return found
    }

    private func search(
        _ positions: ClosedRange<UInt64>,
        _ smallest: UInt64,
        _ found: inout [ClosedRange<UInt64>]
    ) {
        let count = positions.upperBound - positions.lowerBound + 1
        if count <= Self.pieceCount, (try? events(positions)) != nil {
            if let last = found.last, last.upperBound + 1 == positions.lowerBound {
                found[found.count - 1] = last.lowerBound...positions.upperBound
            } else {
                found.append(positions)
            }
            return
        }
        guard count > smallest, count > 1 else { return }
        let middle = positions.lowerBound + count / 2
        search(positions.lowerBound...middle - 1, smallest, &found)
        search(middle...positions.upperBound, smallest, &found)
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
