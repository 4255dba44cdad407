import DiarioCore
import DiarioFormat
import DiarioSchema
import Testing

/// Times outside the years 1 to 9999 cannot be written out: bytes that say such a time were taken,
/// and trapped whoever showed their events (schema/format/rows.md, R2).
@Suite struct TimeBoundsTests {
    private static let kept = [
        CivilTime.millisecondsMin, -1, 0, 1_795_000_000_000, CivilTime.millisecondsMax,
    ]
    private static let refused = [
        .min, CivilTime.millisecondsMin - 1, CivilTime.millisecondsMax + 1, 1 << 48 - 1, .max,
    ]

    private func part(at: Int64, _ clock: HybridTime) throws -> PublicPart {
        var bytes: [UInt8] = [0, 1]
        bytes.append(littleEndian: clock.rawValue)
        bytes.append(zigzag: at &- clock.milliseconds)
        bytes += [0, 0]
        let origin = Origin(replica: try Fixtures.replica(7), sequence: 1)
        return try PublicPart.parse(
            bytes.span,
            bytes.indices,
            origin: origin,
            personalSize: 0
        )
    }

    @Test(arguments: [
        HybridTime(rawValue: 0), HybridTime(milliseconds: 1_795_000_000_000, counter: 3),
        HybridTime(milliseconds: HybridTime.millisecondsMax, counter: .max),
    ])
    func aRowHasATimeOfTheCalendar(clock: HybridTime) throws {
        for time in Self.kept {
            #expect(try part(at: time, clock).envelope.at.milliseconds == time)
        }
        for time in Self.refused {
            #expect(throws: FormatError.malformed(.time, at: 10), "\(time)") {
                try part(at: time, clock)
            }
        }
    }

    @Test func aSegmentHasTimesOfTheCalendar() throws {
        let sample = try ColumnsSample(seed: 3, count: 10)
        for time in Self.kept {
            let index = try sealed(sample, acceptedAt: time).reader().index
            #expect(index.acceptedAt == time...time)
        }
        for time in Self.refused {
            let sealed = try sealed(sample, acceptedAt: time)
            let error = #expect(throws: SegmentError.self, "\(time)") { _ = try sealed.reader() }
            guard case .fault(let fault) = error, case .malformed(.acceptedTimes, _) = fault.reason
            else {
                Issue.record("\(time): \(String(describing: error))")
                continue
            }
        }
    }

    /// A segment of one event of a sample, which was accepted at a time that no writer takes.
    private func sealed(_ sample: ColumnsSample, acceptedAt: Int64) throws -> SealedSegment {
        let row = try #require(sample.rows.first { $0.personalPart == nil })
        var builder = SegmentBuilder(firstPosition: 1)
        try builder.append(
            SegmentEvent(
                replica: row.replica,
                sequence: row.sequence,
                acceptedAt: Timestamp(milliseconds: acceptedAt),
                isAuthority: row.isAuthority,
                publicPart: row.publicPart.indices,
                personal: .absent
            ),
            of: row.publicPart.span,
            type: sample.types[row.type]
        )
        var plan = SegmentPlan()
        return try builder.finish(&plan)
    }

    /// An app may say any time.
    @Test func anEventIsNotRecordedWithAnotherTime() throws {
        let type = try Fixtures.type(Fixtures.made)
        var payload = Payload()
        payload.reset(fieldCount: type.fields.count)
        var batch = DraftBatch()
        for time in Self.refused {
            #expect(throws: FormatError.invalidTime(milliseconds: time)) {
                try batch.append(payload, type: type, at: Timestamp(milliseconds: time))
            }
        }
        #expect(batch.isEmpty && batch.size == 0)
        for time in Self.kept {
            try batch.append(payload, type: type, at: Timestamp(milliseconds: time))
        }
        #expect(batch.events.map(\.atMilliseconds) == Self.kept)
    }
}
