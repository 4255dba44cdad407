import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioSchema

/// The members of a request that seals events in a segment and its sidecar.
struct SegmentRequest {
    let schemas: [String]
    let rows: [JSON]
    /// Nil if the events are pending.
    let firstPosition: UInt64?
    let nodes: [SaltNode]
    /// Whether the encodings are those that the request before had chosen.
    let keepsPlan: Bool

    init(_ request: JSON) throws(HarnessError) {
        guard case .object = request else { throw HarnessError(message: "no object") }
        var schemas: [String] = []
        for item in Self.items(request, "schemas") {
            guard case .string(let text) = item else {
                throw HarnessError(message: "a schema is no text")
            }
            schemas.append(text)
        }
        self.schemas = schemas
        rows = Self.items(request, "rows")
        if case .integer(let position) = request.member("firstPosition")?.item.value {
            guard position > 0 else { throw HarnessError(message: "positions start at 1") }
            firstPosition = UInt64(position)
        } else {
            firstPosition = nil
        }
        var nodes: [SaltNode] = []
        for item in Self.items(request, "nodes") { nodes.append(try Self.node(item)) }
        self.nodes = nodes
        keepsPlan = Self.isTrue(request, "keepsPlan")
    }

    static func isTrue(_ request: JSON, _ key: String) -> Bool {
        if case .boolean(true) = request.member(key)?.item.value { true } else { false }
    }

    private static func items(_ request: JSON, _ key: String) -> [JSON] {
        guard case .array(let items) = request.member(key)?.item.value else { return [] }
        return items.map(\.value)
    }

    private static func node(_ request: JSON) throws(HarnessError) -> SaltNode {
        let level = try RowRequest.integer(request, "level")
        let index = try RowRequest.integer(request, "index")
        let group = try RowRequest.integer(request, "group")
        guard let replica = ReplicaID(text: try RowRequest.text(request, "replica")), group >= 0,
            0...Int64(SaltNode.levelMax) ~= level, 0..<1 << level ~= index
        else { throw HarnessError(message: "a node is outside its tree") }
        return SaltNode(
            replica: replica,
            group: UInt64(group),
            level: Int(level),
            index: Int(index),
            value: try RowRequest.salt(request, "value")
        )
    }
}

/// Seals the events of requests.
struct SegmentHarness {
    private var plan = SegmentPlan()

    mutating func answer(
        _ request: SegmentRequest,
        known: TypeCatalog
    ) throws(HarnessError) -> [UInt8] {
        if !request.keepsPlan { plan = SegmentPlan() }
        let catalog = try Self.catalog(request.schemas, known)
        var reader = EventLineReader(catalog: catalog, options: .exportKeys)
        try Self.checkOrder(request.rows)
        var builder = SegmentBuilder(firstPosition: request.firstPosition)
        for row in request.rows {
            try Self.append(row, to: &builder, &reader, isPending: request.firstPosition == nil)
        }
        for node in request.nodes { builder.append(node) }
        let sealed: SealedSegment
        do throws(FormatError) { sealed = try builder.finish(&plan) } catch {
            throw HarnessError(message: error.message, rule: "format")
        }
        return JSONObjectWriter.object { json in
            json.add("ok", true)
            json.add("segment", hexadecimal(sealed.segment))
            json.add("sidecar", hexadecimal(sealed.sidecar))
        }
    }

    /// Segments are made of a log, which keeps this order.
    private static func checkOrder(_ rows: [JSON]) throws(HarnessError) {
        guard !rows.isEmpty else { throw HarnessError(message: "there are no rows") }
        var sequences: [String: Int64] = [:]
        var acceptedAt = Int64.min
        for row in rows {
            let replica = try RowRequest.text(row, "replica")
            let sequence = try RowRequest.integer(row, "sequence")
            let time = try RowRequest.integer(row, "acceptedAt")
            guard sequences[replica] ?? 0 < sequence, time >= acceptedAt else {
                throw HarnessError(message: "sequences or times of acceptance decrease")
            }
            sequences[replica] = sequence
            acceptedAt = time
        }
    }

    private static func append(
        _ item: JSON,
        to builder: inout SegmentBuilder,
        _ reader: inout EventLineReader,
        isPending: Bool
    ) throws(HarnessError) {
        let request = try RowRequest(item)
        var line = EventLine()
        do throws(SchemaError) { try reader.read(request.line.span, into: &line) } catch {
            throw HarnessError(message: error.message, field: error.path, rule: error.rule)
        }
        do throws(FormatError) {
            let row = try EncodedRow(line, request)
            var bytes = row.publicPart
            var personal = BlockRow.Personal.absent
            if let commitment = row.commitment, let part = row.personalPart {
                let isErased = SegmentRequest.isTrue(item, "erased")
                let start = bytes.count
                if isErased { commitment.append(to: &bytes) } else { bytes += part }
                let range = start..<bytes.count
                personal = isErased ? .erased(commitment: range) : .present(range)
            }
            let event = SegmentEvent(
                replica: request.envelope.replica,
                sequence: request.envelope.sequence,
                acceptedAt: isPending ? nil : Timestamp(milliseconds: request.acceptedAt),
                isAuthority: SegmentRequest.isTrue(item, "authority"),
                publicPart: 0..<row.publicPart.count,
                personal: personal
            )
            try builder.append(event, of: bytes.span, type: line.type)
        } catch {
            throw HarnessError(message: error.message, rule: "format")
        }
    }

    /// The types of the schemas beside those that are known.
    private static func catalog(
        _ schemas: [String],
        _ known: TypeCatalog
    ) throws(HarnessError) -> TypeCatalog {
        var types = known.types
        var budget = PatternBudget()
        do {
            for schema in schemas {
                types.append(
                    try EventType(schema: Array(schema.utf8), file: "schema", budget: &budget)
                )
            }
            return try TypeCatalog(types)
        } catch {
            throw HarnessError(message: "a schema is none, or comes twice", rule: "schema")
        }
    }
}
