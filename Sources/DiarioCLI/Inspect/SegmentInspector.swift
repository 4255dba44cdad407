import DiarioCore
import DiarioFormat
import DiarioZstd

// Segments and sidecars: schema/format/segments.md, sections 3 and 4.

/// Inspects a segment or its sidecar: header, index, and for each block its place and checksum.
struct SegmentInspector {
    let bytes: [UInt8]
    let file: SegmentFile

    private static let headerSize = 64

    func inspect() -> [InspectLine] {
        let section = file == .segment ? "S3" : "S4"
        var reader = FieldReader(bytes, range: 0..<bytes.count, section: section)
        do throws(InspectStop) {
            let header = try readHeader(&reader)
            let start = reader.offset
            let stored = try reader.slice("index", count: header.storedSize)
            guard let index = expand(stored, header) else {
                reader.note(
                    "index",
                    at: start,
                    size: header.storedSize,
                    check: .bad("does not decompress to \(header.indexSize) bytes")
                )
                return reader.takeLines()
            }
            var indexReader = FieldReader(
                index,
                range: 0..<index.count,
                base: start,
                section: section
            )
            indexReader.heading("index", header.isCompressed ? "compressed" : "")
            var blocks: [Block] = []
            var isWhole = true
            do throws(InspectStop) {
                blocks = try readIndex(&indexReader, header)
            } catch {
                isWhole = false
            }
            let lines = indexReader.takeLines()
            // What was compressed has no places of its own in the file.
            reader.append(
                header.isCompressed ? lines.map { $0.placed(at: start, size: 0) } : lines,
                through: reader.offset
            )
            guard isWhole else { return reader.takeLines() }
            try readBlocks(blocks, &reader)
        } catch {
            // The line that was noted last says where the bytes end.
        }
        return reader.takeLines()
    }

    private struct Header {
        var isCompressed: Bool
        var isPositioned: Bool
        var indexSize: Int
        var storedSize: Int
    }

    private struct Block {
        var name: String
        var size: Int
        var checksum: UInt32
    }

    private func readHeader(_ reader: inout FieldReader) throws(InspectStop) -> Header {
        try reader.magic(file == .segment ? "DSEG" : "DPER")
        try SmallFiles.version(&reader)
        let compression = try reader.number(
            "compression of the index",
            size: 1,
            show: { $0 == 0 ? "none" : "zstd" },
            problem: { $0 > 1 ? "unknown" : nil }
        )
        let flags = try reader.number(
            "flags",
            size: 2,
            show: { Show.flags($0, ["positioned"]) },
            problem: { $0 > 1 ? "unknown flags" : nil }
        )
        try reader.number("events", size: 4)
        let indexSize = try reader.number("size of the index", size: 4)
        try reader.number("first position", size: 8)
        let length = UInt64(bytes.count)
        try reader.number(
            "length of the file",
            size: 8,
            problem: { $0 == length ? nil : "the file has \(length) bytes" }
        )
        let storedSize = try reader.number("stored size of the index", size: 4)
        if file == .segment {
            try reader.zeros(8)
        } else {
            try reader.number("revision", size: 8)
        }
        let identity = try reader.raw("identity of the segment", count: 16)
        if file == .segment { noteIdentity(Array(identity), &reader) }
        let end = Self.headerSize + Int(storedSize)
        guard end <= bytes.count else {
            reader.note(
                "CRC32C",
                at: 60,
                size: 4,
                check: .bad("the index does not end in the file")
            )
            throw InspectStop()
        }
        let stored = UInt32(FieldReader.littleEndian(bytes, at: 60, size: 4))
        let span = bytes.span.raw
        let computed = Checksum.crc32c(
            span.extracting(Self.headerSize..<end),
            continuing: Checksum.crc32c(span.extracting(0..<60))
        )
        reader.note(
            "CRC32C of header and index",
            Show.word(stored),
            at: 60,
            size: 4,
            check: stored == computed ? .good : .bad("computed \(Show.word(computed))")
        )
        reader.offset = Self.headerSize
        return Header(
            isCompressed: compression == 1,
            isPositioned: flags == 1,
            indexSize: Int(indexSize),
            storedSize: Int(storedSize)
        )
    }

    /// The identity is the start of a hash of all that follows the header.
    private func noteIdentity(_ stored: [UInt8], _ reader: inout FieldReader) {
        let computed = SegmentIdentity(of: bytes.span.extracting(Self.headerSize...))
        let isRight =
            FieldReader.littleEndian(stored, at: 0, size: 8) == computed.first
            && FieldReader.littleEndian(stored, at: 8, size: 8) == computed.second
        reader.note(
            "hash of all that follows",
            at: Self.headerSize,
            size: bytes.count - Self.headerSize,
            check: isRight ? .good : .bad("is not the identity")
        )
    }

    private func expand(_ stored: ArraySlice<UInt8>, _ header: Header) -> [UInt8]? {
        guard header.indexSize <= SegmentLimits.indexSizeMax else { return nil }
        guard header.isCompressed else { return Array(stored) }
        var index: [UInt8] = []
        guard var decompressor = try? Decompressor(),
            (try? decompressor.decompress(
                Array(stored).span,
                size: header.indexSize,
                into: &index
            )) != nil
        else { return nil }
        return index
    }
}

extension SegmentInspector {
    private func readIndex(
        _ reader: inout FieldReader,
        _ header: Header
    ) throws(InspectStop) -> [Block] {
        var types: [String] = []
        if file == .segment {
            let count = try reader.varint("types")
            for _ in 0..<count {
                let name = try reader.text("type")
                let version = try reader.varint("version")
                try reader.raw("fingerprint", count: 32)
                try reader.varint("its events")
                try reader.zigzag("their lowest at", show: { Show.time($0) })
                try reader.varint("their highest at, from there")
                types.append("\(name) \(version)")
            }
            try reader.zigzag("lowest at", show: { Show.time($0) })
            try reader.varint("highest at, from there")
            try reader.varint("lowest clock", show: Show.clock)
            try reader.varint("highest clock, from there")
            if header.isPositioned {
                try reader.zigzag("first acceptedAt", show: { Show.time($0) })
                try reader.varint("last acceptedAt, from there")
            }
            let replicas = try reader.varint("replicas")
            for _ in 0..<replicas {
                try reader.number("replica", size: 8, show: Show.id)
                let runs = try reader.varint("runs")
                for _ in 0..<runs {
                    try reader.varint("first sequence, from the run before")
                    try reader.varint("sequences", show: Self.run)
                }
            }
        }
        let count = try reader.varint("blocks")
        var blocks: [Block] = []
        for _ in 0..<count {
            let kind = try reader.number("kind", size: 1, show: { name(ofKind: $0) })
            let key = try reader.varint("key")
            try reader.varint("first row")
            let rows = try reader.varint("rows")
            try reader.varint("expanded size")
            let size = try reader.varint("stored size")
            let checksum = try reader.number("CRC32C", size: 4, show: { Show.word(UInt32($0)) })
            let type = isOfType(kind) && key < UInt64(types.count) ? " of \(types[Int(key)])" : ""
            blocks.append(
                Block(
                    name: "\(name(ofKind: kind))\(type), \(Show.count(rows, "row"))",
                    size: Int(clamping: size),
                    checksum: UInt32(checksum)
                )
            )
        }
        return blocks
    }

    private static func run(_ value: UInt64) -> String {
        "\(value >> 1)\(value & 1 == 1 ? " refused" : "")"
    }

    private func isOfType(_ kind: UInt64) -> Bool {
        file == .segment && (kind == 13 || kind == 14 || kind == 15)
    }

    private func name(ofKind kind: UInt64) -> String {
        let names =
            file == .segment
            ? [
                "schemas", "types", "origins", "clocks", "times", "accepted", "batches", "bases",
                "flags", "actors", "subjects", "pool", "fields", "filter", "heads",
                "shared",
            ]
            : ["salts", "erased", "personal fields"]
        return kind >= 1 && kind <= UInt64(names.count) ? names[Int(kind) - 1] : "unknown kind"
    }

    /// The blocks follow the index without gaps; of each the checksum is looked at.
    private func readBlocks(
        _ blocks: [Block],
        _ reader: inout FieldReader
    ) throws(InspectStop) {
        for block in blocks {
            let start = reader.offset
            let stored = try reader.slice(block.name, count: block.size)
            let computed = Checksum.crc32c(
                bytes.span.raw.extracting(stored.startIndex..<stored.endIndex)
            )
            reader.note(
                "block",
                block.name,
                at: start,
                size: block.size,
                check: computed == block.checksum
                    ? .good : .bad("computed CRC32C \(Show.word(computed))")
            )
        }
        guard reader.remaining > 0 else { return }
        reader.note(
            "bytes behind the last block",
            at: reader.offset,
            size: reader.remaining,
            check: .bad("nothing follows the last block")
        )
    }
}
