import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioSchema

/// Blocks of each shape, small enough to be looked at byte by byte.
struct SampleBlocks {
    let catalog: TypeCatalog
    let replicaA: ReplicaID
    let replicaB: ReplicaID
    private let clock = HybridTime(milliseconds: 1_795_000_000_000, counter: 7)

    init() throws {
        catalog = try Fixtures.catalog()
        replicaA = try Fixtures.replica(0x1111_2222_3333_4444)
        replicaB = try Fixtures.replica(0xffff_eeee_dddd_cccc)
    }

    private func batch(_ lines: [String]) throws -> DraftBatch {
        try Fixtures.batch(lines, catalog: catalog)
    }

    /// Each with what it shows, in no need of more than one look.
    func all() throws -> [(shows: String, block: [UInt8])] {
        [
            ("one pending event", try onePending()),
            ("two pending batches, one with references to its own events", try pendingBatches()),
            ("one event with a position", try onePositioned()),
            ("two replicas, three runs, two times, two types", try mixed()),
            ("an authority's events", try authority()),
            ("a personal part, an erased one, and none", try personal()),
            ("salted, for an event and for a group without one", try salted()),
            ("the highest positions and times", try last()),
        ]
    }

    func onePending() throws -> [UInt8] {
        var builder = BlockBuilder()
        builder.append(
            try batch([#"{"type":"probe.nothing.passed","payload":{}}"#]),
            replica: replicaA,
            firstSequence: 17,
            clock: clock,
            base: 0
        )
        return builder.block()
    }

    func pendingBatches() throws -> [UInt8] {
        let first = try batch([
            #"{"type":"probe.thing.made","payload":{}}"#,
            ##"{"type":"probe.thing.made","payload":{"id":"given","parent":"#1"}}"##,
            ##"{"type":"probe.thing.told","payload":{"pThing":"#1"},"subject":"s","actor":"a"}"##,
            ##"{"type":"probe.thing.made","payload":{"parent":"#2","anInteger":5}}"##,
        ])
        let second = try batch([#"{"type":"probe.thing.told","payload":{"open":3}}"#])
        var builder = BlockBuilder()
        builder.append(first, replica: replicaA, firstSequence: 9, clock: clock, base: 300)
        builder.append(
            second,
            replica: replicaA,
            firstSequence: 13,
            clock: HybridTime(rawValue: clock.rawValue + 4),
            base: 300
        )
        return builder.block()
    }

    func onePositioned() throws -> [UInt8] {
        var builder = BlockBuilder()
        builder.append(
            try batch([#"{"type":"probe.thing.made","payload":{"aString":"x"}}"#]),
            replica: replicaA,
            firstSequence: 1,
            clock: clock,
            base: 0
        )
        return builder.block(position: 1, acceptedAt: 1_795_000_000_100)
    }

    func mixed() throws -> [UInt8] {
        let passed = try batch([#"{"type":"probe.nothing.passed","payload":{}}"#])
        let made = try batch([
            #"{"type":"probe.thing.made","payload":{"anInteger":1}}"#,
            #"{"type":"probe.nothing.passed","payload":{}}"#,
        ])
        var builder = BlockBuilder()
        builder.append(passed, replica: replicaA, firstSequence: 4, clock: clock, base: 1)
        builder.append(made, replica: replicaB, firstSequence: 2, clock: clock, base: 2)
        builder.append(passed, replica: replicaA, firstSequence: 5, clock: clock, base: 200)
        var output: [UInt8] = []
        builder.write(
            into: &output,
            position: 400,
            times: [
                AcceptedRun(count: 1, acceptedAt: Timestamp(milliseconds: 1_795_000_000_500)),
                AcceptedRun(count: 3, acceptedAt: Timestamp(milliseconds: 1_795_000_000_501)),
            ],
            isAuthority: false
        )
        return output
    }

    func authority() throws -> [UInt8] {
        let ruled = #"{"type":"engine.probe.ruled","payload":{"reason":"r"}}"#
        var builder = BlockBuilder()
        builder.append(
            try batch([ruled, #"{"type":"probe.nothing.passed","payload":{}}"#]),
            replica: replicaB,
            firstSequence: 1,
            clock: clock,
            base: 0
        )
        return builder.block(position: 12, acceptedAt: 0)
    }

    func personal() throws -> [UInt8] {
        let told = try batch([
            #"{"type":"probe.thing.told","payload":{"pString":"kept"}}"#,
            #"{"type":"probe.thing.told","payload":{"open":1,"pInteger":2}}"#,
            #"{"type":"probe.thing.told","payload":{"open":4}}"#,
        ])
        var builder = BlockBuilder()
        builder.append(told, replica: replicaA, firstSequence: 1, clock: clock, base: 0)
        return try erasing(sequence: 2, of: builder.block(position: 7, acceptedAt: -5))
    }

    func salted() throws -> [UInt8] {
        var builder = BlockBuilder()
        builder.append(
            try batch([#"{"type":"probe.thing.told","payload":{"pString":"kept"}}"#]),
            replica: replicaA,
            firstSequence: 1030,
            clock: clock,
            base: 0
        )
        builder.append(
            SaltNode(
                replica: replicaA,
                group: 1,
                level: 0,
                index: 0,
                value: Salt(first: 0x0706_0504_0302_0100, second: 0x0f0e_0d0c_0b0a_0908)
            )
        )
        builder.append(
            SaltNode(
                replica: replicaB,
                group: 5,
                level: 10,
                index: 1023,
                value: Salt(first: .max, second: 0)
            )
        )
        return builder.block(position: 5000, acceptedAt: 1_795_000_000_000)
    }

    /// A block that compression makes smaller.
    func repetitive() throws -> [UInt8] {
        let value = String(repeating: "again and ", count: 40)
        let text = #"{"type":"probe.thing.made","payload":{"aString":"\#(value)"}}"#
        var builder = BlockBuilder()
        builder.append(
            try batch([text, text]),
            replica: replicaA,
            firstSequence: 1,
            clock: HybridTime(rawValue: 1),
            base: 0
        )
        return builder.block(position: 1, acceptedAt: 3)
    }

    func last() throws -> [UInt8] {
        let passed = try batch([#"{"type":"probe.nothing.passed","payload":{}}"#])
        var builder = BlockBuilder()
        builder.append(
            passed,
            replica: replicaB,
            firstSequence: .max - 1,
            clock: HybridTime(milliseconds: HybridTime.millisecondsMax, counter: .max),
            base: .max
        )
        return builder.block(position: .max - 1, acceptedAt: CivilTime.millisecondsMax)
    }

    /// The same block with a commitment in the place of a personal part.
    private func erasing(sequence: UInt64, of block: [UInt8]) throws -> [UInt8] {
        let head = try BlockHead.parse(block.span, verifyChecksum: true)
        var cursor = RowCursor(block.span, head.summary)
        var builder = BlockBuilder()
        while let row = try cursor.next() {
            let commitment = SHA256.hash(Array("a commitment".utf8).span)
            try builder.append(
                row,
                of: block.span,
                type: head.types[row.typeIndex],
                erased: row.sequence == sequence ? commitment : nil
            )
        }
        var output: [UInt8] = []
        builder.write(
            into: &output,
            position: head.summary.firstPosition,
            times: head.times,
            isAuthority: false
        )
        return output
    }
}
