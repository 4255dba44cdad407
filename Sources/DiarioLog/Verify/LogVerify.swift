package import DiarioCore
package import DiarioCrypto
package import DiarioFormat
import DiarioFrames
import DiarioStorage
import Synchronization

/// What reading a space from its first to its last event showed.
package struct Verification: Sendable {
    /// Canonical and pending events that were read, those of an authority included.
    package var rowCount = 0
    /// The root of all positions; nil if a fault leaves it unknown.
    package var root: Hash32?
    package var faults: [Fault] = []
}

/// What `verify` has read and checked.
package enum VerifiedEvents {
    /// Rows as they are in the log; their payloads were not looked at.
    case rows(StoredEvents)
    /// So many events of a segment whose types are these; their payloads were checked when their
    /// columns were read.
    case sealed(types: [TypeEntry], count: Int)

    package var count: Int {
        switch self {
        case .rows(let events): events.rows.count
        case .sealed(_, let count): count
        }
    }
}

/// Reads every event of a space, checks it against the rules of the format, and recomputes the
/// root, a piece in each step; goes on after a fault where it can.
///
/// Changes nothing. Sees the events up to the head that the space had when it began.
package struct LogVerify: ~Copyable {
    private let store: LogStore
    private let space: SpaceID
    /// What was found so far; it has the root once all was read.
    package private(set) var result = Verification()
    private var check: SpaceCheck
    private let positions: ClosedRange<UInt64>
    private let head: UInt64
    private let released: UInt64
    /// Private segments whose rows are not read, because a block of theirs is damaged.
    private var damagedLanes: [SegmentEntry] = []
    /// What is still to be read, the next one last.
    private var parts: [Part] = [.files, .end, .pending, .canonical]
    // Of the part at hand:
    private var blocks: CheckedBlocks?
    private var sealed: SealedEvents?
    private var cursor: LogCursor?
    /// Whether the segment at hand was opened: then it can be read to its end.
    private var isOpen = false

    private enum Part {
        /// The blocks of a private segment.
        case lane(SegmentEntry)
        /// All that has a position: becomes the parts below.
        case canonical
        /// Events at these positions.
        case rows(ClosedRange<UInt64>)
        /// A segment, and the last of its positions that was released: what follows is in the log
        /// as well, and read there.
        case sealed(SegmentEntry, last: UInt64)
        /// Events that were promoted and lie in a damaged private segment.
        case damaged(ClosedRange<UInt64>)
        case pending
        /// The tiles and the root.
        case end
        /// What lies beside the log; the root does not depend on it.
        case files
    }

    /// A segment whose blocks are being read.
    private struct CheckedBlocks: ~Copyable {
        var segment: OpenSegment
        var check = SegmentCheck()
    }

    /// A segment whose blocks verify, and whose events are being read.
    private struct SealedEvents: ~Copyable {
        let place: SegmentPlace
        let types: [TypeEntry]
        let salts: SaltNodes
        var rows: SegmentRows
        let count: Int
        var next = 0
        /// False once the visitor found a fault.
        var isKnown = true
    }

    /// Events of a segment that are made rows at once.
    private static let pieceCount = 1024

    package init(_ store: LogStore, _ space: SpaceID) throws(LogError) {
        let shared = store.shared
        var faults: [Fault] = []
        if let fault = store.fault { faults.append(fault) }
        if let fault = try store[space].missingTail() { faults.append(fault) }
        if let fault = try TileStore.markFault(shared.directory, space: space) {
            faults.append(fault)
        }
        let (released, head) = shared.index.withLock { ($0[space].released, $0[space].head) }
        let first = try shared.firstReadable(space, released: released)
        let lanes = try store[space].laneSegments()
        check = try SpaceCheck(shared, space, released: first - 1)
        self.store = store
        self.space = space
        self.head = head
        self.released = released
        positions = first...max(first, head)
        result.faults = faults
        parts += lanes.reversed().map { .lane($0) }
    }

    /// Goes on by about so many bytes; false once all was read.
    ///
    /// `visit` sees each piece after it was checked, and may return a fault of its own.
    package mutating func step(
        _ budget: Int,
        _ visit: (VerifiedEvents) -> String?
    ) throws(LogError) -> Bool {
        try spend(budget) { () throws(LogError) in
            guard let part = parts.last else { return nil }
            return try read(part, visit)
        }
    }

    /// Reads the next piece of a part; gives its size.
    private mutating func read(
        _ part: Part,
        _ visit: (VerifiedEvents) -> String?
    ) throws(LogError) -> Int {
        do throws(LogError) {
            switch part {
            case .lane(let entry):
                if try isReplaced(entry) { break }
                switch try readBlock(of: entry) {
                case .read(let size): return size
                case .whole: break
                case .damaged: damagedLanes.append(entry)
                }
            case .canonical:
                parts.removeLast()
                parts += try canonicalParts().reversed()
                return 0
            case .rows(let positions):
                if cursor == nil {
                    cursor = try store.cursor(space, positions: positions, .canonical)
                }
                if let size = try readRows(visit) { return size }
            case .sealed(let entry, let last):
                if try isReplaced(entry) {
                    parts[parts.count - 1] = .rows(entry.first...last)
                    return 0
                }
                if let size = try readSealed(entry, through: last, visit) { return size }
            case .damaged(let positions): check.skip(to: positions.upperBound)
            case .pending:
                if cursor == nil {
                    var pending = try store.cursor(space, .pending)
                    for entry in damagedLanes { pending.skip(entry) }
                    cursor = pending
                }
                if let size = try readRows(visit) { return size }
            case .end: try end()
            case .files: try readFiles()
            }
        } catch {
            guard let fault = error.fault, skip(part) else { throw error }
            result.faults.append(fault)
        }
        blocks = nil
        sealed = nil
        cursor = nil
        isOpen = false
        parts.removeLast()
        return 0
    }

    /// Leaves a part that cannot be read; false if nothing can be read without it.
    private mutating func skip(_ part: Part) -> Bool {
        switch part {
        case .lane(let entry): damagedLanes.append(entry)
        case .rows(let positions): check.skip(to: positions.upperBound)
        case .sealed(_, let last): check.skip(to: last)
        case .pending: break
        case .canonical, .damaged, .end, .files: return false
        }
        return true
    }

    /// Where the canonical events are to be read, in order.
    private func canonicalParts() throws(LogError) -> [Part] {
        var stretches: [(positions: ClosedRange<UInt64>, part: Part)] = []
        for entry in try store[space].segments()
        where entry.last >= positions.lowerBound && entry.first <= released {
            let last = min(entry.last, released)
            stretches.append((entry.first...last, .sealed(entry, last: last)))
        }
        let index = store.shared.index.withLock { $0[space] }
        for entry in damagedLanes {
            stretches += index.positions(in: entry).map { ($0, .damaged($0)) }
        }
        stretches.sort { $0.positions.lowerBound < $1.positions.lowerBound }
        var parts: [Part] = []
        var next = positions.lowerBound
        for (positions, part) in stretches where positions.lowerBound >= next {
            if next < positions.lowerBound { parts.append(.rows(next...positions.lowerBound - 1)) }
            parts.append(part)
            next = positions.upperBound + 1
        }
        if next <= head { parts.append(.rows(next...head)) }
        return parts
    }

    /// Reads the next block of the cursor; nil at the end.
    private mutating func readRows(
        _ visit: (VerifiedEvents) -> String?
    ) throws(LogError) -> Int? {
        guard let events = try cursor?.next() else { return nil }
        result.rowCount += events.rows.count
        let what = try check.take(events) ?? visit(.rows(events))
        if let what { result.faults.append(check.fault(what, in: events.file)) }
        return events.bytes.count
    }

    // MARK: Segments

    private enum BlockStep {
        case read(Int)
        /// All blocks were read and verify.
        case whole
        case damaged
    }

    /// Whether another segment took the place of one that is next, since the steps began.
    private func isReplaced(_ entry: SegmentEntry) throws(LogError) -> Bool {
        guard !isOpen else { return false }
        let lists = try store.shared.segments.readLists(of: space, in: store.shared.directory)
        return !lists.segments.contains(entry) && !lists.lanes.contains(entry)
    }

    /// Reads the next block of both files of a segment.
    private mutating func readBlock(of entry: SegmentEntry) throws(LogError) -> BlockStep {
        guard var current = blocks.take() else {
            blocks = CheckedBlocks(segment: try .whole(entry, of: space, in: store.shared))
            isOpen = true
            return .read(0)
        }
        let place = current.segment.place
        let size: Int?
        do throws(SegmentError) {
            size = try current.check.step(&current.segment.reader)
        } catch {
            throw place.error(error)
        }
        let faults = current.check.faults.compactMap { place.error(.fault($0)).fault }
        if size == nil { result.faults += faults }
        guard size != nil || faults.isEmpty else { return .damaged }
        blocks = consume current
        return size.map { .read($0) } ?? .whole
    }

    /// Reads the next block of a segment, or once those verify its next events; nil at the end.
    private mutating func readSealed(
        _ entry: SegmentEntry,
        through last: UInt64,
        _ visit: (VerifiedEvents) -> String?
    ) throws(LogError) -> Int? {
        if let current = sealed.take() { return try readPiece(of: current, visit) }
        switch try readBlock(of: entry) {
        case .read(let size): return size
        case .damaged:
            check.skip(to: last)
            return nil
        case .whole:
            if let current = blocks.take() { try begin(current.segment, through: last) }
            return 0
        }
    }

    private mutating func begin(
        _ opened: consuming OpenSegment,
        through last: UInt64
    ) throws(LogError) {
        var opened = opened
        let place = opened.place
        let types = opened.reader.index.types.map { $0.entry }
        let nodes = try opened.saltNodes()
        let rows = try opened.rows()
        let first = place.entry.first
        let count = Int(last - first) + 1
        if let what = check.begin(first, 0..<count, of: rows) { throw place.fault(.segment, what) }
        sealed = SealedEvents(
            place: place,
            types: types,
            salts: SaltNodes(nodes),
            rows: rows,
            count: count
        )
    }

    private mutating func readPiece(
        of sealed: consuming SealedEvents,
        _ visit: (VerifiedEvents) -> String?
    ) throws(LogError) -> Int? {
        var current = sealed
        guard current.next < current.count else { return nil }
        let piece = current.next..<min(current.next + Self.pieceCount, current.count)
        let place = current.place
        try check.take(piece, of: &current.rows, at: place, current.salts)
        result.rowCount += piece.count
        if current.isKnown, let what = visit(.sealed(types: current.types, count: piece.count)) {
            current.isKnown = false
            if let fault = place.fault(.segment, what).fault { result.faults.append(fault) }
        }
        current.next = piece.upperBound
        self.sealed = consume current
        return place.entry.rowSize / place.entry.count * piece.count
    }

    // MARK: The end

    private mutating func end() throws(LogError) {
        try check.finishTiles(&result.faults)
        guard result.faults.isEmpty else { return }
        result.root = check.root()
        guard positions.lowerBound == 1 else { return }
        guard result.root != (try store[space].proofs.root(size: head)) else { return }
        result.root = nil
        result.faults.append(
            Fault(
                file: FramePaths.folder,
                offset: 0,
                what: "the root of space \(space.text) is not that of its events"
            )
        )
    }

    private mutating func readFiles() throws(LogError) {
        result.faults += try store[space].inbox.faults()
        result.faults += try store[space].kept.faults()
        result.faults += try store[space].imports.faults()
        result.faults += try store[space].remoteFaults()
        if let fault = try store[space].publishing.fault(root: result.root) {
            result.faults.append(fault)
        }
    }
}
