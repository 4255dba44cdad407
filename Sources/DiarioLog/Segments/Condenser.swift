import DiarioCore
import DiarioFormat
import DiarioStorage
import Synchronization

/// A condensed block in a row file, and the rows that it takes the place of.
struct CondensedRows: Sendable {
    let space: SpaceID
    /// Runs of events at positions one after the other.
    let replaced: [Run]
    /// Where the block lies in the file.
    let place: Range<Int>
    /// Events of the block before the first of these.
    var skip: UInt32 = 0

    func moved(to file: UInt32) -> MovedRows {
        MovedRows(
            file: file,
            offset: UInt32(place.lowerBound),
            size: UInt32(place.count),
            skip: skip,
            firstPosition: replaced.first?.first ?? 0,
            count: replaced.reduce(0) { $0 + $1.count }
        )
    }
}

/// Puts rows of the write-ahead log together, space by space, into blocks with compressed rows, and
/// those into a row file.
///
/// Prepared without any lock; the writer then only has to say where the rows are, after a look
/// whether all that was read is live still.
struct Condenser: ~Copyable {
    private let store: LogShared
    private var compressor: BlockCondenser
    private var builder = BlockBuilder()
    private var times: [AcceptedRun] = []
    private var gathered: [Run] = []
    /// One block, not compressed, and the same condensed.
    private var plain: [UInt8] = []
    private var condensed: [UInt8] = []
    /// The file: room for its header, then the blocks.
    private var bytes = RowFile.begun
    private(set) var blocks: [CondensedRows] = []
    /// Bytes by which there will be less in the log.
    private(set) var gain = 0

    /// Bytes of a block before compression: whoever reads one event of it decompresses all.
    private static let bodyMax = 256 * 1024

    init(_ store: LogShared) throws(LogError) {
        self.store = store
        do throws(FormatError) { compressor = try BlockCondenser() } catch { throw .format(error) }
    }

    /// Whether there is enough for a file.
    var isFull: Bool { bytes.count >= store.sizes.fileMax / 2 }

    /// The file under this number; another one is begun.
    mutating func finishFile(number: UInt32) -> [UInt8] {
        var file = RowFile.begun
        swap(&file, &bytes)
        RowFile.seal(&file, number: number)
        blocks.removeAll(keepingCapacity: true)
        gain = 0
        return file
    }

    /// Adds blocks of all rows of a space in the log that can be condensed.
    mutating func add(_ space: SpaceID) throws(LogError) {
        let runs = store.index.withLock { $0[space].canonical.runs }
        defer { clear() }
        for run in runs where !run.isSealed && !run.isMoved && run.skip == 0 {
            // Else its file was used again, and somebody else saw to its rows.
            guard var block = try store.read(run) else { break }
            do throws(FormatError) {
                if run.isCondensed { block = try store.expander.expand(block) }
                if let last = gathered.last, last.last + 1 != run.first { try finish(space) }
                try gather(run, block.span, of: space)
            } catch {
                throw run.fault(error)
            }
        }
        do throws(FormatError) { try finish(space) } catch { throw .format(error) }
    }

    /// Adds a block of another row file as it is.
    mutating func copy(_ run: Run, of space: SpaceID) throws(LogError) {
        let block = try store.storedBlock(of: run)
        do throws(FormatError) {
            _ = try BlockSummary.parseStored(block.span, verifyChecksum: true)
        } catch {
            throw run.fault(error)
        }
        put(block, replacing: [run], skip: run.skip, of: space)
    }

    private mutating func put(
        _ block: [UInt8],
        replacing runs: [Run],
        skip: UInt32,
        of space: SpaceID
    ) {
        Record.append(.rows, space, to: &bytes) { $0 += block }
        let place = bytes.count - block.count..<bytes.count
        blocks.append(CondensedRows(space: space, replaced: runs, place: place, skip: skip))
    }

    /// Adds the rows of a block to those at hand, if it is one that can be condensed.
    private mutating func gather(
        _ run: Run,
        _ block: Span<UInt8>,
        of space: SpaceID
    ) throws(FormatError) {
        let head = try BlockHead.parse(block, verifyChecksum: true)
        guard !head.summary.isAuthority, head.summary.eventCount == Int(run.count) else { return }
        let size = builder.size + block.count + times.count * BlockBuilder.acceptedRunSizeMax
        if size > min(Self.bodyMax, store.sizes.frameMax / 2)
            || !head.types.allSatisfy(builder.agrees)
        {
            try finish(space)
        }
        try builder.append(block, head)
        let times =
            run.promotedAt.map {
                [AcceptedRun(count: Int(run.count), acceptedAt: Timestamp(milliseconds: $0))]
            } ?? head.times
        for time in times { note(time) }
        gathered.append(run)
    }

    private mutating func note(_ time: AcceptedRun) {
        if let last = times.indices.last, times[last].acceptedAt == time.acceptedAt {
            times[last].count += time.count
        } else {
            times.append(time)
        }
    }

    /// Condenses what was gathered, if that makes it smaller.
    private mutating func finish(_ space: SpaceID) throws(FormatError) {
        defer { clear() }
        guard let first = gathered.first else { return }
        plain.removeAll(keepingCapacity: true)
        condensed.removeAll(keepingCapacity: true)
        builder.write(into: &plain, position: first.first, times: times, isAuthority: false)
        let plain = plain
        try compressor.condense(plain.span, into: &condensed)
        guard condensed.count < plain.count else { return }
        gain += gathered.reduce(0) { $0 + Int($1.liveBytes) } - MovedRows.recordSize
        put(condensed, replacing: gathered, skip: 0, of: space)
    }

    private mutating func clear() {
        builder.removeAll()
        times.removeAll(keepingCapacity: true)
        gathered.removeAll(keepingCapacity: true)
    }
}
