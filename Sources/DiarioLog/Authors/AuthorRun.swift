import DiarioCore
import DiarioFormat
import DiarioStorage

// Who made what, for a stretch of positions. Specified in schema/format/directory.md, section 11.

/// An entry of an index of authors.
struct AuthorEntry: Sendable {
    /// The hash of the kind and the id.
    let key: UInt64
    /// The hash of the author; 0 if nobody is.
    let author: UInt64
}

/// What the files of one index have in common.
struct AuthorMark: Hashable, Sendable {
    let lineage: Lineage
    let epoch: UInt64
    /// Of what is asked: an index that was made for other rules is of no use.
    let rules: UInt64
    let hash: KeyedHash
}

/// A file of entries in order of their keys; it never changes.
struct AuthorRun: Sendable {
    let path: String
    let positions: ClosedRange<UInt64>
    let mark: AuthorMark
    let count: Int64
    /// The first key of each block.
    fileprivate let fences: [UInt64]
    private let directory: any LogDirectory
    /// Open while it is asked, so that quiet spaces keep no file open.
    private var file: (any LogFile)?

    fileprivate static let headSize = 96
    fileprivate static let blockSize = 1024
    fileprivate static let entriesPerBlock = 63
    private static let entrySize = 16

    fileprivate static func blockCount(_ count: Int64) -> Int64 {
        (count + Int64(entriesPerBlock) - 1) / Int64(entriesPerBlock)
    }

    /// Opens a file and checks it, but for its blocks; nil if it is damaged, or none.
    init?(_ path: String, in directory: any LogDirectory) throws(StorageError) {
        let file = try directory.open(path, .read)
        var head: [UInt8] = []
        try file.read(at: 0, count: Self.headSize, into: &head)
        guard let parsed = Self.parse(head) else { return nil }
        (positions, mark, count) = parsed
        let blocks = Self.blockCount(count)
        let place = Int64(Self.headSize) + blocks * Int64(Self.blockSize)
        let size = blocks * 8 + 4
        // No count that a damaged file names makes us ask for more memory than the file has bytes.
        guard try file.size() == place + size else { return nil }
        var bytes: [UInt8] = []
        try file.read(at: place, count: Int(size), into: &bytes)
        guard bytes.count == Int(size), Self.verifies(bytes) else { return nil }
        fences = (0..<Int(blocks)).map { bytes.span.littleEndian(UInt64.self, at: 8 * $0) }
        self.directory = directory
        self.path = path
    }

    private static func parse(
        _ head: [UInt8]
    ) -> (ClosedRange<UInt64>, AuthorMark, Int64)? {
        guard head.count == headSize, verifies(head) else { return nil }
        let bytes = head.span
        guard bytes.littleEndian(UInt32.self, at: 0) == Magic.authors.rawValue,
            bytes.littleEndian(UInt32.self, at: 4) == 1
        else { return nil }
        let lineage = Lineage(
            high: bytes.littleEndian(UInt64.self, at: 16),
            low: bytes.littleEndian(UInt64.self, at: 24)
        )
        let first = bytes.littleEndian(UInt64.self, at: 32)
        let last = bytes.littleEndian(UInt64.self, at: 40)
        let count = bytes.littleEndian(UInt64.self, at: 72)
        guard first >= 1, first <= last, last <= LogNumber.max, count <= 1 << 40 else {
            return nil
        }
        let key = (
            low: bytes.littleEndian(UInt64.self, at: 48),
            high: bytes.littleEndian(UInt64.self, at: 56)
        )
        let mark = AuthorMark(
            lineage: lineage,
            epoch: bytes.littleEndian(UInt64.self, at: 8),
            rules: bytes.littleEndian(UInt64.self, at: 64),
            hash: KeyedHash(key: key)
        )
        return (first...last, mark, Int64(count))
    }

    /// True if the last four bytes are the checksum of those before.
    private static func verifies(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 4 else { return false }
        let end = bytes.count - 4
        let stored = bytes.span.littleEndian(UInt32.self, at: end)
        return Checksum.crc32c(bytes.span.raw.extracting(0..<end)) == stored
    }

    /// The author of a key; nil if it is not in this file.
    mutating func author(
        of key: UInt64,
        _ buffer: inout [UInt8]
    ) throws(LogError) -> UInt64? {
        // The last block whose first key is not beyond.
        let index = fences.sortedIndex(behindAll: { $0 <= key }) - 1
        guard index >= 0 else { return nil }
        try read(blocks: index..<index + 1, into: &buffer)
        var low = 0
        var high = entryCount(of: index)
        while low < high {
            let middle = (low + high) / 2
            let found = buffer.span.littleEndian(UInt64.self, at: middle * Self.entrySize)
            if found == key {
                return buffer.span.littleEndian(UInt64.self, at: middle * Self.entrySize + 8)
            }
            if found < key { low = middle + 1 } else { high = middle }
        }
        return nil
    }

    fileprivate func entryCount(of block: Int) -> Int {
        let before = Int64(block) * Int64(Self.entriesPerBlock)
        return Int(min(Int64(Self.entriesPerBlock), count - before))
    }

    mutating func close() { file = nil }

    private mutating func opened() throws(StorageError) -> any LogFile {
        if let file { return file }
        let opened = try directory.open(path, .read)
        file = opened
        return opened
    }

    /// Reads blocks whose checksums hold.
    fileprivate mutating func read(
        blocks: Range<Int>,
        into buffer: inout [UInt8]
    ) throws(LogError) {
        buffer.removeAll(keepingCapacity: true)
        let place = Int64(Self.headSize) + Int64(blocks.lowerBound) * Int64(Self.blockSize)
        do throws(StorageError) {
            try opened().read(at: place, count: blocks.count * Self.blockSize, into: &buffer)
        } catch {
            throw .storage(error)
        }
        guard buffer.count == blocks.count * Self.blockSize else { throw damaged(at: place) }
        for index in 0..<blocks.count {
            let start = index * Self.blockSize
            let end = start + Self.blockSize - 4
            let stored = buffer.span.littleEndian(UInt32.self, at: end)
            guard Checksum.crc32c(buffer.span.raw.extracting(start..<end)) == stored else {
                throw damaged(at: place + Int64(start))
            }
        }
    }

    private func damaged(at place: Int64) -> LogError {
        .corrupt(
            Fault(
                file: path,
                offset: Int(place),
                what: "a block of the index of authors is damaged; it is made again"
            )
        )
    }

    // MARK: Writing

    /// Writes a file of entries that come in order of their keys.
    ///
    /// Nothing waits for the disk: what a crash leaves of it is found damaged, and the index is
    /// made again.
    static func write(
        _ path: String,
        _ positions: ClosedRange<UInt64>,
        _ mark: AuthorMark,
        in directory: any LogDirectory,
        _ next: () throws(LogError) -> AuthorEntry?
    ) throws(LogError) -> AuthorRun {
        let file = try storing { () throws(StorageError) in
            let file = try directory.open(path + ".new", .create)
            try file.truncate(to: 0)
            return file
        }
        var writer = AuthorRunWriter(file)
        while let entry = try next() {
            do throws(StorageError) { try writer.add(entry) } catch { throw .storage(error) }
        }
        do throws(StorageError) {
            try writer.finish(positions, mark)
            try directory.rename(path + ".new", to: path)
            if let run = try AuthorRun(path, in: directory) { return run }
        } catch {
            throw .storage(error)
        }
        throw .corrupt(Fault(file: path, offset: 0, what: "what was just written cannot be read"))
    }
}

/// Writes a file of an index.
private struct AuthorRunWriter {
    private let file: any LogFile
    private var place = Int64(AuthorRun.headSize)
    private var count: UInt64 = 0
    private var buffer: [UInt8] = []
    private var block: [UInt8] = []
    private var fences: [UInt8] = []

    private static let bufferSize = 64 * AuthorRun.blockSize

    init(_ file: any LogFile) { self.file = file }

    mutating func add(_ entry: AuthorEntry) throws(StorageError) {
        if block.isEmpty { fences.append(littleEndian: entry.key) }
        block.append(littleEndian: entry.key)
        block.append(littleEndian: entry.author)
        count += 1
        if block.count == AuthorRun.entriesPerBlock * 16 { try endBlock() }
    }

    private mutating func endBlock() throws(StorageError) {
        block.append(repeating: 0, count: AuthorRun.blockSize - 4 - block.count)
        block.append(littleEndian: Checksum.crc32c(block.span.raw))
        buffer += block
        block.removeAll(keepingCapacity: true)
        if buffer.count >= Self.bufferSize { try flush() }
    }

    private mutating func flush() throws(StorageError) {
        try file.write(buffer.span, at: place)
        place += Int64(buffer.count)
        buffer.removeAll(keepingCapacity: true)
    }

    mutating func finish(
        _ positions: ClosedRange<UInt64>,
        _ mark: AuthorMark
    ) throws(StorageError) {
        if !block.isEmpty { try endBlock() }
        fences.append(littleEndian: Checksum.crc32c(fences.span.raw))
        buffer += fences
        try flush()
        try file.write(head(positions, mark).span, at: 0)
    }

    private func head(_ positions: ClosedRange<UInt64>, _ mark: AuthorMark) -> [UInt8] {
        var head: [UInt8] = []
        head.append(littleEndian: Magic.authors.rawValue)
        head.append(littleEndian: 1 as UInt32)
        head.append(littleEndian: mark.epoch)
        head.append(littleEndian: mark.lineage.high)
        head.append(littleEndian: mark.lineage.low)
        head.append(littleEndian: positions.lowerBound)
        head.append(littleEndian: positions.upperBound)
        head.append(littleEndian: mark.hash.key.low)
        head.append(littleEndian: mark.hash.key.high)
        head.append(littleEndian: mark.rules)
        head.append(littleEndian: count)
        head.append(repeating: 0, count: AuthorRun.headSize - 4 - head.count)
        head.append(littleEndian: Checksum.crc32c(head.span.raw))
        return head
    }
}

/// Gives the entries of a file one by one.
struct AuthorRunReader {
    private var run: AuthorRun
    private var buffer: [UInt8] = []
    private var nextBlock = 0
    private var index = 0
    private var end = 0

    private static let blocksAtOnce = 64

    init(_ run: AuthorRun) { self.run = run }

    mutating func next() throws(LogError) -> AuthorEntry? {
        if index == end, try !fill() { return nil }
        let place =
            index / AuthorRun.entriesPerBlock * AuthorRun.blockSize
            + index % AuthorRun.entriesPerBlock * 16
        index += 1
        return AuthorEntry(
            key: buffer.span.littleEndian(UInt64.self, at: place),
            author: buffer.span.littleEndian(UInt64.self, at: place + 8)
        )
    }

    private mutating func fill() throws(LogError) -> Bool {
        let blocks = nextBlock..<min(nextBlock + Self.blocksAtOnce, run.fences.count)
        guard !blocks.isEmpty else { return false }
        try run.read(blocks: blocks, into: &buffer)
        nextBlock = blocks.upperBound
        index = 0
        end = blocks.reduce(0) { $0 + run.entryCount(of: $1) }
        return true
    }
}
