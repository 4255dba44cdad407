import DiarioCore
import DiarioFormat
import DiarioSchema

/// An event with all that its row has.
struct RowRequest {
    /// The event as a line that the reader of events takes.
    let line: [UInt8]
    let envelope: RowEnvelope
    let seed: Salt
    let acceptedAt: Int64

    init(_ request: JSON) throws {
        line = JSONObjectWriter.object { json in
            for key in ["type", "version", "payload", "subject", "actor", "ifUnchanged"] {
                guard let value = request.member(key)?.item.value else { continue }
                var bytes: [UInt8] = []
                value.appendCanonical(to: &bytes)
                json.add(key, json: bytes)
            }
        }
        let clock = try text(request, "clock").split(separator: "-")
        guard clock.count == 2, let milliseconds = Int64(clock[0]), let counter = UInt16(clock[1])
        else { throw HarnessError(message: "clock is not milliseconds-counter") }
        envelope = RowEnvelope(
            replica: try replica(request),
            sequence: UInt64(try integer(request, "sequence")),
            batchFirst: UInt64(try integer(request, "batchFirst")),
            batchCount: Int(try integer(request, "batchCount")),
            clock: HybridTime(milliseconds: milliseconds, counter: counter),
            at: Timestamp(milliseconds: try integer(request, "at")),
            base: UInt64(try integer(request, "base"))
        )
        seed = try salt(request, "seed")
        acceptedAt = try integer(request, "acceptedAt")
    }
}

/// A request that seals events in a segment and its sidecar.
struct SegmentRequest {
    let schemas: [String]
    let rows: [JSON]
    /// Nil if the events are pending.
    let firstPosition: UInt64?
    let nodes: [SaltNode]
    /// Whether the encodings are those that the request before had chosen.
    let keepsPlan: Bool

    init(_ request: JSON) throws {
        rows = items(request, "rows")
        schemas = items(request, "schemas").compactMap { item in
            if case .string(let text) = item { text } else { nil }
        }
        let isPending = request.member("firstPosition") == nil
        firstPosition = isPending ? nil : UInt64(try integer(request, "firstPosition"))
        nodes = try items(request, "nodes").map { item in
            SaltNode(
                replica: try replica(item),
                group: UInt64(try integer(item, "group")),
                level: Int(try integer(item, "level")),
                index: Int(try integer(item, "index")),
                value: try salt(item, "value")
            )
        }
        keepsPlan = isTrue(request, "keepsPlan")
    }
}

func isTrue(_ request: JSON, _ key: String) -> Bool {
    if case .boolean(true) = request.member(key)?.item.value { true } else { false }
}

private func items(_ request: JSON, _ key: String) -> [JSON] {
    guard case .array(let items) = request.member(key)?.item.value else { return [] }
    return items.map(\.value)
}

private func text(_ request: JSON, _ key: String) throws -> String {
    guard case .string(let text) = request.member(key)?.item.value else {
        throw HarnessError(message: "\(key) is no text")
    }
    return text
}

private func integer(_ request: JSON, _ key: String) throws -> Int64 {
    guard case .integer(let value) = request.member(key)?.item.value else {
        throw HarnessError(message: "\(key) is no integer")
    }
    return value
}

private func replica(_ request: JSON) throws -> ReplicaID {
    guard let replica = ReplicaID(text: try text(request, "replica")) else {
        throw HarnessError(message: "replica is no id")
    }
    return replica
}

/// 32 hexadecimal digits, in the order of the bytes.
private func salt(_ request: JSON, _ key: String) throws -> Salt {
    let text = try text(request, key)
    guard text.utf8.count == 32, let first = UInt64(text.prefix(16), radix: 16),
        let second = UInt64(text.dropFirst(16), radix: 16)
    else { throw HarnessError(message: "\(key) is not 32 hexadecimal digits") }
    return Salt(first: first.byteSwapped, second: second.byteSwapped)
}
