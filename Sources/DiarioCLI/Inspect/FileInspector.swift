import DiarioCore
import DiarioCrypto
import DiarioFormat

/// Tells the fields of a file of a data directory, as the documents define them.
///
/// The kind of file is found by its first bytes, else by its name. It goes on after damage where
/// the format says where the next part begins.
package struct FileInspector {
    private let bytes: [UInt8]
    private let name: String
    private let showsRows: Bool
    private let found: FileKind?

    /// Larger files are not ours.
    package static let sizeMax = 4 * Limits.logFileSizeMax
    /// Longer files of lines are none of ours.
    private static let linesSizeMax = 16 * 1024 * 1024

    /// `name` is the file's own name without its folder.
    package init(_ bytes: [UInt8], name: String, showsRows: Bool) {
        self.bytes = bytes
        self.name = name
        self.showsRows = showsRows
        found = FileKind.find(bytes, named: name)
    }

    /// The kind of the file, for people; nil if it is none of ours.
    package var kind: String? { found?.title }

    /// Hands the lines to `take`, part by part; memory is bounded by the largest frame.
    package func inspect(_ take: ([InspectLine]) throws -> Void) throws {
        guard let found else { return }
        var reader = FieldReader(
            bytes,
            0..<bytes.count,
            section: found.section,
            showsRows: showsRows
        )
        switch found.content {
        case .log: try LogInspector(bytes, base: 0, showsRows: showsRows).inspectFile(take)
        case .frames:
            // Of a file `cut-<number>-<offset>` the offset is that of its bytes in the log.
            let base = name.hasPrefix("cut-") ? name.split(separator: "-").last : nil
            let inspector = LogInspector(
                bytes,
                base: base.flatMap { Int($0) } ?? 0,
                showsRows: showsRows
            )
            try inspector.inspectFrames(from: 0, generation: nil, take)
        case .segment(let file): try take(SegmentInspector(bytes: bytes, file: file).inspect())
        case .blob:
            noteBlob(&reader)
            try take(reader.takeLines())
        case .block:
            BlockInspector(showsRows: showsRows).inspect(&reader)
            try take(reader.takeLines())
        case .formatLine:
            noteFormat(&reader)
            try take(reader.takeLines())
        case .lines:
            noteLines(&reader)
            try take(reader.takeLines())
        case .fields(let fields):
            if bytes.isEmpty, found.magic == nil {
                reader.note(found.title, "empty", at: 0, size: 0, check: .good)
            } else if (try? reader.read(fields)) != nil {
                reader.noteRest("the file is longer than that")
            }
            try take(reader.takeLines())
        case .blocks(let check):
            noteVerdict(found.title, &reader, check)
            // A stop has noted already what is missing.
            _ = try? readBlocks(found.magic ?? "", &reader)
            try take(reader.takeLines())
        case .checked(let fields, let check):
            noteVerdict(found.title, &reader, check)
            reader.depth = 1
            if (try? reader.read(fields)) != nil {
                reader.noteRest("nothing follows")
            }
            try take(reader.takeLines())
        }
    }

    /// Reads a file of blocks: schema/format/directory.md, section 2.
    private func readBlocks(_ magic: String, _ reader: inout FieldReader) throws(InspectStop) {
        reader.depth = 1
        try reader.read([.magic(magic), .version(), .zeros(3), .time("written at")])
        while reader.remaining > 4 {
            try reader.read([.varint("size of the block")])
            let size = min(reader.last("size of the block"), UInt64(reader.remaining))
            let range = reader.offset..<reader.offset + Int(size)
            var part = FieldReader(bytes, range, depth: 1, section: "B2")
            BlockInspector(showsRows: showsRows).inspect(&part)
            reader.append(part.takeLines(), through: range.upperBound)
        }
        try reader.read([.checksum])
    }

    /// Notes whether the program's own decoder takes the file, and under this name.
    private func noteVerdict(
        _ title: String,
        _ reader: inout FieldReader,
        _ decode: ([UInt8]) throws -> FileKind.Verdict
    ) {
        var (check, text) = (InspectLine.Check.good, "")
        do {
            let verdict = try decode(bytes)
            text = verdict.value
            if let expected = verdict.name, expected != name {
                check = .bad("the file is called otherwise")
            }
        } catch {
            check = .bad((error as? FormatError)?.message ?? "\(error)")
        }
        reader.note(title, text, at: 0, size: bytes.count, check: check)
    }

    /// Notes the chunks of a private blob, whose key is in an event; a public one has none.
    private func noteBlob(_ reader: inout FieldReader) {
        var check = InspectLine.Check.none
        if let id = Hash32(text: name) {
            let isRight = SHA256.hash(bytes.span) == id
            check = isRight ? .good : .bad("SHA-256 of the bytes is not the name")
        }
        reader.note("blob", "named by its SHA-256", at: 0, size: bytes.count, check: check)
        guard bytes.starts(with: "dblb".utf8) else { return }
        reader.depth = 1
        guard (try? reader.read([.magic("dblb"), .version(), .zeros(3)])) != nil else { return }
        do throws(BlobError) {
            let layout = try BlobLayout(storedSize: Int64(bytes.count))
            for chunk in 0..<layout.chunkCount {
                let (range, count) = (
                    layout.storedRange(of: chunk), layout.plainRange(of: chunk).count
                )
                reader.note(
                    "chunk \(chunk)",
                    "\(count) bytes encrypted, and a tag",
                    at: Int(range.lowerBound),
                    size: range.count
                )
            }
        } catch {
            reader.note("chunks", at: reader.offset, size: 0, check: .bad(error.message))
        }
    }

    // MARK: Files of lines

    private func noteFormat(_ reader: inout FieldReader) {
        let text = String(decoding: bytes.prefix(200), as: UTF8.self)
        let expected = "diario directory 1\n"
        let isOld = text.hasPrefix("diario format ")
        let fault =
            isOld ? FormatError.beforeFirstRelease.message : "is not: \(expected.dropLast())"
        let line = CellText.oneLine(text.prefix { $0 != "\n" })
        let check: InspectLine.Check = text == expected ? .good : .bad(fault)
        reader.note("line", line, at: 0, size: bytes.count, check: check)
    }

    /// Notes the lines of a file, each a name and a value; the last is a checksum of those before
    /// it.
    private func noteLines(_ reader: inout FieldReader) {
        guard bytes.count <= Self.linesSizeMax else {
            let check = InspectLine.Check.bad("longer than \(Self.linesSizeMax) bytes")
            return reader.note("lines", at: 0, size: bytes.count, check: check)
        }
        var start = 0
        var last = ""
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: 0x0a).map { $0 + 1 } ?? bytes.count
            let text = String(decoding: bytes[start..<end].filter { $0 != 0x0a }, as: UTF8.self)
            let words = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            let value = words.count == 2 ? String(words[1]) : ""
            var (shown, check) = (CellText.oneLine(value), InspectLine.Check.none)
            last = String(words[0])
            switch last {
            // Everybody who knows it can read the space.
            case "token": shown = "not shown"
            case "at", "failed": shown = UInt64(value).map { Show.time($0) } ?? shown
            case "crc32c":
                let computed = Checksum.crc32c(bytes.span.raw.extracting(0..<start))
                check = value == "\(computed)" ? .good : .bad("should be \(computed)")
            default: break
            }
            reader.note(CellText.oneLine(last), shown, at: start, size: end - start, check: check)
            start = end
        }
        guard last != "crc32c" else { return }
        reader.note("crc32c", at: start, size: 0, check: .bad("the checksum is missing"))
    }
}
