package import DiarioCore
package import DiarioCrypto

/// An event type as a block lists it.
package struct TypeEntry: Hashable, Sendable {
    package static let versionMax: UInt64 = 65_535

    /// The UTF-8 of the full name.
    package var name: [UInt8]
    package var version: Int
    /// Of the schema.
    package var fingerprint: Hash32

    package init(name: [UInt8], version: Int, fingerprint: Hash32) {
        self.name = name
        self.version = version
        self.fingerprint = fingerprint
    }

    /// By one word for the whole name: to hash each of its bytes takes longer than to compare it.
    ///
    /// The types of a pack may have one schema, and differ by their names alone.
    package func hash(into hasher: inout Hasher) {
        var word: UInt64 = 0
        for byte in name { word = word &* 0x100_0000_01b3 &+ UInt64(byte) }
        hasher.combine(word)
        hasher.combine(version)
        hasher.combine(fingerprint.words.0)
    }

    /// True if the type is of the pack `engine`, whose events only the authority writes.
    package var isAuthority: Bool { name.starts(with: "engine.".utf8) }

    /// True if both are the same version of the same type, whatever their schemas.
    package func isSameType(as other: TypeEntry) -> Bool {
        version == other.version && name == other.name
    }

    /// Bytes that the entry takes in a block.
    var size: Int { Varint.size(UInt64(name.count)) + name.count + Varint.sizeMax + 32 }
}

/// Everything before a block's rows, checked and parsed.
package struct BlockHead: Equatable, Sendable {
    package let summary: BlockSummary
    /// In order of position; empty if the events are pending.
    package let times: [AcceptedRun]
    package let replicas: [ReplicaID]
    package let runs: [BlockRun]
    package let types: [TypeEntry]
    package let saltNodes: [SaltNode]

    /// Checks a whole block that is not compressed, up to its rows.
    package static func parse(
        _ bytes: Span<UInt8>,
        verifyChecksum: Bool
    ) throws(FormatError) -> BlockHead {
        try BlockHead(
            bytes,
            BlockSummary.parse(bytes, verifyChecksum: verifyChecksum)
        )
    }

    /// Takes apart the block that `summary` was parsed from.
    package init(_ block: Span<UInt8>, _ summary: BlockSummary) throws(FormatError) {
        self.summary = summary
        times = try Self.readTimes(block, summary)
        replicas = try Self.readReplicas(block, summary)
        runs = try Self.readRuns(block, summary)
        types = try Self.readTypes(block, summary)
        saltNodes = try Self.readSaltNodes(block, summary, replicas)
    }

    private static func readTimes(
        _ block: Span<UInt8>,
        _ summary: BlockSummary
    ) throws(FormatError) -> [AcceptedRun] {
        var reader = ByteReader(block.raw, range: Int(summary.times.offset)..<block.count)
        var times: [AcceptedRun] = []
        var last: Int64 = 0
        for _ in 0..<summary.times.count {
            let count = try reader.nextVarint()
            last &+= try reader.nextZigzag()
            times.append(
                AcceptedRun(
                    count: Int(clamping: count),
                    acceptedAt: Timestamp(milliseconds: last)
                )
            )
        }
        return times
    }

    private static func readReplicas(
        _ block: Span<UInt8>,
        _ summary: BlockSummary
    ) throws(FormatError) -> [ReplicaID] {
        var reader = ByteReader(block.raw, range: Int(summary.replicas.offset)..<block.count)
        var replicas: [ReplicaID] = []
        var known: Set<UInt64> = []
        for _ in 0..<summary.replicas.count {
            let start = reader.offset
            let value = try reader.next(UInt64.self)
            guard let replica = ReplicaID(rawValue: value),
                summary.replicas.count == 1 || known.insert(value).inserted
            else {
                throw .malformed(.replica, at: start)
            }
            replicas.append(replica)
        }
        return replicas
    }

    private static func readRuns(
        _ block: Span<UInt8>,
        _ summary: BlockSummary
    ) throws(FormatError) -> [BlockRun] {
        var cursor = RunCursor(block, summary)
        var runs: [BlockRun] = []
        var last: [ReplicaID: UInt64] = [:]
        while let run = try cursor.next() {
            // B2: the sequences of one replica increase with position.
            runs.append(run)
            // One run, as most blocks have, needs no look at the others.
            guard summary.runCount > 1 else { break }
            guard run.firstSequence > last.updateValue(run.lastSequence, forKey: run.replica) ?? 0
            else { throw .malformed(.runs, at: Int(summary.runs.offset)) }
        }
        return runs
    }

    private static func readTypes(
        _ block: Span<UInt8>,
        _ summary: BlockSummary
    ) throws(FormatError) -> [TypeEntry] {
        var reader = ByteReader(block.raw, range: Int(summary.types.offset)..<block.count)
        var types: [TypeEntry] = []
        // A few are compared with each other directly.
        var known = summary.types.count > Self.fewTypesCount ? StringTable() : nil
        for _ in 0..<summary.types.count {
            let start = reader.offset
            let name = try reader.nextText()
            let version = Int(clamping: try reader.nextVarint())
            // As in the block: a length, the name, and the version.
            let isSeen = known?.contains(adding: block.extracting(start..<reader.offset))
            let entry = TypeEntry(
                name: Array(block, name),
                version: version,
                fingerprint: try reader.nextHash()
            )
            guard !(isSeen ?? types.contains(where: entry.isSameType)) else {
                throw .malformed(.types, at: start)
            }
            types.append(entry)
        }
        guard summary.isAuthority || !types.contains(where: { $0.isAuthority }) else {
            throw .malformed(.blockFlags, at: 6)
        }
        return types
    }

    private static let fewTypesCount = 16

    private static func readSaltNodes(
        _ block: Span<UInt8>,
        _ summary: BlockSummary,
        _ replicas: [ReplicaID]
    ) throws(FormatError) -> [SaltNode] {
        var reader = ByteReader(block.raw, range: Int(summary.saltNodes.offset)..<block.count)
        var nodes: [SaltNode] = []
        for _ in 0..<summary.saltNodes.count {
            let start = reader.offset
            let replica = try reader.nextVarint()
            let group = try reader.nextVarint()
            let level = Int(try reader.next(UInt8.self))
            let index = try reader.nextVarint()
            guard replica < UInt64(replicas.count), level <= SaltNode.levelMax,
                index < UInt64(1) << UInt64(level)
            else { throw .malformed(.saltNode, at: start) }
            nodes.append(
                SaltNode(
                    replica: replicas[Int(replica)],
                    group: group,
                    level: level,
                    index: Int(index),
                    value: try Salt(&reader)
                )
            )
        }
        return nodes
    }
}
