import DiarioCore
import DiarioFormat
import DiarioSchema
import DiarioStorage

// What segments still say, whatever a manifest says of them: schema/format/salvage.md, section 3.

/// How much of a segment and its sidecar can be read.
struct SegmentPiece {
    let name: SegmentName
    /// Whose events they are, if the segment is a private one; then numbers are sequences.
    let replica: ReplicaID?
    let numbers: ClosedRange<UInt64>
    let usesSidecar: Bool
    /// The rows whose blocks verify; nil if every byte of both files does.
    let parts: [ReadableRows]?

    var isWhole: Bool { parts == nil }
}

/// Reads pieces of segments, and holds one of them open at a time.
struct SegmentPieceReader {
    private let directory: any LogDirectory
    private let space: SpaceID
    private let known: [TypeEntry: EventType]
    private var pair: SegmentPair?
    /// The segments that are still to be looked at, the next one last.
    private var rest: [SegmentName]
    /// What can be read of the others.
    private(set) var pieces: [SegmentPiece] = []
    private(set) var faults: [Fault] = []

    init(
        _ directory: any LogDirectory,
        _ space: SpaceID,
        _ known: [TypeEntry: EventType]
    ) throws(LogError) {
        self.directory = directory
        self.space = space
        self.known = known
        rest = try SalvagedFiles.names(in: LogPaths.segments(space), of: directory)
            .compactMap { LogPaths.segmentName($0) }.reversed()
    }

    /// Some events of a piece, and whether their personal parts are withheld.
    struct Found {
        let events: StoredEvents
        let isWithheld: Bool
    }

    /// The events of a piece with these numbers, as far as they can be read.
    mutating func events(
        _ piece: SegmentPiece,
        _ numbers: ClosedRange<UInt64>
    ) throws(LogError) -> [Found] {
        let wanted = numbers.clamped(to: piece.numbers)
        let first = piece.numbers.lowerBound
        let events = Int(wanted.lowerBound - first)..<Int(wanted.upperBound - first) + 1
        var found: [Found] = []
        guard let parts = piece.parts else {
            if let events = try read(piece, events, nil) {
                found.append(Found(events: events, isWithheld: false))
            }
            return found
        }
        for part in parts where part.events.overlaps(events) {
            if let read = try read(piece, part.events.clamped(to: events), part) {
                found.append(Found(events: read, isWithheld: !part.hasPersonal))
            }
        }
        return found
    }

    private mutating func read(
        _ piece: SegmentPiece,
        _ events: Range<Int>,
        _ part: ReadableRows?
    ) throws(LogError) -> StoredEvents? {
        do throws(LogError) {
            if pair?.name != piece.name { pair = nil }
            if pair == nil { pair = try open(piece.name, usesSidecar: piece.usesSidecar) }
            return try pair?.events(events, of: part)
        } catch {
            // Its state may be that of a row that was broken off.
            pair = nil
            try note(error)
            return nil
        }
    }

    private func open(
        _ name: SegmentName,
        usesSidecar: Bool
    ) throws(LogError) -> SegmentPair {
        try SegmentPair(name, of: space, in: directory, known: known, usesSidecar: usesSidecar)
    }

    /// A fault of a file is noted; what goes on.
    private mutating func note(_ error: LogError) throws(LogError) {
        switch error {
        case .corrupt(let fault):
            if !faults.contains(fault) { faults.append(fault) }
        case .storage(.notFound(let path)), .storage(.notFile(let path)):
            let fault = Fault(file: path, offset: 0, what: "the file is missing")
            if !faults.contains(fault) { faults.append(fault) }
        default: throw error
        }
    }

    // MARK: Looking at all

    /// Looks at the next segment in the folder of the space; gives its size, or nil once all were
    /// looked at.
    mutating func step() throws(LogError) -> Int? {
        guard let name = rest.popLast() else {
            // Whole ones come first.
            pieces = pieces.filter { $0.isWhole } + pieces.filter { !$0.isWhole }
            return nil
        }
        guard let (piece, size) = try piece(name) else { return 0 }
        pieces.append(piece)
        return size
    }

    private mutating func piece(_ name: SegmentName) throws(LogError) -> (SegmentPiece, Int)? {
        for usesSidecar in [true, false] {
            do throws(LogError) {
                let pair = try open(name, usesSidecar: usesSidecar)
                var damaged = try pair.damage()
                for (file, size) in pair.sizes {
                    let path = pair.place.path(file)
                    let rest = try storing { () throws(StorageError) in
                        try directory.open(path, .read).size() - Int64(size)
                    }
                    if rest > 0 {
                        damaged.append(pair.place.fault(file, at: size, "bytes follow its end"))
                    }
                }
                for fault in damaged { try note(fault) }
                let isWhole = usesSidecar && damaged.isEmpty
                let piece = SegmentPiece(
                    name: name,
                    replica: pair.replica,
                    numbers: pair.first...pair.last,
                    usesSidecar: usesSidecar,
                    parts: isWhole ? nil : try parts(name, usesSidecar: usesSidecar)
                )
                return (piece, pair.sizes.reduce(0) { $0 + $1.size })
            } catch {
                try note(error)
            }
        }
        return nil
    }

    /// The rows of each type whose blocks verify.
    private func parts(
        _ name: SegmentName,
        usesSidecar: Bool
    ) throws(LogError) -> [ReadableRows] {
        var found: [ReadableRows] = []
        var pair = try open(name, usesSidecar: usesSidecar)
        for (type, block) in pair.fieldBlocks {
            var best: ReadableRows?
            for withPersonal in [false, true] {
                guard let rows = pair.readable(type, block, withPersonal: withPersonal) else {
                    // After a fault the reader is of no use any more.
                    pair = try open(name, usesSidecar: usesSidecar)
                    break
                }
                best = rows
            }
            guard let best else { continue }
            if let last = found.last, last.type == type, last.hasPersonal == best.hasPersonal {
                found[found.count - 1].events = last.events.lowerBound..<best.events.upperBound
            } else {
                found.append(best)
            }
        }
        return found
    }
}
