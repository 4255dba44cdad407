import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioStorage
import DiarioTestSupport
import Testing

/// The files of blobs: schema/format/directory.md, section 10.
@Suite struct BlobStoreTests {
    private let log: TestLog

    init() throws { log = try TestLog() }

    private func plain(_ size: Int, seed: UInt64 = 1) -> [UInt8] {
        var random = SeededRandom(seed: seed)
        return makeBytes(size, using: &random)
    }

    @discardableResult
    private func put(
        _ bytes: [UInt8],
        isPublic: Bool = false,
        in store: LogStore
    ) throws(LogError) -> (blob: WrittenBlob, key: BlobKey?) {
        let put = try store.blobs.put(isPublic: isPublic, sizeMax: Limits.blobSizeMax)
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + 50_000)
            try put.write(bytes.span.extracting(start..<end))
            start = end
        }
        return (try put.finish(), put.key)
    }

    private func read(
        _ content: BlobContent,
        _ range: Range<Int64>
    ) throws(LogError) -> [UInt8] {
        var bytes: [UInt8] = []
        try content.read(range, into: &bytes)
        return bytes
    }

    /// Blobs that are being written, or that a program left behind.
    private func remains(on disk: CrashDisk) throws -> [String] {
        try disk.list(LogPaths.blobs).filter { $0.hasSuffix(".new") }
    }

    @Test(arguments: [0, 1, 65_536, 131_072, 700_001])
    func whatIsPutIsRead(size: Int) throws {
        let store = try log.open()
        let bytes = plain(size)
        let (own, key) = try put(bytes, in: store)
        let open = try put(bytes, isPublic: true, in: store).blob
        #expect(try store.blobs.ids() == [own.id, open.id].sorted { $0.text < $1.text })
        let stored = try #require(try store.blobs.find(own.id))
        #expect(stored.size == own.storedSize)
        #expect(try stored.matchesID())
        let content = try stored.content(isPublic: false, key: key, size: Int64(size))
        #expect(content.size == Int64(size))
        #expect(try read(content, 0..<Int64(size)) == bytes)
        let other = try #require(try store.blobs.find(open.id))
        let openContent = try other.content(isPublic: true, key: nil, size: Int64(size))
        for (from, to) in [
            (0, size), (size / 3, size / 2), (size, size), (min(size, 65_535), size),
        ] {
            let range = Int64(from)..<Int64(to)
            #expect(try read(content, range) == Array(bytes[from..<to]))
            #expect(try read(openContent, range) == Array(bytes[from..<to]))
        }
    }

    @Test func anErasedKeyAndAnotherOneOpenNothing() throws {
        let store = try log.open()
        for size in [0, 9] {
            let (blob, key) = try put(plain(size), in: store)
            let stored = try #require(try store.blobs.find(blob.id))
            #expect(throws: LogError.blob(.erased)) {
                try stored.content(isPublic: false, key: nil)
            }
            let other = BlobKey(drawnFrom: log.entropy)
            #expect(throws: LogError.blob(.damagedChunk(0))) {
                let content = try stored.content(isPublic: false, key: other)
                _ = try read(content, 0..<content.size)
            }
            #expect(throws: LogError.blob(.cut(storedSize: stored.size))) {
                try stored.content(isPublic: false, key: key, size: 10)
            }
        }
    }

    @Test func damageIsFoundAndDroppedBytesAreGone() throws {
        let store = try log.open()
        let blob = try put(plain(70_000), in: store).blob
        #expect(try store.blobs.fault(of: blob.id) == nil)
        try log.disk.flipBit(0, at: 66_000, of: LogPaths.blob(blob.id))
        #expect(try store.blobs.fault(of: blob.id)?.file == LogPaths.blob(blob.id))
        #expect(try store.blobs.contains(blob.id))
        #expect(try store.blobs.drop(blob.id))
        #expect(try !store.blobs.contains(blob.id))
        #expect(try store.blobs.find(blob.id) == nil)
        #expect(try store.blobs.fault(of: blob.id) == nil)
        #expect(try !store.blobs.drop(blob.id))
        var random = SeededRandom(seed: 3)
        log.disk.crash(using: &random)
        #expect(try log.open().blobs.ids().isEmpty)
    }

    /// Damaged bytes lose their name, and are gone once the right ones are here.
    @Test func whatIsDamagedCountsAsMissing() throws {
        let store = try log.open()
        let bytes = plain(70_000)
        let blob = try put(bytes, isPublic: true, in: store).blob
        let path = LogPaths.blob(blob.id)
        #expect(try store.blobs.find(blob.id, sized: 70_000) != nil)
        // Another size is no damage if the hash is right.
        #expect(try store.blobs.find(blob.id, sized: 5) != nil)
        #expect(try store.blobs.lossMark() == nil)
        try log.disk.flipBit(0, at: 66_000, of: path)
        #expect(try store.blobs.find(blob.id, sized: 70_000) != nil)
        #expect(try log.open(access: .readOnly).blobs.findWhole(blob.id) == nil)
        #expect(try store.blobs.contains(blob.id) && !store.blobs.isDamaged(blob.id))
        #expect(try store.blobs.findWhole(blob.id) == nil)
        #expect(try !store.blobs.contains(blob.id) && store.blobs.isDamaged(blob.id))
        #expect(try store.blobs.ids().isEmpty && store.blobs.damaged() == [blob.id])
        #expect(try store.blobs.lossMark()?.utf8.count == 16)
        try put(bytes, isPublic: true, in: store)
        #expect(try store.blobs.findWhole(blob.id)?.size == 70_000)
        #expect(try store.blobs.damaged().isEmpty && !log.disk.exists(path + ".damaged"))
        try log.disk.open(path, .readWrite).truncate(to: 69_999)
        #expect(try store.blobs.find(blob.id, sized: 70_000) == nil)
        #expect(try store.blobs.damaged() == [blob.id])
        #expect(try store.blobs.drop(blob.id) && store.blobs.damaged().isEmpty)
    }

    @Test func whatIsTooLargeOrGivenUpLeavesNothing() throws {
        let store = try log.open()
        let bytes = plain(20)
        do {
            let put = try store.blobs.put(isPublic: true, sizeMax: 19)
            #expect(throws: LogError.blob(.tooLarge(sizeMax: 19))) { try put.write(bytes.span) }
        }
        do {
            let put = try store.blobs.put(isPublic: true, sizeMax: 20)
            try put.write(bytes.span)
        }
        #expect(try remains(on: log.disk).isEmpty)
        #expect(try store.blobs.ids().isEmpty)
    }

    @Test func nothingIsPutWhereOneMayOnlyRead() throws {
        let store = try log.open(access: .readOnly)
        #expect(throws: LogError.readOnly) { try store.blobs.put(isPublic: true, sizeMax: 1) }
        #expect(throws: LogError.readOnly) { try store.blobs.drop(.zero) }
        #expect(try store.blobs.ids().isEmpty)
    }

    /// Who opens the directory removes what others left, and not what they write just then.
    @Test func programsPutAtOnce() throws {
        let (first, second) = (try log.open(process: 1), try log.open(process: 2))
        let bytes = plain(100_000)
        let left = try first.blobs.put(isPublic: true, sizeMax: .max)
        try left.write(bytes.span)
        let mine = try second.blobs.put(isPublic: true, sizeMax: .max)
        try mine.write(bytes.span)
        let third = try log.open(process: 3)
        #expect(try remains(on: log.disk) == ["put-0.new", "put-1.new"])
        log.disk.kill(1)
        let fourth = try log.open(process: 4)
        #expect(try remains(on: log.disk) == ["put-1.new"])
        let blob = try mine.finish()
        #expect(try third.blobs.ids() == [blob.id])
        #expect(try fourth.blobs.find(blob.id)?.matchesID() == true)
    }

    /// The power goes at each operation of a put, in each way in which it can.
    @Test(arguments: CrashDisk.CutMoment.allCases)
    func aCrashLeavesAWholeBlobOrNone(moment: CrashDisk.CutMoment) throws {
        let bytes = plain(140_000)
        var (step, isOver) = (1, false)
        while !isOver {
            let log = try TestLog(seed: UInt64(step))
            let before = try put(plain(10), isPublic: true, in: try log.open()).blob
            let store = try log.open(process: 1)
            log.disk.cutAfter(operations: step, moment)
            var written: WrittenBlob?
            do throws(LogError) {
                written = try put(bytes, in: store).blob
                isOver = true
            } catch {
                #expect(error == .storage(.cut))
            }
            var random = SeededRandom(seed: UInt64(step))
            log.disk.crash(using: &random)
            let reopened = try log.open()
            let ids = try reopened.blobs.ids()
            #expect(ids.contains(before.id))
            if let written { #expect(ids.contains(written.id)) }
            for id in ids { #expect(try reopened.blobs.fault(of: id) == nil) }
            #expect(try remains(on: log.disk).isEmpty, "after operation \(step), \(moment)")
            step += 1
        }
        #expect(step > 5)
    }
}
