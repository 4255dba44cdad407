import DiarioCore

/// The keys of a line beside the payload's own, in the order in which a line is written.
enum EnvelopeKey: UInt8, CaseIterable {
    case type, version, payload, subject, actor, at, ifUnchanged
    case origin, position, base, clock, acceptedAt, batch

    var name: StaticString {
        switch self {
        case .type: "type"
        case .version: "version"
        case .payload: "payload"
        case .subject: "subject"
        case .actor: "actor"
        case .at: "at"
        case .ifUnchanged: "ifUnchanged"
        case .origin: "origin"
        case .position: "position"
        case .base: "base"
        case .clock: "clock"
        case .acceptedAt: "acceptedAt"
        case .batch: "batch"
        }
    }

    /// True for the keys that only an export has.
    var isExported: Bool {
        switch self {
        case .origin, .position, .base, .clock, .acceptedAt: true
        case .type, .version, .payload, .subject, .actor, .at, .ifUnchanged, .batch: false
        }
    }

    /// True for the keys by which a client names its events itself.
    var isOfOrigin: Bool { self == .origin || self == .base }

    /// All keys as the bytes `"name":`, in their order, with padding.
    static let tokens: (bytes: [UInt8], ranges: [SchemaRange]) = {
        var bytes: [UInt8] = []
        var ranges: [SchemaRange] = []
        for key in allCases {
            let token = Array("\"\(key.name)\":".utf8)
            ranges.append(SchemaRange(start: bytes.count, count: token.count))
            bytes += token
        }
        bytes.append(repeating: 0, count: 8)
        return (bytes, ranges)
    }()
}
