import CBaseline
import Diario
import DiarioFormat
import DiarioHost
import DiarioLog
import DiarioStorage

/// `diario-bench verify`: what checking everything in a sealed space costs.
enum VerifyBench {
    static let help = """
        diario-bench verify [OPTIONS]
          Reads and checks every event of an imported and sealed space, as `diario verify` does;
          against C that takes SHA-256 of messages as many and as large as verifying has to hash:
          rows, leaves, nodes, commitments, salts and segments. One EVP_MD fetched beforehand,
          one context. Processor time of the whole process on both sides.

          --events N      events (500000)
          --runs N        runs of each side, in turn (5)
          \(WorkloadOptions.help)

        """

    static func run(_ arguments: inout Arguments) async throws -> Report {
        let runs = try arguments.count("--runs", 1...1000) ?? 5
        let options = try WorkloadOptions(&arguments, defaultCount: 500_000)
        try arguments.finish()
        return try await Scratch().withFolder("space") { path in
            let space = try BenchSpace.sealed(path, options)
            let messages = try HashedMessages(of: space)
            try space.close()
            let pairs = try await compare(runs: runs) {
                try verify(path)
            } baseline: {
                try messages.hash()
            }
            let times = pairs.map { $0.ours.seconds * 1e6 / Double($0.ours.events) }
            return Report(
                benchmark: "verify",
                settings: options.settings + [
                    ("runs", "\(runs)"), ("messages", "\(messages.sizes.count)"),
                    ("bytes", "\(messages.byteCount)"),
                ],
                measurements: [
                    Measurement("processor time", pairs, goal: .atMost(1.6), isTime: true),
                    Measurement("for each event", unit: "us", value: Spread(times)),
                ]
            )
        }
    }

    private static func verify(_ path: String) throws -> Sample {
        let space = try Space.open(at: path, access: .readOnly)
        let before = baseline_process_nanoseconds()
        let result = try space.verify { _ in }
        let time = baseline_process_nanoseconds() - before
        guard result.isOK else { throw BenchError.failed("\(result.faults)") }
        try space.close()
        return Sample(seconds: Double(time) / 1e9, events: result.events)
    }
}

/// The sizes of all messages that must be hashed to check a space.
private struct HashedMessages {
    private(set) var sizes: [UInt32] = []
    private(set) var byteCount = 0
    private var eventCount = 0
    /// Nodes of salt trees, by the group they are of; each is hashed once at least.
    private var saltNodes: [SaltGroup: Set<Int>] = [:]

    private struct SaltGroup: Hashable {
        var replica: UInt64
        var group: UInt64
    }

    init(of space: Space) throws {
        var cursor = try space.store.cursor(space.id)
        while let events = try cursor.next() {
            for stored in events.rows { add(stored, events.types[stored.row.typeIndex]) }
        }
        for segment in try space.store[space.id].segments() {
            add(segment.segmentSize - SegmentHeader.size)
        }
    }

    private mutating func add(_ size: Int) {
        sizes.append(UInt32(size))
        byteCount += size
    }

    private mutating func add(_ stored: StoredRow, _ type: TypeEntry) {
        let row = stored.row
        var start: [UInt8] = []
        CanonicalRow.appendStart(
            to: &start,
            typeName: type.name.span,
            version: type.version,
            replica: row.replica,
            sequence: row.sequence
        )
        var size = start.count + row.publicPart.count
        if row.personal != .absent { size += 32 }
        add(size)
        // The leaf, and the node above two halves: one less than there are leaves.
        add(1 + 32 + 8)
        if eventCount > 0 { add(1 + 32 + 32) }
        eventCount += 1
        guard case .present(let range) = row.personal else { return }
        add(Salt.size + range.count)
        let key = SaltGroup(
            replica: row.replica.rawValue,
            group: SaltSeed.group(of: row.sequence)
        )
        // Nodes of the tree count as those of a heap do: the seed is 1 and needs no hash.
        var node = 1 << SaltNode.levelMax + SaltSeed.index(of: row.sequence)
        while node > 1, saltNodes[key, default: []].insert(node).inserted {
            add(2 + Salt.size)
            node /= 2
        }
    }

    /// What C takes to hash so many messages of these sizes.
    func hash() throws -> Sample {
        // Safe: the function reads `count` sizes and keeps no pointer.
        let seconds = unsafe sizes.withUnsafeBufferPointer { sizes in
            unsafe baseline_hash(sizes.baseAddress, sizes.count)
        }
        guard seconds >= 0 else { throw BenchError.failed("SHA-256 is missing") }
        return Sample(seconds: seconds, events: eventCount)
    }
}
