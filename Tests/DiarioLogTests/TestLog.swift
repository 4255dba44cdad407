import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSimulation
import DiarioStorage
import Testing

/// A log on a disk that can crash, with a clock and chance of its own.
final class TestLog {
    let disk: CrashDisk
    let clock = ManualClock(milliseconds: 1_700_000_000_000)
    let entropy: SeededEntropy
    let kinds = EventKinds()
    var random: SeededRandom
    var sizes = LogSizes.standard
    private var lastNumber: Int64 = 0

    /// Makes an empty log on a new disk.
    convenience init(seed: UInt64 = 1) throws {
        self.init(disk: CrashDisk(machineID: "test"), seed: seed)
        try LogStore.create(in: disk)
    }

    /// Uses what is on a disk.
    init(disk: CrashDisk, seed: UInt64) {
        self.disk = disk
        sizes.sealDelayMilliseconds = 0
        entropy = SeededEntropy(seed: seed)
        random = SeededRandom(seed: seed)
    }

    /// Small files, so that a test need not write megabytes to fill some.
    static let small: LogSizes = {
        var sizes = LogSizes()
        sizes.frameMax = 32 * 1024
        sizes.fileMax = 64 * 1024
        sizes.growthMin = 4 * 1024
        sizes.growthMax = 16 * 1024
        sizes.quietMax = 192 * 1024
        sizes.stateInterval = 16 * 1024
        sizes.reserve = 16 * 1024
        sizes.sealDelayMilliseconds = 0
        return sizes
    }()

    func open(
        process: Int32 = 0,
        access: LogStore.Access = .readWrite,
        helper: (any LogHelper)? = nil,
        isDraft: Bool = false
    ) throws(LogError) -> LogStore {
        try open(disk.process(process), access: access, helper: helper, isDraft: isDraft)
    }

    func open(
        _ directory: any LogDirectory,
        access: LogStore.Access = .readWrite,
        helper: (any LogHelper)? = nil,
        isDraft: Bool = false
    ) throws(LogError) -> LogStore {
        try LogStore(
            directory,
            access: access,
            time: clock,
            entropy: entropy,
            engine: kinds.engine,
            types: kinds.types,
            sizes: sizes,
            helper: helper,
            isDraft: isDraft
        )
    }

    /// `count` notes, numbered on from the last ones.
    func notes(_ count: Int, textSize: Int = 10, secret: Bool = false) -> [SimulatedEvent] {
        (0..<count).map { _ in
            lastNumber += 1
            return SimulatedEvent(
                kind: .note,
                number: lastNumber,
                text: Array(repeating: UInt8(ascii: "x"), count: textSize),
                secret: secret ? Array("secret \(lastNumber)".utf8) : nil
            )
        }
    }

    /// One batch of `count` notes.
    func append(
        _ count: Int,
        textSize: Int = 10,
        secret: Bool = false,
        to space: SpaceID
    ) -> Append {
        let batch = kinds.batch(notes(count, textSize: textSize, secret: secret))
        return Append(space: space, content: .new([batch]))
    }

    /// Writes a frame of `count` notes, and ends the process before it syncs that.
    func appendWithoutSync(
        _ count: Int,
        to space: SpaceID,
        in store: LogStore,
        process: Int32
    ) throws {
        // What else is synced before the first event is not to count, nor do zeros: the frame fits
        // behind the others.
        _ = try store[space].author()
        disk.cutAfter(operations: 2, .before, process: process)
        #expect(throws: LogError.storage(.cut)) {
            try store.append(append(count, textSize: 1200, to: space))
        }
    }

    /// The numbers of all events that the log shows of a space, in order.
    func numbers(_ space: SpaceID, in store: LogStore) throws -> [Int64] {
        try kinds.view(of: space, in: store).events.map(\.event.number)
    }

    /// The root as the plainest code computes it from the rows.
    func plainRoot(_ space: SpaceID, in store: LogStore) throws -> Hash32 {
        var leaves: [Hash32] = []
        for seen in try kinds.view(of: space, in: store).canonical {
            leaves.append(PlainHashes.leaf(seen.hash, acceptedAt: seen.acceptedAt ?? 0))
        }
        return PlainHashes.root(leaves[...])
    }
}
