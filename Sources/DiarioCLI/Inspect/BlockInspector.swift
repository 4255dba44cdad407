import DiarioCore
import DiarioFormat

/// Tells what a block says: schema/format/log.md, section 6.
struct BlockInspector {
    let showsRows: Bool

    /// What the head of a block says, as far as rows need it.
    private struct Head {
        var count: UInt64 = 0
        var position: UInt64?
        var replicas: [UInt64] = []
        var runs: [(replica: UInt64, first: UInt64, count: UInt64)] = []
        var types: [String] = []
    }

    /// Reads the block that the rest of the reader's bytes are.
    func inspect(_ reader: inout FieldReader) {
        let start = reader.offset
        let depth = reader.depth
        let section = reader.section
        reader.section = "6"
        defer {
            reader.depth = depth
            reader.section = section
            reader.offset = reader.end
        }
        let block = reader.bytes[start..<reader.end]
        do throws(FormatError) {
            let count = try check(block.span)
            reader.note(
                "block",
                Show.count(UInt64(count), "event"),
                at: start,
                size: block.count,
                check: .good
            )
        } catch {
            reader.note("block", at: start, size: block.count, check: .bad(error.message))
        }
        reader.depth += 1
        do throws(InspectStop) {
            var head = Head()
            let flags = try header(&reader, start, &head)
            let compression = reader.bytes[start + 5]
            guard compression != 1 else {
                reader.note("body", "compressed", at: reader.offset, size: reader.remaining)
                return
            }
            try body(&reader, flags, &head)
            guard compression == 0 else {
                let count = Show.count(head.count, "event")
                reader.note(
                    "rows",
                    "\(count), compressed",
                    at: reader.offset,
                    size: reader.remaining
                )
                return
            }
            try rows(&reader, head)
        } catch {
            // What stopped it has its line already.
        }
    }

    /// Checks all of a block, its rows decompressed; the number of its events.
    private func check(_ block: Span<UInt8>) throws(FormatError) -> Int {
        guard Block.isCondensed(block) else {
            return try Block.check(block, from: .anywhere).summary.eventCount
        }
        var expander = try BlockExpander()
        var plain: [UInt8] = []
        try expander.expand(block, into: &plain)
        return try Block.check(plain.span, from: .anywhere).summary.eventCount
    }

    private func header(
        _ reader: inout FieldReader,
        _ start: Int,
        _ head: inout Head
    ) throws(InspectStop) -> UInt64 {
        try reader.magic("DBLK")
        try SmallFiles.version(&reader)
        try reader.number(
            "compression",
            size: 1,
            show: { $0 < 3 ? ["none", "zstd", "rows by zstd"][Int($0)] : "\($0)" },
            problem: { $0 > 2 ? "unknown" : nil }
        )
        let flags = try reader.number(
            "flags",
            size: 2,
            show: { Show.flags($0, ["positioned", "salted", "authority"]) },
            problem: { $0 > 7 ? "unknown flags" : nil }
        )
        head.count = try reader.number(
            "events",
            size: 4,
            problem: {
                1...UInt64(Limits.blockCountMax) ~= $0 ? nil : "not 1 to \(Limits.blockCountMax)"
            }
        )
        try reader.number(
            "size of the body",
            size: 4,
            problem: { $0 > UInt64(Limits.blockSizeMax) ? "above the limit" : nil }
        )
        let rest = reader.remaining - 8
        try reader.number(
            "stored size",
            size: 4,
            problem: { $0 == UInt64(max(0, rest)) ? nil : "\(rest) follow" }
        )
        let stored = UInt32(
            truncatingIfNeeded: reader.remaining >= 4
                ? FieldReader.littleEndian(reader.bytes, at: reader.offset, size: 4) : 0
        )
        // Of a header that is cut off there is none, and the field itself says so.
        let isWhole = reader.end - start >= BlockHeader.size
        let block = isWhole ? reader.bytes[start..<reader.end] : []
        let computed = isWhole ? BlockHeader.checksum(of: block.span.raw) : 0
        try reader.number(
            "CRC32C",
            size: 4,
            show: { Show.word(UInt32($0)) },
            problem: { _ in stored == computed ? nil : "computed \(Show.word(computed))" }
        )
        return flags
    }

    private func body(
        _ reader: inout FieldReader,
        _ flags: UInt64,
        _ head: inout Head
    ) throws(InspectStop) {
        try reader.number("highest clock", size: 8, show: Show.clock)
        if flags & 1 != 0 {
            head.position = try reader.varint("first position")
            var last: Int64 = 0
            for _ in 0..<(try count("times", &reader)) {
                try reader.varint("events at the time")
                let before = last
                last &+= try reader.zigzag("acceptedAt", show: { Show.time(before &+ $0) })
            }
        }
        for _ in 0..<(try count("replicas", &reader)) {
            head.replicas.append(
                try reader.number("replica", size: 8, show: Show.id, problem: SmallFiles.notZero)
            )
        }
        for _ in 0..<(try count("runs", &reader)) {
            let index = try reader.varint("index of the replica")
            let replica = index < head.replicas.count ? head.replicas[Int(index)] : 0
            head.runs.append(
                (replica, try reader.varint("first sequence"), try reader.varint("count"))
            )
        }
        for _ in 0..<(try count("types", &reader)) {
            let name = try reader.text("type")
            let version = try reader.varint("version of the type")
            head.types.append("\(CellText.oneLine(name)) \(version)")
            try reader.raw("schema fingerprint", count: 32)
        }
        guard flags & 2 != 0 else { return }
        for _ in 0..<(try count("salt nodes", &reader)) {
            try reader.varint("index of the replica")
            try reader.varint("group")
            try reader.number("level", size: 1, problem: { $0 > 10 ? "above 10" : nil })
            try reader.varint("index in the level")
            try reader.raw("node", count: 16, show: Show.secret)
        }
    }

    /// The count of a list, of which each entry takes at least one byte.
    private func count(_ name: String, _ reader: inout FieldReader) throws(InspectStop) -> Int {
        let rest = UInt64(reader.remaining)
        let count = try reader.varint(
            "number of \(name)",
            problem: { $0 > rest ? "more than there are bytes" : nil }
        )
        guard count <= rest else { throw InspectStop() }
        return Int(count)
    }

    private func rows(_ reader: inout FieldReader, _ head: Head) throws(InspectStop) {
        guard showsRows else {
            reader.note(
                "rows",
                "\(head.count), shown with --rows",
                at: reader.offset,
                size: reader.remaining
            )
            return
        }
        var run = 0
        var done: UInt64 = 0
        var position = head.position
        for _ in 0..<head.count {
            while run < head.runs.count, done >= head.runs[run].count {
                run += 1
                done = 0
            }
            guard run < head.runs.count else {
                reader.note(
                    "rows",
                    at: reader.offset,
                    size: reader.remaining,
                    check: .bad("there are more rows than the runs say")
                )
                throw InspectStop()
            }
            let current = head.runs[run]
            let origin = "\(Show.id(current.replica))-\(current.first &+ done)"
            let place = position.map { "position \($0)" } ?? "pending"
            try row(&reader, head, "\(origin), \(place)")
            done += 1
            position = position.map { $0 &+ 1 }
        }
        guard reader.remaining > 0 else { return }
        reader.note(
            "rest",
            at: reader.offset,
            size: reader.remaining,
            check: .bad("bytes follow after the last row")
        )
    }

    private func row(
        _ reader: inout FieldReader,
        _ head: Head,
        _ title: String
    ) throws(InspectStop) {
        let depth = reader.depth
        defer { reader.depth = depth }
        reader.heading("row", title)
        let publicSize = try reader.varint("size of the public part")
        let personal = try reader.varint(
            "personal part",
            show: { $0 == 0 ? "none" : $0 == 1 ? "erased" : "\($0) bytes" }
        )
        try reader.varint(
            "type",
            show: { $0 < head.types.count ? head.types[Int($0)] : "\($0)" },
            problem: { $0 < head.types.count ? nil : "there is no such type" }
        )
        let end = reader.offset + Int(clamping: publicSize)
        guard publicSize <= UInt64(reader.remaining) else {
            try reader.raw("public part", count: reader.remaining + 1)
            return
        }
        reader.section = "4"
        try publicPart(&reader, end: end)
        reader.section = "6"
        switch personal {
        case 0: break
        case 1: try reader.raw("commitment", count: 32)
        default:
            reader.section = "3"
            try reader.raw("personal payload", count: Int(clamping: personal))
            reader.section = "6"
        }
    }

    private func publicPart(_ reader: inout FieldReader, end: Int) throws(InspectStop) {
        try reader.varint("number in its batch")
        try reader.varint("events in the batch")
        let clock = try reader.number("clock", size: 8, show: Show.clock)
        let milliseconds = HybridTime(rawValue: clock).milliseconds
        try reader.zigzag("at", show: { Show.time(milliseconds &+ $0) })
        try reader.varint("base")
        let names = ["derived", "ifUnchanged", "actor", "subject", "personal"]
        let flags = try reader.number(
            "flags",
            size: 1,
            show: { Show.flags($0, names) },
            problem: { $0 > 31 ? "unknown flags" : nil }
        )
        if flags & 4 != 0 { try reader.text("actor") }
        if flags & 8 != 0 { try reader.text("subject") }
        guard end >= reader.offset else {
            reader.note(
                "public payload",
                at: reader.offset,
                size: 0,
                check: .bad("the public part ends before it")
            )
            throw InspectStop()
        }
        reader.section = "3"
        try reader.raw("public payload", count: end - reader.offset)
    }
}
