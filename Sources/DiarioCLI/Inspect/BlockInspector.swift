import DiarioFormat

/// Inspects a block and its rows: schema/format/blocks.md.
struct BlockInspector {
    let showsRows: Bool

    /// Reads the block that the rest of the reader's bytes are.
    func inspect(_ reader: inout FieldReader) {
        let range = reader.offset..<reader.end
        var part = FieldReader(
            reader.bytes,
            range,
            base: reader.base,
            depth: reader.depth,
            section: "B2"
        )
        do throws(FormatError) {
            let block = try Block.check(reader.bytes[range].span, from: .anywhere)
            let count = Show.count(UInt64(block.summary.eventCount), "event")
            part.note("block", count, at: range.lowerBound, size: range.count, check: .good)
        } catch {
            let check = InspectLine.Check.bad(error.message)
            part.note("block", at: range.lowerBound, size: range.count, check: check)
        }
        part.depth += 1
        // A stop has noted already what is missing.
        _ = try? fields(&part)
        reader.append(part.takeLines(), through: range.upperBound)
    }

    /// The fault of the CRC32C of a header, which is the last of its fields.
    static func checksumFault(_ stored: UInt64, _ reader: FieldReader) -> String? {
        let block = reader.bytes[reader.start..<reader.end]
        guard block.count >= BlockHeader.size else { return "the block ends here" }
        let computed = BlockHeader.checksum(of: block.span.raw)
        return stored == computed ? nil : "computed \(Show.word(computed))"
    }

    private func fields(_ reader: inout FieldReader) throws(InspectStop) {
        try reader.read(FileKind.blockHeader)
        guard reader.last("compression") == 0 else {
            return reader.note("body", "compressed", at: reader.offset, size: reader.remaining)
        }
        try reader.read(FileKind.blockBody)
        let count = reader.last("events")
        guard showsRows else {
            let value = "\(count), shown with --rows"
            return reader.note("rows", value, at: reader.offset, size: reader.remaining)
        }
        var position = reader.last("flags") & 1 == 1 ? reader.last("first position") : nil
        let (types, replicas) = (types(of: reader), reader.numbers["replica"] ?? [])
        let indexes = reader.numbers["index of the replica"] ?? []
        let firsts = reader.numbers["first sequence"] ?? []
        let counts = reader.numbers["count"] ?? []
        var done: UInt64 = 0
        for (run, index) in indexes.enumerated() {
            let replica = index < replicas.count ? replicas[Int(index)] : 0
            var rest = counts[run]
            while rest > 0, done < count {
                let sequence = firsts[run] &+ (counts[run] - rest)
                let place = position.map { "position \($0)" } ?? "pending"
                try row(&reader, types, "\(Show.id(replica))-\(sequence), \(place)")
                (rest, done) = (rest - 1, done + 1)
                position = position.map { $0 &+ 1 }
            }
        }
        guard done == count else {
            throw reader.stop("rows", at: reader.offset, "there are more rows than the runs say")
        }
        reader.noteRest("bytes follow after the last row")
    }

    /// The types of the block with their versions, as rows name them by their index.
    private func types(of reader: FieldReader) -> [String] {
        zip(reader.texts["type"] ?? [], reader.numbers["version of the type"] ?? []).map {
            "\(CellText.oneLine($0)) \($1)"
        }
    }

    private func row(
        _ reader: inout FieldReader,
        _ types: [String],
        _ title: String
    ) throws(InspectStop) {
        reader.note("row", title, at: reader.offset, size: 0)
        let outer = reader.depth
        reader.depth += 1
        defer { reader.depth = outer }
        let type = Field.varint("type of the row")
            .shown { $0 < types.count ? types[Int($0)] : "\($0)" }
            .wrong { value, _ in value < types.count ? nil : "there is no such type" }
        try reader.read(FileKind.rowHead + [type])
        let publicSize = reader.last("size of the public part")
        guard publicSize <= reader.remaining else {
            throw reader.stop("public part", at: reader.offset)
        }
        let end = reader.offset + Int(publicSize)
        var part = FieldReader(
            reader.bytes,
            reader.offset..<end,
            base: reader.base,
            depth: reader.depth,
            section: "R4"
        )
        if (try? part.read(FileKind.publicPart)) != nil {
            part.section = "R3"
            _ = try? part.read([.rest("public payload")])
        }
        reader.append(part.takeLines(), through: end)
        switch reader.last("personal part") {
        case 0: break
        case 1: try reader.read([.bytes("commitment", 32)])
        case let size:
            reader.section = "R3"
            defer { reader.section = "B3" }
            try reader.read([.bytes("personal payload", Int(clamping: size))])
        }
    }
}
