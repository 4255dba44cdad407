import DiarioCore
import DiarioFormat
import DiarioStorage
import Synchronization

/// A condensed block, and the rows of the log that it is made of.
struct CondensedRows: Sendable {
    let space: SpaceID
    /// Runs of events at positions one after the other, each all of its block.
    let replaced: [Run]
    /// Where the block lies among the bytes that come with it.
    let bytes: Range<Int>
}

/// Puts rows of the write-ahead log together, space by space, into blocks with compressed rows.
///
/// Prepared without any lock; the writer then only has to write the bytes, after a look whether all
/// that was read is live still.
struct Condenser: ~Copyable {
    private let store: LogShared
    private var compressor: BlockCondenser
    private var builder = BlockBuilder()
    private var times: [AcceptedRun] = []
    private var gathered: [Run] = []
    /// One block, not compressed.
    private var plain: [UInt8] = []
    /// Condensed blocks, one behind the other.
    private(set) var bytes: [UInt8] = []
    private(set) var blocks: [CondensedRows] = []
    /// Bytes by which there will be less in the log.
    private(set) var gain = 0

    /// Bytes of a block before compression: whoever reads one event of it decompresses all.
    private static let bodyMax = 256 * 1024

    init(_ store: LogShared) throws(LogError) {
        self.store = store
        do throws(FormatError) { compressor = try BlockCondenser() } catch { throw .format(error) }
    }

    /// Whether there is enough for a frame.
    var isFull: Bool { bytes.count >= store.sizes.frameMax / 4 }

    /// Forgets the blocks, which were written.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        blocks.removeAll(keepingCapacity: true)
        gain = 0
    }

    /// Adds blocks of all rows of a space that can be condensed; the bytes that this gains.
    mutating func add(_ space: SpaceID) throws(LogError) -> Int {
        let before = gain
        let runs = store.index.withLock { $0[space].canonical.runs }
        defer { clear() }
        for run in runs where !run.isSealed && !run.isCondensed && run.skip == 0 {
            guard let block = try read(run) else { break }
            do throws(FormatError) {
                if let last = gathered.last, last.last + 1 != run.first { try finish(space) }
                try gather(run, block.span, of: space)
            } catch {
                throw run.fault(error)
            }
        }
        do throws(FormatError) { try finish(space) } catch { throw .format(error) }
        return gain - before
    }

    /// Nil if the file was used again: then somebody else saw to its rows.
    private func read(_ run: Run) throws(LogError) -> [UInt8]? {
        var bytes: [UInt8] = []
        let isThere = try storing { () throws(StorageError) in
            try store.read(
                at: Int(run.offset),
                count: Int(run.blockSize),
                of: UInt64(run.file),
                into: &bytes
            )
        }
        return isThere ? bytes : nil
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
        if size > min(Self.bodyMax, store.sizes.frameMax / 2) { try finish(space) }
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

    /// Condenses what was gathered, if that is worth it.
    private mutating func finish(_ space: SpaceID) throws(FormatError) {
        defer { clear() }
        guard let first = gathered.first else { return }
        plain.removeAll(keepingCapacity: true)
        builder.write(into: &plain, position: first.first, times: times, isAuthority: false)
        let start = bytes.count
        let plain = plain
        try compressor.condense(plain.span, into: &bytes)
        let old = gathered.reduce(0) { $0 + Int($1.liveBytes) }
        let new = bytes.count - start + Record.headerSize
        guard bytes.count - start < plain.count, new <= old / 4 * 3 else {
            bytes.removeSubrange(start...)
            return
        }
        gain += old - new
        blocks.append(
            CondensedRows(space: space, replaced: gathered, bytes: start..<bytes.count)
        )
    }

    private mutating func clear() {
        builder.removeAll()
        times.removeAll(keepingCapacity: true)
        gathered.removeAll(keepingCapacity: true)
    }
}
