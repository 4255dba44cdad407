import DiarioFrames
import DiarioLog
import DiarioTestSupport
import Foundation
import Testing

/// The examples in the documents of the formats are bytes of the golden files.
///
/// `DIARIO_REWRITE=1` writes the bytes anew; how many a line has, and what it says of them, stays.
@Suite struct FormatDocumentTests {
    @Test func theExamplesAreOfTheGoldenFiles() throws {
        let rows: Rows = try VectorFile.read("rows-1.json")
        let row = try #require(rows.cases.first { $0.shows == "a counter" }).row
        try Dump("rows.md").check(Hex.bytes(row))
        let blocks: Blocks = try VectorFile.read("blocks-1.json")
        let block = try #require(
            blocks.blocks.first { $0.shows == "one event with a position" }
        ).block
        try Dump("blocks.md").check(Hex.bytes(block))
        let layout: Layout = try VectorFile.read("layout-1.json")
        let manifest = try #require(layout.manifests.first { $0.shows == "with segments" }).bytes
        try Dump("directory.md").check(Hex.bytes(manifest))
        let directory: Directory = try VectorFile.read("refused-1.json")
        let log = try Hex.bytes(#require(directory.files["wal/0000000000000001.dwal"]))
        try Dump("frames.md").check(Array(log[..<60]) + #require(lastFrame(of: log)))
    }

    private struct Rows: Decodable {
        let cases: [Case]

        struct Case: Decodable {
            let row: String
            let shows: String
        }
    }

    private struct Blocks: Decodable {
        let blocks: [Case]

        struct Case: Decodable {
            let block: String
            let shows: String
        }
    }

    private struct Layout: Decodable {
        let manifests: [Case]

        struct Case: Decodable {
            let bytes: String
            let shows: String
        }
    }

    private struct Directory: Decodable {
        let files: [String: String]
    }

    private func lastFrame(of file: [UInt8]) -> [UInt8]? {
        guard let generation = LogFileHeader(file.span)?.generation else { return nil }
        var offset = LogFileHeader.size
        var last: Range<Int>?
        while case .frame(let header) = FrameHeader.read(
            file.span,
            at: offset,
            generation: generation
        ) {
            last = offset..<offset + header.frameSize
            offset += header.frameSize
        }
        return last.map { Array(file[$0]) }
    }
}

/// The hexadecimal dump in a document: lines of an offset, bytes, and what they are.
private struct Dump {
    private let url: URL
    private var text: String

    init(_ name: String) throws {
        url = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "schema/format/\(name)")
        text = try String(contentsOf: url, encoding: .utf8)
    }

    func check(_ bytes: [UInt8]) throws {
        var lines = text.components(separatedBy: "\n")
        var offset = 0
        for index in lines.indices {
            guard let line = lines[index].wholeMatch(of: /([0-9a-f]{4})  ((?:[0-9a-f]{2} )+)(.*)/)
            else { continue }
            let count = line.2.count / 3
            let end = min(bytes.count, offset + count)
            let digits = bytes[min(offset, end)..<end].map { Hex.text([$0]) + " " }.joined()
            let start = String(offset, radix: 16)
            lines[index] =
                String(repeating: "0", count: 4 - start.count) + start + "  " + digits + line.3
            offset += count
        }
        let written = lines.joined(separator: "\n")
        if ProcessInfo.processInfo.environment["DIARIO_REWRITE"] == "1" {
            try Data(written.utf8).write(to: url)
        }
        #expect(written == text, "\(url.lastPathComponent)")
        #expect(offset == bytes.count, "\(url.lastPathComponent): \(Hex.text(bytes))")
    }
}
