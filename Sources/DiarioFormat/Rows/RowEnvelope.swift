package import DiarioCore

/// The part of a row's envelope that every row has: all but type, flags, actor and subject.
package struct RowEnvelope: Equatable, Sendable {
    package var replica: ReplicaID
    /// From 1.
    package var sequence: UInt64
    /// The sequence of the first event of the batch.
    package var batchFirst: UInt64
    /// Events in the batch, from 1.
    package var batchCount: Int
    package var clock: HybridTime
    /// When the author says it happened: in the years 1 to 9999.
    package var at: Timestamp
    /// The highest position that the author had applied.
    package var base: UInt64

    package init(
        replica: ReplicaID,
        sequence: UInt64,
        batchFirst: UInt64,
        batchCount: Int,
        clock: HybridTime,
        at: Timestamp,
        base: UInt64
    ) {
        self.replica = replica
        self.sequence = sequence
        self.batchFirst = batchFirst
        self.batchCount = batchCount
        self.clock = clock
        self.at = at
        self.base = base
    }

    package var origin: Origin { Origin(replica: replica, sequence: sequence) }

    /// The batch ends with this event.
    package var isLastOfBatch: Bool { sequence - batchFirst == UInt64(batchCount) - 1 }

    /// `next` is the next event of the same batch.
    package func isFollowed(by next: RowEnvelope) -> Bool {
        next.replica == replica && next.batchFirst == batchFirst && next.batchCount == batchCount
            && next.sequence == sequence + 1
    }

    /// `at` minus the milliseconds of the clock, as a row holds it.
    ///
    /// Wraps around at 64 bits, as adding it again does; times that a row may have are far from it.
    var atOffset: Int64 { at.milliseconds &- clock.milliseconds }
}

/// The flags of a row: schema/format/rows.md, section 4.
package struct RowFlags: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The field marked "new" holds the event's own origin.
    package static let derived = RowFlags(rawValue: 1)
    /// Refuse if another replica wrote to the subject after the base.
    package static let ifUnchanged = RowFlags(rawValue: 2)
    /// An actor follows.
    package static let actor = RowFlags(rawValue: 4)
    /// A subject follows.
    package static let subject = RowFlags(rawValue: 8)
    /// A personal part exists, or existed before it was erased.
    package static let personal = RowFlags(rawValue: 16)

    static let all = RowFlags(rawValue: 31)
}

/// The public part of a row, taken apart; places count from the start of what it was read from.
package struct PublicPart: Equatable, Sendable {
    package let envelope: RowEnvelope
    package let flags: RowFlags
    package let actor: Range<Int>?
    /// The row's own subject; a type with a subject field has none here.
    package let subject: Range<Int>?
    package let payload: Range<Int>
    /// Bytes that count towards the limit of an event: from the flags on, and the personal part.
    package let size: Int

    /// Two numbers of the batch, the clock, `at`, the base and the flags.
    static let sizeMin = 13
    /// The bytes in front of the flags: at most 2 + 2 + 8 + 10 + 10.
    static let prefixSizeMax = 32
    /// Bytes from the flags on count towards the size of an event.
    static let sizeMax = Limits.eventSizeMax + prefixSizeMax

    /// Reads the public part of a row of `block`.
    package static func parse(
        _ block: Span<UInt8>,
        _ row: BlockRow
    ) throws(FormatError) -> PublicPart {
        try parse(
            block,
            row.publicPart,
            origin: row.origin,
            personalSize: row.personal.size
        )
    }

    /// Reads a public part that lies at `range`; `personalSize` is zero if there is no other part.
    package static func parse(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        origin: Origin,
        personalSize: Int
    ) throws(FormatError) -> PublicPart {
        var reader = ByteReader(bytes.raw, range: range)
        let batchOffset = try reader.nextVarint()
        let batchCount = try reader.nextVarint()
        guard batchCount <= Limits.batchCountMax, batchOffset < batchCount,
            batchOffset < origin.sequence
        else { throw .malformed(.batch, at: range.lowerBound) }
        let clockOffset = reader.offset
        let clock = HybridTime(rawValue: try reader.next(UInt64.self))
        guard clock.rawValue >> 63 == 0 else { throw .malformed(.clock, at: clockOffset) }
        let atStart = reader.offset
        let at = Timestamp(milliseconds: clock.milliseconds &+ (try reader.nextZigzag()))
        guard CivilTime.contains(at) else { throw .malformed(.time, at: atStart) }
        let base = try reader.nextVarint()
        let start = reader.offset
        let flags = RowFlags(rawValue: try reader.next(UInt8.self))
        guard flags.isSubset(of: .all), flags.contains(.personal) == (personalSize > 0) else {
            throw .malformed(.rowFlags, at: start)
        }
        let size = range.upperBound - start + personalSize
        guard size <= Limits.eventSizeMax else {
            throw .tooLarge(.row, size: UInt64(size), max: Limits.eventSizeMax)
        }
        let actor = try nextText(
            &reader,
            flags.contains(.actor),
            max: Limits.actorSizeMax,
            .actor
        )
        let subject = try nextText(
            &reader,
            flags.contains(.subject),
            max: Limits.subjectSizeMax,
            .subject
        )
        let envelope = RowEnvelope(
            replica: origin.replica,
            sequence: origin.sequence,
            batchFirst: origin.sequence - batchOffset,
            batchCount: Int(batchCount),
            clock: clock,
            at: at,
            base: base
        )
        return PublicPart(
            envelope: envelope,
            flags: flags,
            actor: actor,
            subject: subject,
            payload: reader.offset..<range.upperBound,
            size: size
        )
    }

    private static func nextText(
        _ reader: inout ByteReader,
        _ isPresent: Bool,
        max: Int,
        _ part: FormatPart
    ) throws(FormatError) -> Range<Int>? {
        guard isPresent else { return nil }
        let start = reader.offset
        let range = try reader.nextText()
        guard 1...max ~= range.count else { throw .malformed(part, at: start) }
        return range
    }
}
