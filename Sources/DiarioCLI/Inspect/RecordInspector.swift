import DiarioCore

/// Tells what the records of a frame say: schema/format/log.md, section 8.
struct RecordInspector {
    let showsRows: Bool

    private static let headerSize = 16
    private static let kinds = [
        "", "rows", "seed", "promotion", "state", "dropped", "lost", "sealed", "gone",
        "moved",
    ]

    /// Reads the record at the reader's place, which must end by `end`.
    func inspect(_ reader: inout FieldReader, end: Int) throws(InspectStop) {
        let depth = reader.depth
        defer { reader.depth = depth }
        let start = reader.offset
        let size = size(reader, end: end)
        let kind = reader.bytes[start]
        let name = kind < Self.kinds.count && kind > 0 ? Self.kinds[Int(kind)] : "unknown kind"
        reader.heading("record", name, size: Self.headerSize + size)
        try reader.number(
            "kind",
            size: 1,
            problem: { 1..<UInt64(Self.kinds.count) ~= $0 ? nil : "unknown kind" }
        )
        try reader.zeros(3)
        try reader.number(
            "length",
            size: 4,
            problem: { $0 == UInt64(size) ? nil : "goes beyond the frame" }
        )
        try reader.number("space", size: 8, show: Show.id, problem: SmallFiles.notZero)
        let content = reader.offset..<reader.offset + size
        var part = FieldReader(reader.bytes, range: content, base: reader.base, section: "8")
        part.depth = reader.depth
        do throws(InspectStop) {
            try inspectContent(&part, kind: kind)
            if part.remaining > 0 {
                part.note(
                    "rest",
                    at: part.offset,
                    size: part.remaining,
                    check: .bad("the record says more than its kind does")
                )
            }
        } catch {
            // What stopped it has its line already; the length says where the next record is.
        }
        reader.append(part.takeLines(), through: content.upperBound)
    }

    /// The length of the content, as far as there are bytes for it.
    private func size(_ reader: FieldReader, end: Int) -> Int {
        let room = end - reader.offset - Self.headerSize
        guard room >= 0 else { return 0 }
        let stated = FieldReader.littleEndian(reader.bytes, at: reader.offset + 4, size: 4)
        return min(room, Int(stated))
    }

    private func inspectContent(
        _ part: inout FieldReader,
        kind: UInt8
    ) throws(InspectStop) {
        switch kind {
        case 1: BlockInspector(showsRows: showsRows).inspect(&part)
        case 2:
            try part.number("replica", size: 8, show: Show.id, problem: SmallFiles.notZero)
            try part.number("group", size: 8)
            try part.raw("seed", count: 16, show: Show.secret)
        case 3: try promotion(&part)
        case 4: try state(&part)
        case 5: break
        case 6: try part.zeros(part.remaining)
        case 7: try sealed(&part)
        case 8: try gone(&part)
        case 9: try moved(&part)
        default: try part.raw("content", count: part.remaining)
        }
    }

    private func promotion(_ part: inout FieldReader) throws(InspectStop) {
        let count = try part.number("count", size: 4)
        for _ in 0..<count {
            try part.number("replica", size: 8, show: Show.id, problem: SmallFiles.notZero)
            try part.number("first sequence", size: 8)
            try part.number("count", size: 8)
            try part.number("first position", size: 8)
            try part.number("acceptedAt", size: 8, show: Show.time)
        }
    }

    private func sealed(_ part: inout FieldReader) throws(InspectStop) {
        try part.number("replica", size: 8, show: Show.id, problem: SmallFiles.notZero)
        try part.number("first sequence", size: 8)
        try part.number("count", size: 8)
        let position = try part.number("first position", size: 8)
        if position == 0 {
            try part.zeros(8)
            try part.number("clock", size: 8, show: Show.clock)
        } else {
            try part.number("acceptedAt", size: 8, show: Show.time)
            try part.zeros(8)
        }
    }

    private func gone(_ part: inout FieldReader) throws(InspectStop) {
        try part.number("replica", size: 8, show: Show.id, problem: SmallFiles.notZero)
        try part.number("first sequence", size: 8)
        try part.number("count", size: 8)
        try part.number(
            "why",
            size: 8,
            show: { $0 == 1 ? "lost" : "have positions" },
            problem: { 1...2 ~= $0 ? nil : "unknown reason" }
        )
        try part.number("since", size: 8, show: Show.time)
    }

    private func moved(_ part: inout FieldReader) throws(InspectStop) {
        try part.number("row file", size: 8, show: Show.long, problem: SmallFiles.notZero)
        try part.number("offset of the block", size: 4)
        try part.number("bytes of the block", size: 4)
        try part.number("first position", size: 8, problem: SmallFiles.notZero)
        try part.number("count", size: 4, problem: SmallFiles.notZero)
        try part.number("events of the block before", size: 4)
    }

    private func state(_ part: inout FieldReader) throws(InspectStop) {
        let released = try part.number("released", size: 8)
        let size = try part.number(
            "size",
            size: 8,
            problem: { $0 < released ? "less than released" : nil }
        )
        try part.number("acceptedAt", size: 8, show: Show.time)
        try part.number("highest clock", size: 8, show: Show.clock)
        let replicas = try part.number("number of replicas", size: 4)
        let adoptions = try part.number("number of adoptions", size: 4)
        let nodes = try part.number(
            "number of nodes",
            size: 4,
            problem: { $0 == UInt64(size.nonzeroBitCount) ? nil : "not the binary ones of size" }
        )
        try part.zeros(4)
        for _ in 0..<replicas {
            try part.number("replica", size: 8, show: Show.id, problem: SmallFiles.notZero)
            try part.number("last sequence", size: 8)
            try part.number(
                "writes for an authority",
                size: 8,
                show: { $0 == 1 ? "yes" : $0 == 0 ? "no" : "\($0)" },
                problem: { $0 > 1 ? "neither 0 nor 1" : nil }
            )
        }
        for _ in 0..<adoptions {
            try part.number("position of an adoption", size: 8)
            try part.raw("fingerprint", count: 32)
        }
        for _ in 0..<nodes { try part.raw("node", count: 32) }
    }
}
