import DiarioFormat
import DiarioZstd

/// Inspects a segment or its sidecar: header, index, and for each block its place and checksum.
///
/// schema/format/segments.md, sections 3 and 4.
struct SegmentInspector {
    let bytes: [UInt8]
    let file: SegmentFile

    private static let headerSize = 64

    private var section: String { file == .segment ? "S3" : "S4" }

    func inspect() -> [InspectLine] {
        var reader = FieldReader(bytes, 0..<bytes.count, section: section)
        // The line that was noted last says why it ends.
        _ = try? inspect(&reader)
        return reader.takeLines()
    }

    private func inspect(_ reader: inout FieldReader) throws(InspectStop) {
        try readHeader(&reader)
        let start = reader.offset
        let size = Int(reader.last("stored size of the index"))
        let isCompressed = reader.last("compression of the index") == 1
        guard let index = expand(size, Int(reader.last("size of the index")), isCompressed) else {
            let reason = "does not decompress to \(reader.last("size of the index")) bytes"
            return reader.note("index", at: start, size: size, check: .bad(reason))
        }
        var part = FieldReader(index, 0..<index.count, base: start, section: section)
        part.note("index", isCompressed ? "compressed" : "", at: 0, size: 0)
        part.depth = 1
        let isPositioned = reader.last("flags") == 1
        let isWhole = (try? part.read(fields(isPositioned: isPositioned))) != nil
        var lines = part.takeLines()
        if isCompressed {
            // Compressed fields have no places of their own in the file.
            for line in lines.indices { (lines[line].offset, lines[line].size) = (start, 0) }
        }
        reader.append(lines, through: start + size)
        if isWhole { try readBlocks(of: part, &reader) }
    }

    private func readHeader(_ reader: inout FieldReader) throws(InspectStop) {
        let length = UInt64(bytes.count)
        try reader.read([
            .magic(file == .segment ? "dseg" : "dper"), .version(),
            .words("compression of the index", 1, from: 0, ["none", "zstd"]),
            .flags("flags", 2, ["positioned"]), .number("events", 4),
            .number("size of the index", 4), .number("first position"),
            .number("length of the file").wrong { value, _ in
                value == length ? nil : "the file has \(length) bytes"
            },
            .number("stored size of the index", 4),
            file == .segment ? .zeros(8) : .number("revision"),
            .bytes("identity of the segment", 16),
        ])
        let place = reader.offset
        let end = Self.headerSize + Int(reader.last("stored size of the index"))
        guard end <= bytes.count else {
            throw reader.stop("CRC32C", at: place, "the index does not end in the file")
        }
        if file == .segment {
            let computed = SegmentIdentity(of: bytes.span.extracting(Self.headerSize...))
            let isRight =
                FieldReader.littleEndian(bytes, at: place - 16, size: 8) == computed.first
                && FieldReader.littleEndian(bytes, at: place - 8, size: 8) == computed.second
            reader.note(
                "hash of all that follows",
                at: Self.headerSize,
                size: bytes.count - Self.headerSize,
                check: isRight ? .good : .bad("is not the identity")
            )
        }
        let name = "CRC32C of header and index"
        reader.checksum(name, at: place, of: 0..<place, Self.headerSize..<end)
        reader.offset = Self.headerSize
    }

    private func expand(_ size: Int, _ expandedSize: Int, _ isCompressed: Bool) -> [UInt8]? {
        guard expandedSize <= SegmentLimits.indexSizeMax else { return nil }
        let stored = Array(bytes[Self.headerSize..<Self.headerSize + size])
        guard isCompressed else { return stored }
        var index: [UInt8] = []
        guard var decompressor = try? Decompressor(),
            (try? decompressor.decompress(stored.span, size: expandedSize, into: &index)) != nil
        else { return nil }
        return index
    }

    /// The fields of the index.
    private func fields(isPositioned: Bool) -> [Field] {
        let time: @Sendable (UInt64) -> String = { Show.time($0) }
        let accepted: [Field] = [
            Field.zigzag("first acceptedAt").shown(time), .varint("last acceptedAt, from there"),
        ]
        let type: [Field] = [
            .text("type"), .varint("version"), .bytes("fingerprint", 32), .varint("its events"),
            Field.zigzag("their lowest at").shown(time), .varint("their highest at, from there"),
        ]
        let run: [Field] = [
            .varint("first sequence, from the run before"),
            Field.varint("sequences").shown { "\($0 >> 1)\($0 & 1 == 1 ? " refused" : "")" },
        ]
        let head =
            .counted("types", type) + [
                Field.zigzag("lowest at").shown(time), .varint("highest at, from there"),
                Field.varint("lowest clock").shown { Show.clock($0) },
                .varint("highest clock, from there"),
            ] + (isPositioned ? accepted : [])
            + .counted("replicas", [.idOrNone("replica")] + .counted("runs", run))
        let block: [Field] = [
            .words("kind", 1, from: 1, kinds), .varint("key"), .varint("first row"),
            .varint("rows"), .varint("expanded size"), .varint("stored size"),
            .crc("CRC32C of the block"),
        ]
        return (file == .segment ? head : []) + .counted("blocks", block)
    }

    private var kinds: [String] {
        switch file {
        case .segment:
            [
                "schemas", "types", "origins", "clocks", "times", "accepted", "batches", "bases",
                "flags", "actors", "subjects", "pool", "fields", "filter",
            ]
        case .sidecar: ["salts", "erased", "personal fields"]
        }
    }

    /// The blocks follow the index without gaps; of each the checksum is looked at.
    private func readBlocks(
        of index: FieldReader,
        _ reader: inout FieldReader
    ) throws(InspectStop) {
        func numbers(_ name: String) -> [UInt64] { index.numbers[name] ?? [] }
        let types = zip(index.texts["type"] ?? [], numbers("version")).map { "\($0) \($1)" }
        for (number, kind) in numbers("kind").enumerated() {
            let key = numbers("key")[number]
            let isOfType = file == .segment && 13...14 ~= kind && key < types.count
            let name = 1...UInt64(kinds.count) ~= kind ? kinds[Int(kind) - 1] : "unknown kind"
            let rows = Show.count(numbers("rows")[number], "row")
            let title = "\(name)\(isOfType ? " of \(types[Int(key)])" : ""), \(rows)"
            let (start, size) = (reader.offset, Int(clamping: numbers("stored size")[number]))
            guard size <= reader.remaining else { throw reader.stop(title, at: start) }
            let computed = Checksum.crc32c(bytes.span.raw.extracting(start..<start + size))
            let isRight = numbers("CRC32C of the block")[number] == UInt64(computed)
            let reason = "computed CRC32C \(Show.word(computed))"
            reader.note(
                "block",
                title,
                at: start,
                size: size,
                check: isRight ? .good : .bad(reason)
            )
            reader.offset += size
        }
        reader.noteRest("nothing follows the last block")
    }
}
