package import DiarioCore
package import DiarioCrypto

/// How far the events of a replica have come.
package struct ReplicaHead: Equatable, Sendable {
    package var sequence: UInt64
    package var clock: UInt64

    package init(sequence: UInt64, clock: UInt64) {
        self.sequence = sequence
        self.clock = clock
    }
}

/// An event that does not come after the one of its replica that came before it.
package enum OrderFault: Equatable, Sendable {
    case sequence(Origin, after: UInt64)
    case clock(Origin)

    package var message: String {
        switch self {
        case .sequence(let origin, let last):
            "sequence \(origin.sequence) of \(origin.replica.text) comes after \(last)"
        case .clock(let origin): "the clock of \(origin.text) does not go on"
        }
    }
}

extension SegmentRows {
    /// When an event was accepted, in milliseconds, if it has a position.
    package func acceptedAt(_ event: Int) -> Int64 { envelope.accepted[event] }

    /// The first of these events that breaks the order of its replica (B2), with its number; nil
    /// if none does, and `heads` then say how far all have come.
    package func outOfOrder(
        in events: Range<Int>,
        after heads: inout [ReplicaID: ReplicaHead]
    ) -> (event: Int, fault: OrderFault)? {
        let names = reader.index.replicas.map { $0.replica }
        // Numbers of 64 bits: no sequence and no clock is below zero as a signed one.
        var lastSequences = names.map { Int64(bitPattern: heads[$0]?.sequence ?? 0) }
        var lastClocks = names.map { heads[$0].map { Int64(bitPattern: $0.clock) } ?? -1 }
        let (replicas, sequences) = (envelope.replicas.span, envelope.sequences.span)
        let clocks = envelope.clocks.span
        for event in events {
            let number = Int(replicas[event])
            let (sequence, clock) = (sequences[event], clocks[event])
            let (lastSequence, lastClock) = (lastSequences[number], lastClocks[number])
            guard UInt64(bitPattern: sequence) > UInt64(bitPattern: lastSequence),
                clock > lastClock
            else {
                let last = UInt64(bitPattern: lastSequence)
                let origin = Origin(
                    replica: names[number],
                    sequence: UInt64(bitPattern: sequence)
                )
                let isClock = origin.sequence > last
                return (event, isClock ? .clock(origin) : .sequence(origin, after: last))
            }
            lastSequences[number] = sequence
            lastClocks[number] = clock
        }
        for (number, name) in names.enumerated() where lastClocks[number] >= 0 {
            heads[name] = ReplicaHead(
                sequence: UInt64(bitPattern: lastSequences[number]),
                clock: UInt64(bitPattern: lastClocks[number])
            )
        }
        return nil
    }

    /// Appends the leaves of these events, of a segment with positions, to `leaves`.
    ///
    /// `salt` gives the node from which the salt of an event comes; without one, this throws.
    package mutating func appendLeaves(
        of events: Range<Int>,
        _ hasher: inout EventHasher,
        to leaves: inout [Hash32],
        salt: (ReplicaID, UInt64) -> SaltNode?
    ) throws(SegmentError) {
        let rows = try rows(in: events)
        var starts = ByteStrings()
        for type in reader.index.types {
            let entry = type.entry
            starts.append(CanonicalRow.typeStart(entry.name.span, version: entry.version))
        }
        let (content, heads) = (bytes.span, starts.bytes.span.raw)
        for row in rows {
            let event = row.event
            var size = event.publicPart.count
            var commitment: Hash32?
            switch event.personal {
            case .absent: break
            case .erased(let range): commitment = Hash32(content.extracting(range))
            case .present(let range):
                size += range.count
                guard let node = salt(event.replica, event.sequence),
                    node.covers(SaltSeed.index(of: event.sequence))
                else { throw Self.fault(.saltNode) }
                let salt = hasher.salt(node, index: SaltSeed.index(of: event.sequence))
                commitment = hasher.commitment(content.raw.extracting(range), salt: salt)
            }
            // Only what is about as large as can be is looked at closely.
            if size > Limits.eventSizeMax { try check(row, content) }
            let hash = hasher.eventHash(
                typeStart: heads.extracting(starts.range(row.typeIndex)),
                replica: event.replica,
                sequence: event.sequence,
                publicPart: content.raw.extracting(event.publicPart),
                commitment: commitment
            )
            guard let acceptedAt = event.acceptedAt else { throw Self.fault(.acceptedTimes) }
            leaves.append(hasher.leaf(hash, acceptedAt: acceptedAt.milliseconds))
        }
    }

    /// Throws if an event is larger than it may be.
    private func check(_ row: SegmentRow, _ content: Span<UInt8>) throws(SegmentError) {
        do throws(FormatError) { _ = try PublicPart.parse(content, BlockRow(row)) } catch {
            throw Self.fault(.row)
        }
    }

    private static func fault(_ part: FormatPart) -> SegmentError {
        .fault(
            SegmentFault(file: .sidecar, block: nil, offset: 0, reason: .malformed(part, at: 0))
        )
    }
}
