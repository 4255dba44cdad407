import DiarioCore
import DiarioCrypto
import DiarioFormat
package import DiarioSchema

/// Answers requests of another implementation's tests: what an event's row and hashes are, and
/// which segment events become.
package struct Harness {
    private let catalog: TypeCatalog
    private var reader: EventLineReader
    /// For `row`, whose ids are given.
    private var rowReader: EventLineReader
    private var line = EventLine()
    private var segments = SegmentHarness()

    package init(catalog: TypeCatalog) {
        self.catalog = catalog
        reader = EventLineReader(catalog: catalog, options: .batchReferences)
        rowReader = EventLineReader(catalog: catalog, options: .exportKeys)
    }

    /// Appends the answer to `request`, without a line feed.
    package mutating func answer(_ request: Span<UInt8>, to output: inout [UInt8]) {
        var text: [UInt8] = []
        for index in request.indices { text.append(request[index]) }
        guard let item = try? JSON.parse(text) else {
            Judge.answer(request, reader: &reader, to: &output)
            return
        }
        do throws(HarnessError) {
            if let row = item.value.member("row") {
                output += try answer(try RowRequest(row.item.value))
            } else if let segment = item.value.member("segment") {
                let segmentRequest = try SegmentRequest(segment.item.value)
                output += try segments.answer(segmentRequest, known: catalog)
            } else {
                Judge.answer(request, reader: &reader, to: &output)
            }
        } catch {
            output += JSONObjectWriter.object { json in
                json.add("ok", false)
                json.add("message", error.message)
                json.add("field", error.field)
                json.add("rule", error.rule)
            }
        }
    }

    private mutating func answer(_ request: RowRequest) throws(HarnessError) -> [UInt8] {
        do throws(SchemaError) { try rowReader.read(request.line.span, into: &line) } catch {
            throw HarnessError(message: error.message, field: error.path, rule: error.rule)
        }
        do throws(FormatError) {
            let row = try EncodedRow(line, request)
            return JSONObjectWriter.object { json in
                json.add("ok", true)
                json.add("row", hexadecimal(row.bytes))
                json.add("eventHash", row.eventHash.text)
                json.add("leaf", row.leaf.text)
                if let commitment = row.commitment {
                    json.add("commitment", commitment.text)
                } else {
                    json.addNull("commitment")
                }
            }
        } catch {
            throw HarnessError(message: error.message, field: "", rule: "format")
        }
    }
}

/// Lower-case digits, two for each byte.
func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var characters: [UInt8] = []
    characters.reserveCapacity(2 * bytes.count)
    for byte in bytes {
        characters.append(digits[Int(byte >> 4)])
        characters.append(digits[Int(byte & 15)])
    }
    return String(decoding: characters, as: UTF8.self)
}

/// Why a request has no answer.
struct HarnessError: Error {
    let message: String
    var field = ""
    var rule = "request"
}

/// The members of a request for a row.
struct RowRequest {
    /// The event as a line that the reader of events takes.
    let line: [UInt8]
    let envelope: RowEnvelope
    let seed: Salt
    let acceptedAt: Int64

    init(_ request: JSON) throws(HarnessError) {
        guard case .object = request else { throw HarnessError(message: "row is not an object") }
        line = JSONObjectWriter.object { json in
            for key in ["type", "version", "payload", "subject", "actor", "ifUnchanged"] {
                guard let value = request.member(key)?.item.value else { continue }
                var bytes: [UInt8] = []
                value.appendCanonical(to: &bytes)
                json.add(key, json: bytes)
            }
        }
        guard let replica = ReplicaID(text: try Self.text(request, "replica")) else {
            throw HarnessError(message: "replica is no id")
        }
        let sequence = UInt64(bitPattern: try Self.integer(request, "sequence"))
        let batchFirst = UInt64(bitPattern: try Self.integer(request, "batchFirst"))
        let batchCount = try Self.integer(request, "batchCount")
        guard sequence >= 1, sequence < UInt64(Int64.max), batchFirst >= 1, batchFirst <= sequence,
            1...1000 ~= batchCount, sequence - batchFirst < UInt64(batchCount)
        else { throw HarnessError(message: "the event does not lie in its batch") }
        let parts = try Self.text(request, "clock").split(separator: "-")
        guard parts.count == 2, let milliseconds = Int64(parts[0]), let counter = UInt16(parts[1]),
            0...HybridTime.millisecondsMax ~= milliseconds
        else { throw HarnessError(message: "clock is not milliseconds-counter") }
        envelope = RowEnvelope(
            replica: replica,
            sequence: sequence,
            batchFirst: batchFirst,
            batchCount: Int(batchCount),
            clock: HybridTime(milliseconds: milliseconds, counter: counter),
            at: Timestamp(milliseconds: try Self.integer(request, "at")),
            base: UInt64(bitPattern: try Self.integer(request, "base"))
        )
        seed = try Self.salt(request, "seed")
        acceptedAt = try Self.integer(request, "acceptedAt")
    }

    static func text(_ request: JSON, _ key: String) throws(HarnessError) -> String {
        guard case .string(let text) = request.member(key)?.item.value else {
            throw HarnessError(message: "\(key) is no text")
        }
        return text
    }

    static func integer(_ request: JSON, _ key: String) throws(HarnessError) -> Int64 {
        guard case .integer(let value) = request.member(key)?.item.value else {
            throw HarnessError(message: "\(key) is no integer")
        }
        return value
    }

    /// 32 hexadecimal digits, in the order of the bytes.
    static func salt(_ request: JSON, _ key: String) throws(HarnessError) -> Salt {
        let text = try text(request, key)
        guard text.utf8.count == 32, let first = UInt64(text.prefix(16), radix: 16),
            let second = UInt64(text.dropFirst(16), radix: 16)
        else { throw HarnessError(message: "\(key) is not 32 hexadecimal digits") }
        return Salt(first: first.byteSwapped, second: second.byteSwapped)
    }
}

/// An event as bytes, with its hashes.
struct EncodedRow {
    let bytes: [UInt8]
    let eventHash: Hash32
    let leaf: Hash32
    let commitment: Hash32?
    let publicPart: [UInt8]
    let personalPart: [UInt8]?

    /// Encodes the event of `line` with the ids and times of `request`.
    init(_ line: EventLine, _ request: RowRequest) throws(FormatError) {
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
        let summary = try BlockSummary.parse(block.span, verifyChecksum: true)
        var cursor = RowCursor(block.span, summary)
        guard let row = try cursor.next() else { throw .malformed(.row, at: 0) }
        self.init(block, row, line.type, request)
    }

    private init(
        _ block: [UInt8],
        _ row: BlockRow,
        _ type: EventType,
        _ request: RowRequest
    ) {
        var hasher = EventHasher()
        let raw = block.span.raw
        if case .present(let range) = row.personal {
            let group = SaltSeed.group(of: row.sequence)
            let seed = SaltSeed(replica: row.replica, group: group, root: request.seed)
            let salt = hasher.salt(seed, index: SaltSeed.index(of: row.sequence))
            commitment = hasher.commitment(raw.extracting(range), salt: salt)
            personalPart = Array(block[range])
        } else {
            commitment = nil
            personalPart = nil
        }
        publicPart = Array(block[row.publicPart])
        var bytes: [UInt8] = []
        let name = type.nameBytes
        CanonicalRow.appendStart(
            to: &bytes,
            typeName: name.span,
            version: type.version,
            replica: row.replica,
            sequence: row.sequence
        )
        bytes += publicPart
        commitment?.append(to: &bytes)
        self.bytes = bytes
        eventHash = hasher.hash(bytes.span)
        leaf = hasher.leaf(eventHash, acceptedAt: request.acceptedAt)
    }
}
