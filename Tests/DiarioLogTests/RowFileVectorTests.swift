import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioStorage
import DiarioTestSupport
import Testing

/// Golden row files and records of moved rows: schema/vectors/layout-2.json.
@Suite struct RowFileVectorTests {
    struct Vectors: Codable, Equatable {
        let comment: String
        let moved: [Sample]
        let rowFiles: [Sample]
    }

    struct Sample: Codable, Equatable {
        let shows: String
        let bytes: String
        let holds: [String]
    }

    private static let comment =
        "schema/format/log.md, section 8. moved: the content of a record of kind 9, and what it "
        + "holds: row file, offset, size, first position, count, events of the block before. "
        + "rowFiles: a row file and what it holds: its number, then of each block space, offset, "
        + "size, first position and count. Bytes are hexadecimal, ids 13 characters."

    @Test func goldenFilesAreReadAndWritten() throws {
        let vectors = try VectorFile.load("layout-2.json", make: Self.make)
        #expect(vectors.moved.count == 2)
        for sample in vectors.moved {
            let bytes = try Hex.bytes(sample.bytes)
            let read = MovedRows(bytes.span)
            let rows = try #require(read, "\(sample.shows)")
            #expect(Self.lines(rows) == sample.holds, "\(sample.shows)")
            var written: [UInt8] = []
            rows.append(to: &written)
            #expect(written == bytes, "\(sample.shows)")
        }
        #expect(vectors.rowFiles.count == 1)
        for sample in vectors.rowFiles {
            let bytes = try Hex.bytes(sample.bytes)
            let found = try Self.lines(bytes, number: 0x0102_0304)
            #expect(found == sample.holds)
            #expect(RowFile.entries(bytes, number: 5).isEmpty)
            for offset in 0..<RowFile.headerSize where !(16..<24 ~= offset) {
                var changed = bytes
                changed[offset] ^= 1
                #expect(RowFile.entries(changed, number: 0x0102_0304).isEmpty, "\(offset)")
            }
        }
    }

    private static func lines(_ rows: MovedRows) -> [String] {
        [
            "\(rows.file)", "\(rows.offset)", "\(rows.size)", "\(rows.firstPosition)",
            "\(rows.count)", "\(rows.skip)",
        ]
    }

    private static func lines(_ bytes: [UInt8], number: UInt32) throws -> [String] {
        var lines = ["\(number)"]
        for entry in RowFile.entries(bytes, number: number) {
            let summary = try BlockSummary.parseStored(entry.block.span, verifyChecksum: true)
            lines.append(
                "\(entry.space.text) \(entry.offset) \(entry.block.count) "
                    + "\(summary.firstPosition ?? 0) \(summary.eventCount)"
            )
        }
        return lines
    }

    private static func make() throws -> Vectors {
        let rows = [
            MovedRows(
                file: 0x0102_0304,
                offset: 48,
                size: 777,
                skip: 0,
                firstPosition: 1,
                count: 300
            ),
            MovedRows(
                file: .max,
                offset: 1 << 23,
                size: 1 << 18,
                skip: 17,
                firstPosition: 1 << 40,
                count: 4000
            ),
        ]
        let sealed = try SealedLog()
        for first in [Int64(0), 30] {
            try sealed.fill(first..<first + 30)
            _ = try sealed.store.condense(sealed.space)
        }
        var file: [UInt8] = []
        for number in try RowFile.list(sealed.log.disk) {
            let bytes = try sealed.log.disk.contents(
                of: LogPaths.rowFile(number),
                sizeMax: RowFile.sizeMax
            )
            file += file.isEmpty ? bytes[...] : bytes[RowFile.headerSize...]
        }
        RowFile.seal(&file, number: 0x0102_0304)
        return Vectors(
            comment: comment,
            moved: zip(["whole block", "a part of a block"], rows).map { shows, rows in
                var bytes: [UInt8] = []
                rows.append(to: &bytes)
                return Sample(shows: shows, bytes: Hex.text(bytes), holds: lines(rows))
            },
            rowFiles: [
                Sample(
                    shows: "two blocks",
                    bytes: Hex.text(file),
                    holds: try lines(file, number: 0x0102_0304)
                )
            ]
        )
    }
}
