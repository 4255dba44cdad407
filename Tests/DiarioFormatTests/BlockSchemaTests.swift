import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioSchema
import Testing

/// A block has one schema for each version of a type: schema/format/blocks.md.
@Suite struct BlockSchemaTests {
    private static let other = """
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "probe.nothing.passed",
        "x-diario-version": 1, "type": "object", "additionalProperties": false, "properties": {
        "note": {"type": "string"}}}
        """
    private static let passed = #"{"type":"probe.nothing.passed","payload":{}}"#
    private static let made = #"{"type":"probe.thing.made","payload":{"anInteger":1}}"#

    /// A batch by the schemas that all tests use, or with another one for the type that passed.
    private func batch(_ lines: [String], isOther: Bool) throws -> DraftBatch {
        let schemas = [Fixtures.made, isOther ? Self.other : Fixtures.passed]
        return try Fixtures.batch(lines, catalog: TypeCatalog(schemas.map(Fixtures.type)))
    }

    private func block(_ batch: DraftBatch, from sequence: UInt64) throws -> [UInt8] {
        var builder = BlockBuilder()
        builder.append(
            batch,
            replica: try Fixtures.replica(1),
            firstSequence: sequence,
            clock: HybridTime(rawValue: sequence),
            base: 0
        )
        var block: [UInt8] = []
        builder.write(into: &block, position: nil, times: [], isAuthority: false)
        return block
    }

    /// Cuts the rows of blocks anew, at positions from 5 on if they are to have some.
    private func cut(_ blocks: [[UInt8]], hasPositions: Bool) throws -> [[UInt8]] {
        var cutter = BlockCutter()
        var cut: [[UInt8]] = []
        var position: UInt64 = 5
        for block in blocks {
            let head = try BlockHead.parse(block.span, verifyChecksum: true)
            var cursor = RowCursor(block.span, head.summary)
            while let row = try cursor.next() {
                let time = Timestamp(milliseconds: Int64(position))
                let (place, acceptedAt) = hasPositions ? (position, time) : (nil, nil)
                let type = head.types[row.typeIndex]
                let closed = try cutter.append(
                    row,
                    of: block.span,
                    type: type,
                    position: place,
                    acceptedAt: acceptedAt,
                    isAuthority: false,
                    node: nil
                )
                if let closed { cut.append(closed) }
                position += 1
            }
        }
        if let last = cutter.close() { cut.append(last) }
        return cut
    }

    @Test(arguments: [false, true]) func rowsUnderTwoSchemasStandInTwoBlocks(
        hasPositions: Bool
    ) throws {
        let blocks = [
            try block(try batch([Self.passed, Self.made], isOther: false), from: 1),
            // The event with the other schema is not the first of its batch.
            try block(try batch([Self.made, Self.passed], isOther: true), from: 3),
            try block(try batch([Self.passed], isOther: false), from: 5),
        ]
        let found = try cut(blocks, hasPositions: hasPositions)
        let heads = try found.map { try Block.check($0.span) }
        #expect(heads.map(\.summary.eventCount) == [2, 2, 1])
        #expect(heads.map { $0.runs.map(\.firstSequence) } == [[1], [3], [5]])
        if hasPositions {
            #expect(heads.map(\.summary.firstPosition) == [5, 7, 9])
            let times = heads.map { $0.times.map(\.acceptedAt.milliseconds) }
            #expect(times == [[5, 6], [7, 8], [9]])
        }
        for (block, head) in zip(blocks, heads) {
            let types = try Block.check(block.span).types
            #expect(Set(head.types) == Set(types))
        }
    }

    @Test func aBatchUnderAnotherSchemaHasNoRoom() throws {
        var builder = BlockBuilder()
        builder.append(
            try batch([Self.passed], isOther: false),
            replica: try Fixtures.replica(1),
            firstSequence: 1,
            clock: HybridTime(rawValue: 1),
            base: 0
        )
        let batches = [
            try batch([Self.made, Self.passed], isOther: true),
            try batch([Self.made, Self.passed], isOther: false),
            try batch([Self.made], isOther: true),
        ]
        var rooms: [Bool] = []
        for batch in batches { rooms.append(builder.hasRoom(for: batch)) }
        #expect(rooms == [false, true, true])
        let types = try batch([Self.passed], isOther: true).entries
        #expect(!builder.hasRoom(for: 100, 1, types))
        #expect(builder.hasRoom(for: 100, 1, []))
    }
}
