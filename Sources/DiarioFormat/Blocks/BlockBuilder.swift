package import DiarioCore
import DiarioCrypto

/// Gathers rows of one space for a block; made once and used again from block to block.
///
/// The caller keeps to the limits: it asks `size` and begins another block in time.
package struct BlockBuilder: Sendable {
    package private(set) var eventCount = 0
    var rows: [UInt8] = []
    var runs: [Run] = []
    var replicas: [UInt64] = []
    package internal(set) var types: [TypeEntry] = []
    package internal(set) var saltNodes: [SaltNode] = []
    private var clock: UInt64 = 0
    /// An upper bound of the bytes before the rows.
    private var headSize = Self.headSizeMin
    /// For the types of the current batch, their index in `types`.
    var typeIndices: [Int32] = []
    /// The types of drafts, with their index in `types`.
    var seenTypes = ObjectIndices<KnownType>()

    struct Run: Equatable, Sendable {
        var replicaIndex: Int
        var first: UInt64
        var count: UInt64
    }

    /// Header, clock, position, one time, and the five counts of lists.
    private static let headSizeMin = BlockHeader.size + 8 + 10 + 20 + 5 * 3
    static let runSizeMax = 3 + Varint.sizeMax + 3
    static let saltNodeSizeMax = 3 + Varint.sizeMax + 1 + 2 + Salt.size
    /// Bytes of one more time than the one that is always reckoned with.
    package static let acceptedRunSizeMax = 3 + Varint.sizeMax

    package init() {}

    package var isEmpty: Bool { eventCount == 0 }

    /// At least the bytes that `write` appends, if all events are accepted at one time.
    package var size: Int { headSize + rows.count }

    /// The highest clock of the rows.
    package var highestClock: HybridTime { HybridTime(rawValue: clock) }

    /// The rows as one run of one replica; nil if they are several.
    package var onlyRun: BlockRun? {
        guard runs.count == 1, let run = runs.first,
            let replica = ReplicaID(rawValue: replicas[run.replicaIndex])
        else { return nil }
        return BlockRun(replica: replica, firstSequence: run.first, count: run.count)
    }

    /// True if a block of these rows, those of the batch and `frill` more bytes stays within the
    /// limits, with one schema for each version of a type.
    package mutating func hasRoom(for batch: DraftBatch, frill: Int = 0) -> Bool {
        let contents = batch.contents
        guard size + contents[0].sizeInBlockMax + frill <= Limits.blockSizeMax,
            eventCount + contents[0].events.count <= Limits.blockCountMax
        else { return false }
        for place in 0..<contents[0].typeCount {
            let known = contents[0].listed(place)
            // Mostly the very object was seen before.
            guard seenTypes.find(known) != nil || agrees(with: known.entry) else { return false }
        }
        return true
    }

    /// True if a block of these rows and those of another block, with these types, stays within the
    /// limits, with one schema for each version of a type.
    package func hasRoom(for block: Int, _ count: Int, _ types: [TypeEntry]) -> Bool {
        size + block <= Limits.blockSizeMax && eventCount + count <= Limits.blockCountMax
            && types.allSatisfy(agrees)
    }

    /// True if the block can list a type: it has one schema for each version.
    package func agrees(with type: TypeEntry) -> Bool {
        types.first(where: type.isSameType).map { $0.fingerprint == type.fingerprint } ?? true
    }

    /// Forgets all rows and keeps the memory.
    package mutating func removeAll() {
        eventCount = 0
        rows.removeAll(keepingCapacity: true)
        runs.removeAll(keepingCapacity: true)
        replicas.removeAll(keepingCapacity: true)
        while types.popLast() != nil {}
        seenTypes.removeAll()
        if !saltNodes.isEmpty { saltNodes.removeAll(keepingCapacity: true) }
        clock = 0
        headSize = Self.headSizeMin
    }

    /// Adds a node from which readers of the block derive salts; the block is then salted.
    package mutating func append(_ node: SaltNode) {
        saltNodes.append(node)
        _ = index(of: node.replica)
        headSize += Self.saltNodeSizeMax
    }

    /// The index of a type in the block, which lists it from now on.
    ///
    /// Callers whose rows may have two schemas check `agrees` first.
    mutating func index(of type: TypeEntry) -> Int32 {
        if let index = types.firstIndex(where: type.isSameType) {
            precondition(
                types[index].fingerprint == type.fingerprint,
                "a block has one schema for each version of a type"
            )
            return Int32(index)
        }
        types.append(type)
        headSize += type.size
        return Int32(types.count - 1)
    }

    /// Notes `count` events that were written to the rows.
    mutating func note(
        replica: ReplicaID,
        firstSequence: UInt64,
        count: Int,
        lastClock: UInt64
    ) {
        precondition(lastClock >> 63 == 0, "a clock has 63 bits")
        precondition(
            firstSequence >= 1 && firstSequence <= UInt64.max - UInt64(count),
            "a sequence counts from 1 and does not run out"
        )
        eventCount += count
        clock = max(clock, lastClock)
        let index = index(of: replica)
        if let last = runs.indices.last, runs[last].replicaIndex == index,
            runs[last].first + runs[last].count == firstSequence
        {
            runs[last].count += UInt64(count)
        } else {
            runs.append(Run(replicaIndex: index, first: firstSequence, count: UInt64(count)))
            headSize += Self.runSizeMax
        }
    }

    private mutating func index(of replica: ReplicaID) -> Int {
        // Mostly the one that wrote last.
        if let index = replicas.lastIndex(of: replica.rawValue) { return index }
        replicas.append(replica.rawValue)
        headSize += 8
        return replicas.count - 1
    }

    /// Appends the block to `output`: events from `position` on, or pending ones if it is nil.
    ///
    /// `times` says when how many events were accepted, in order; none for pending ones.
    /// `isAuthority` says that an authority wrote all of the events; else it wrote none.
    package func write(
        into output: inout [UInt8],
        position: UInt64?,
        times: [AcceptedRun],
        isAuthority: Bool
    ) {
        precondition(!isEmpty, "a block has at least one event")
        if position == nil {
            precondition(runs.count == 1, "pending events are one run of one replica")
        }
        precondition(times.isEmpty == (position == nil), "positioned events alone have times")
        precondition(
            isAuthority || !types.contains(where: { $0.isAuthority }),
            "events of the pack engine stand in the authority's blocks"
        )
        var flags: BlockFlags = position == nil ? [] : .positioned
        if !saltNodes.isEmpty { flags.insert(.salted) }
        if isAuthority { flags.insert(.authority) }
        checkTimes(times)
        let start = output.count
        let room = size + times.count * Self.acceptedRunSizeMax
        output.append(addingCapacity: room) { output in
            // The header follows when it can be known.
            output.append(repeating: 0, count: BlockHeader.size)
            writeHead(into: &output, position: position, times: times)
            output.append(contentsOf: rows.span.raw)
        }
        let bodySize = output.count - start - BlockHeader.size
        precondition(bodySize <= Limits.blockSizeMax, "the caller begins another block in time")
        BlockHeader(
            compression: .none,
            flags: flags,
            eventCount: eventCount,
            bodySize: bodySize,
            storedSize: bodySize
        ).seal(&output, from: start)
    }

    private func writeHead(
        into output: inout OutputSpan<UInt8>,
        position: UInt64?,
        times: [AcceptedRun]
    ) {
        output.append(littleEndian: clock)
        if let position {
            precondition(
                position >= 1 && position <= UInt64.max - UInt64(eventCount),
                "a position counts from 1 and does not run out"
            )
            output.append(varint: position)
            output.append(varint: UInt64(times.count))
            var last: Int64 = 0
            for time in times {
                output.append(varint: UInt64(time.count))
                output.append(zigzag: time.acceptedAt.milliseconds &- last)
                last = time.acceptedAt.milliseconds
            }
        }
        output.append(varint: UInt64(replicas.count))
        for replica in replicas { output.append(littleEndian: replica) }
        output.append(varint: UInt64(runs.count))
        for run in runs {
            output.append(varint: UInt64(run.replicaIndex))
            output.append(varint: run.first)
            output.append(varint: run.count)
        }
        output.append(varint: UInt64(types.count))
        for type in types {
            let name = type.name
            output.append(counted: name.span.raw)
            output.append(varint: UInt64(type.version))
            output.append(type.fingerprint)
        }
        guard !saltNodes.isEmpty else { return }
        output.append(varint: UInt64(saltNodes.count))
        for node in saltNodes {
            let index = replicas.firstIndex(of: node.replica.rawValue)
            output.append(varint: UInt64(index ?? 0))
            output.append(varint: node.group)
            output.append(UInt8(node.level))
            output.append(varint: UInt64(node.index))
            output.append(littleEndian: node.value.first)
            output.append(littleEndian: node.value.second)
        }
    }

    /// B3, and one time for each event.
    private func checkTimes(_ times: [AcceptedRun]) {
        guard !times.isEmpty else { return }
        var rest = eventCount
        var last = times[0].acceptedAt
        for time in times {
            precondition(time.acceptedAt >= last, "B3: acceptedAt never decreases")
            precondition(time.count >= 1 && time.count <= rest, "each time has events")
            rest -= time.count
            last = time.acceptedAt
        }
        precondition(rest == 0, "each positioned event has a time")
    }
}
