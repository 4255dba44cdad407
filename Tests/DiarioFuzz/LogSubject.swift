import DiarioCore
import DiarioFormat
import DiarioFrames
import DiarioLog
import DiarioSimulation
import DiarioStorage

/// Opens a log in which some bytes of the records were changed, and all checksums made to fit.
///
/// The input is a list of changes, three bytes each: where, in two bytes, and to what. So every
/// input comes as far as the records, which a random file never would.
enum LogSubject {
    private struct Base {
        let disk: CrashDisk
        let raw: RawLog
        let bytes: [UInt8]
        let spaces: [SpaceID]
    }

    private static let kinds = EventKinds()
    private static let base = try? makeBase()

    static func run(_ input: [UInt8]) {
        guard let base else { preconditionFailure("a small log can be made in memory") }
        var bytes = base.bytes
        var offset = 0
        while offset + 3 <= input.count {
            let place = Int(input[offset]) | Int(input[offset + 1]) << 8
            let target = LogFileHeader.size + place
            if target < bytes.count { bytes[target] = input[offset + 2] }
            offset += 3
        }
        seal(&bytes, base)
        let disk = base.disk.copy()
        guard let file = try? disk.open(FramePaths.file(1), .readWrite),
            (try? file.write(bytes.span, at: 0)) != nil,
            let store = try? open(disk)
        else { return }
        for space in base.spaces { use(store, space) }
        try? store.close()
    }

    /// Makes the checksums of blocks and frames fit again.
    private static func seal(_ bytes: inout [UInt8], _ base: Base) {
        for entry in base.raw.entries where entry.kind == .rows {
            let end = entry.offset + entry.content.count
            var covered = Array(bytes[entry.offset..<entry.offset + 20])
            covered += bytes[entry.offset + 24..<end]
            let checksum = Checksum.crc32c(covered.span.raw)
            for index in 0..<4 {
                bytes[entry.offset + 20 + index] = UInt8(
                    truncatingIfNeeded: checksum >> (8 * UInt32(index))
                )
            }
        }
        var offset = LogFileHeader.size
        for frame in base.raw.files.flatMap(\.frames) {
            let range = offset..<offset + frame.frameSize
            var sealed = Array(bytes[range])
            frame.seal(&sealed)
            bytes.replaceSubrange(range, with: sealed)
            offset = range.upperBound
        }
    }

    /// Asks for everything that an app asks for, and goes on with the log.
    private static func use(_ store: LogStore, _ space: SpaceID) {
        _ = try? store[space].status()
        _ = try? kinds.view(of: space, in: store)
        _ = try? store[space].root()
        _ = try? store.verify(space) { _ in nil }
        if var cursor = try? store.cursor(space, isReversed: true) {
            while let events = try? cursor.next() { precondition(!events.bytes.isEmpty, "a block") }
        }
        let batch = kinds.batch([SimulatedEvent(kind: .note, number: 1, secret: [0x61])])
        let append = Append(space: space, content: .new([batch]))
        _ = try? store.append(append)
        _ = store.validate()
        if let head = try? store[space].status().head { try? store[space].release(upTo: head) }
    }

    private static func open(_ disk: CrashDisk) throws(LogError) -> LogStore {
        var sizes = LogSizes()
        sizes.frameMax = 16 * 1024
        sizes.fileMax = 64 * 1024
        sizes.growthMin = 1024
        sizes.growthMax = 1024
        sizes.quietMax = 1024
        sizes.reserve = 16
        return try LogStore(
            disk,
            access: .readWrite,
            time: ManualClock(milliseconds: 1_700_000_000_000),
            entropy: SeededEntropy(seed: 1),
            engine: kinds.engine,
            sizes: sizes
        )
    }

    /// A log with a record of each kind.
    private static func makeBase() throws -> Base {
        let disk = CrashDisk(machineID: "fuzz")
        try LogStore.create(in: disk)
        let store = try open(disk)
        let authority = try store.makeSpace(isAuthority: true).space
        let lane = try store.makeSpace(isAuthority: false).space
        let dropped = try store.makeSpace(isAuthority: true).space
        var number: Int64 = 0
        func append(_ count: Int, _ space: SpaceID, isAuthority: Bool = false) throws {
            let events = (0..<count).map { index in
                number += 1
                return SimulatedEvent(
                    kind: isAuthority ? .adoption : index == 0 ? .item : .note,
                    number: number,
                    secret: index == 1 ? [0x62] : nil
                )
            }
            let batches = [kinds.batch(events)]
            let content: Append.Content = isAuthority ? .new(batches, .authority) : .new(batches)
            _ = try store.append(Append(space: space, content: content))
        }
        try append(1, authority, isAuthority: true)
        try append(3, authority)
        try append(4, lane)
        try append(1, dropped)
        try store[dropped].remove()
        _ = try store.append(
            Append(
                space: lane,
                content: .promoted([
                    PromotedRun(
                        replica: store[lane].status().replica,
                        firstSequence: 1,
                        count: 2,
                        firstPosition: 1,
                        acceptedAt: Timestamp(milliseconds: 9)
                    )
                ])
            )
        )
        try store[authority].release(upTo: 1)
        try append(2, authority)
        try store.close()
        let raw = try RawLog(disk)
        var bytes: [UInt8] = []
        let file = try disk.open(FramePaths.file(1), .read)
        try file.read(at: 0, count: Int(try file.size()), into: &bytes)
        return Base(disk: disk, raw: raw, bytes: bytes, spaces: [authority, lane])
    }
}
