import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioSchema

/// Answers requests of the second implementation of the formats, each a JSON object.
///
/// `{"judge":{...}}` says whether an event fits its type, and `{"segment":{...}}` seals events.
/// Answers begin with `"ok"`.
struct Harness {
    private let catalog: TypeCatalog
    private var reader: EventLineReader
    private var plan = SegmentPlan()

    init(catalog: TypeCatalog) {
        self.catalog = catalog
        reader = EventLineReader(catalog: catalog, options: .batchReferences)
    }

    mutating func answer(_ request: [UInt8]) -> [UInt8] {
        do {
            // What is judged need not be JSON.
            let judge = Array(#"{"judge":"#.utf8)
            if request.starts(with: judge) {
                var line = EventLine()
                let event = Array(request.dropFirst(judge.count).dropLast())
                try reader.read(event.span, into: &line)
                return Array(#"{"ok":true}"#.utf8)
            }
            guard let segment = try JSON.parse(request).value.member("segment") else {
                throw HarnessError(message: "neither judge nor segment")
            }
            return try seal(SegmentRequest(segment.item.value))
        } catch {
            return refusal(error)
        }
    }

    private func refusal(_ error: any Error) -> [UInt8] {
        let known =
            switch error {
            case let error as HarnessError: error
            case let error as SchemaError:
                HarnessError(message: error.message, field: error.path, rule: error.rule)
            case let error as FormatError: HarnessError(message: error.message, rule: "format")
            default: HarnessError(message: "\(error)")
            }
        return JSONObjectWriter.object { json in
            json.add("ok", false)
            json.add("message", known.message)
            json.add("field", known.field)
            json.add("rule", known.rule)
        }
    }

    private mutating func seal(_ request: SegmentRequest) throws -> [UInt8] {
        if !request.keepsPlan { plan = SegmentPlan() }
        var types = catalog.types
        var budget = PatternBudget()
        for schema in request.schemas {
            let bytes = Array(schema.utf8)
            types.append(try EventType(schema: bytes, file: "schema", budget: &budget))
        }
        var reader = EventLineReader(catalog: try TypeCatalog(types), options: .exportKeys)
        var builder = SegmentBuilder(firstPosition: request.firstPosition)
        for item in request.rows {
            let row = try EncodedRow(RowRequest(item), &reader)
            let isErased = isTrue(item, "erased")
            let (event, bytes) = row.event(
                isPending: request.firstPosition == nil,
                isAuthority: isTrue(item, "authority"),
                isErased: isErased
            )
            try builder.append(event, of: bytes.span, type: row.type)
        }
        for node in request.nodes { builder.append(node) }
        let sealed = try builder.finish(&plan)
        return JSONObjectWriter.object { json in
            json.add("ok", true)
            json.add("segment", hexadecimal(sealed.segment))
            json.add("sidecar", hexadecimal(sealed.sidecar))
        }
    }
}

/// Why a request has no answer.
struct HarnessError: Error {
    let message: String
    var field = ""
    var rule = "request"
}

/// An event as a block has it.
private struct EncodedRow {
    let type: EventType
    private let commitment: Hash32?
    private let request: RowRequest
    private let publicPart: [UInt8]
    private let personalPart: [UInt8]?

    init(_ request: RowRequest, _ reader: inout EventLineReader) throws {
        var line = EventLine()
        try reader.read(request.line.span, into: &line)
        let arena = line.arena.span
        var actor: Span<UInt8>?
        if let range = line.actor { actor = arena.extracting(range) }
        var subject: Span<UInt8>?
        if let range = line.subject { subject = arena.extracting(range) }
        var batch = DraftBatch()
        try batch.append(
            line.payload,
            type: line.type,
            actor: actor,
            subject: subject,
            ifUnchanged: line.ifUnchanged,
            origin: request.envelope.origin
        )
        var builder = BlockBuilder()
        builder.append(event: 0, of: batch, envelope: request.envelope)
        var block: [UInt8] = []
        builder.write(
            into: &block,
            position: 1,
            times: [AcceptedRun(count: 1, acceptedAt: Timestamp(milliseconds: request.acceptedAt))],
            isAuthority: line.type.pack == "engine"
        )
        // Read back from a block, as any reader of the log would.
        var cursor = RowCursor(
            block.span,
            try BlockSummary.parse(block.span, verifyChecksum: true)
        )
        guard let row = try cursor.next() else { throw FormatError.malformed(.row, at: 0) }
        self.init(block, row, line.type, request)
    }

    private init(_ block: [UInt8], _ row: BlockRow, _ type: EventType, _ request: RowRequest) {
        self.type = type
        self.request = request
        if case .present(let range) = row.personal {
            let group = SaltSeed.group(of: row.sequence)
            var hasher = EventHasher()
            let raw = block.span.raw
            let seed = SaltSeed(replica: row.replica, group: group, root: request.seed)
            let salt = hasher.salt(seed, index: SaltSeed.index(of: row.sequence))
            commitment = hasher.commitment(raw.extracting(range), salt: salt)
            personalPart = Array(block[range])
        } else {
            commitment = nil
            personalPart = nil
        }
        publicPart = Array(block[row.publicPart])
    }

    /// The event for a segment, and the bytes that it is in.
    func event(
        isPending: Bool,
        isAuthority: Bool,
        isErased: Bool
    ) -> (SegmentEvent, [UInt8]) {
        var bytes = publicPart
        var personal = BlockRow.Personal.absent
        if let commitment, let personalPart {
            if isErased { commitment.append(to: &bytes) } else { bytes += personalPart }
            let range = publicPart.count..<bytes.count
            personal = isErased ? .erased(commitment: range) : .present(range)
        }
        let acceptedAt = Timestamp(milliseconds: request.acceptedAt)
        let event = SegmentEvent(
            replica: request.envelope.replica,
            sequence: request.envelope.sequence,
            acceptedAt: isPending ? nil : acceptedAt,
            isAuthority: isAuthority,
            publicPart: 0..<publicPart.count,
            personal: personal
        )
        return (event, bytes)
    }
}

/// Lower-case digits, two for each byte.
private func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
        decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
        as: UTF8.self
    )
}
