import DiarioCore
import DiarioFormat
import DiarioSchema
import DiarioZstd

/// Reads a segment, or its sidecar, in which some bytes were changed, checksums left aside.
///
/// The input is a list of changes, three bytes each: where, in two bytes, and to what. So every
/// input comes as far as the columns, which a random file never would.
enum SegmentSubject {
    private static let schema = #"""
        {"title":"a.b","x-diario-version":1,"x-diario-subject":"id","type":"object",
         "additionalProperties":false,"properties":{
          "id":{"type":"string","maxLength":64,"x-diario-id":"new"},
          "n":{"type":"integer"},"x":{"type":"number"},"d":{"type":"string","format":"date"},
          "w":{"type":"string","format":"date-time"},"u":{"type":"string","format":"uuid"},
          "e":{"enum":["p","q"]},"r":{"type":"string","x-diario-id":"b"},
          "s":{"type":"string","x-diario-personal":true},
          "m":{"type":"integer","x-diario-personal":true},
          "o":{"type":"array","items":{"type":"string"}}}}
        """#

    private static let base: SealedSegment? = try? makeBase()

    static func run(_ input: [UInt8], _ file: SegmentFile) {
        guard var sealed = base else {
            preconditionFailure("a small segment can be made in memory")
        }
        switch file {
        case .segment: change(&sealed.segment, by: input)
        case .sidecar: change(&sealed.sidecar, by: input)
        }
        try? read(sealed)
        try? readPart(sealed)
        var unpacker = BlockUnpacker()
        let columns = sealed.segment + sealed.sidecar
        _ = try? unpacker.unpackAll(columns, checksums: .ignored)
    }

    /// As `run`, but of the index behind its compression.
    static func runIndex(_ input: [UInt8]) {
        guard var sealed = plain else { preconditionFailure("an index is decompressed") }
        var header = Array(sealed.segment.prefix(SegmentHeader.size))
        var rest = Array(sealed.segment.dropFirst(SegmentHeader.size))
        change(&rest, by: input)
        header += rest
        sealed.segment = header
        try? read(sealed)
    }

    private static func change(_ bytes: inout [UInt8], by input: [UInt8]) {
        var offset = 0
        while offset + 3 <= input.count {
            let place = Int(input[offset]) | Int(input[offset + 1]) << 8
            if place < bytes.count { bytes[place] = input[offset + 2] }
            offset += 3
        }
    }

    /// The same segment with an index that is stored as it is.
    private static let plain: SealedSegment? = {
        guard var sealed = base else { return nil }
        let bytes = sealed.segment
        let (size, stored) = (bytes.number(at: 12, 4), bytes.number(at: 32, 4))
        guard bytes[5] == 1, var decompressor = try? Decompressor() else { return sealed }
        let start = SegmentHeader.size
        var index: [UInt8] = []
        let compressed = bytes.span.extracting(start..<start + stored)
        guard (try? decompressor.decompress(compressed, size: size, into: &index)) != nil else {
            return nil
        }
        sealed.segment.replaceSubrange(start..<start + stored, with: index)
        sealed.segment[5] = 0
        sealed.segment.set(size, at: 32, 4)
        sealed.segment.set(sealed.segment.count, at: 24, 8)
        return sealed
    }()

    /// Asks for everything, and seals again what can be read.
    private static func read(_ sealed: SealedSegment) throws {
        let reader = try SegmentReader(
            SegmentMemory(.segment, sealed.segment),
            sidecar: SegmentMemory(.sidecar, sealed.sidecar),
            checksums: .ignored
        )
        var rows = try SegmentRows(reader)
        _ = try? rows.reader.saltNodes()
        for type in rows.reader.index.types.indices {
            _ = try? rows.reader.mayContain([0x61].span, type: type)
            _ = try? rows.reader.schema(type)
        }
        let types = try rows.reader.eventTypes()
        while let row = try rows.next() {
            let personalSize =
                switch row.event.personal {
                case .absent: 0
                case .erased: 1
                case .present(let range): range.count
                }
            _ = try PublicPart.parse(
                rows.bytes.span,
                row.event.publicPart,
                origin: Origin(replica: row.event.replica, sequence: row.event.sequence),
                personalSize: personalSize
            )
            precondition(types.indices ~= row.typeIndex, "a row has a type of the segment")
        }
    }

    /// Asks for a few events alone.
    private static func readPart(_ sealed: SealedSegment) throws {
        let reader = try SegmentReader(
            SegmentMemory(.segment, sealed.segment),
            sidecar: SegmentMemory(.sidecar, sealed.sidecar),
            checksums: .ignored
        )
        let count = reader.header.eventCount
        var rows = try SegmentRows(reader)
        _ = try rows.rows(in: count / 2..<min(count / 2 + 10, count))
    }

    private static func makeBase() throws -> SealedSegment {
        var budget = PatternBudget()
        let type = try EventType(
            schema: Array(schema.utf8),
            file: "events/b.1.json",
            budget: &budget
        )
        guard let replica = ReplicaID(rawValue: 7) else {
            preconditionFailure("the number is not zero")
        }
        let catalog = try TypeCatalog([type])
        var reader = EventLineReader(catalog: catalog, options: [.exportKeys])
        var line = EventLine()
        var builder = SegmentBuilder(firstPosition: 1)
        for number in 1...200 {
            let digits = String(UInt64(number) &* 0x9e37_79b9_7f4a_7c15 | 1 << 63, radix: 16)
            var text = #"{"type":"a.b","payload":{"n":\#(number % 7),"e":"p","x":\#(number).5"#
            if number % 2 == 0 { text += #","id":"\#(digits)""# }
            if number % 3 == 0 { text += #","s":"one, two, three","m":4,"d":"2025-01-01""# }
            if number % 5 == 0 { text += #","r":"0000000000007-\#(number - 1)","o":["a"]"# }
            if number % 4 == 0 {
                text += #","u":"00000000-0000-4000-8000-000000000\#(100 + number)""#
            }
            text += #"},"at":"2025-01-01T00:00:00.\#(100 + number)Z","actor":"me"}"#
            let bytes = Array(text.utf8)
            try reader.read(bytes.span, into: &line)
            var batch = DraftBatch()
            try batch.append(line)
            var block = BlockBuilder()
            block.append(
                batch,
                replica: replica,
                firstSequence: UInt64(number),
                clock: HybridTime(milliseconds: Int64(number), counter: 0),
                base: 0
            )
            var written: [UInt8] = []
            let time = Timestamp(milliseconds: Int64(number))
            block.write(
                into: &written,
                position: UInt64(number),
                times: [AcceptedRun(count: 1, acceptedAt: time)],
                isAuthority: false
            )
            let summary = try BlockSummary.parse(written.span, verifyChecksum: false)
            var cursor = RowCursor(written.span, summary)
            while let row = try cursor.next() {
                try builder.append(
                    SegmentEvent(row, isAuthority: false),
                    of: written.span,
                    type: type
                )
            }
        }
        let root = Salt(first: 1, second: 2)
        builder.append(SaltSeed(replica: replica, group: 0, root: root).node)
        var plan = SegmentPlan()
        return try builder.finish(&plan)
    }
}

extension [UInt8] {
    fileprivate func number(at offset: Int, _ size: Int) -> Int {
        (0..<size).reduce(0) { $0 | Int(self[offset + $1]) << (8 * $1) }
    }

    fileprivate mutating func set(_ number: Int, at offset: Int, _ size: Int) {
        for index in 0..<size {
            self[offset + index] = UInt8(truncatingIfNeeded: number >> (8 * index))
        }
    }
}
