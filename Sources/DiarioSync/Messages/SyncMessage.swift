import DiarioCore
import DiarioCrypto
package import DiarioFormat

// Messages between a replica and its authority: schema/format/sync.md, section 4.
//
//   offset  size  field
//        0     4  magic, "dmsg"
//        4     1  protocol version, 1
//        5     1  kind
//        6     2  zero
//        8     4  size of the body
//       12     4  CRC32C of bytes 0 to 12 and of the body
//       16        body

/// One message of sync, parsed and checked, but not the blocks in it.
package enum SyncMessage: Equatable, Sendable {
    case push(Push)
    case verdicts(Verdicts)
    case pull(Pull)
    case news(News)
    case packWanted(PackWanted)
    case pack(PackFiles)
    case refusal(Refusal)
    case compare(Compare)
    case common(Common)
    case publish(Publish)
    case abandon(Abandon)
    case publication(Publication)
    case restore(Publish)
    case relay(Relay)

    package static let version: UInt8 = 1
    static let headerSize = 16

    package enum Kind: UInt8, Sendable {
        case push = 1
        case verdicts = 2
        case pull = 3
        case news = 4
        case packWanted = 5
        case pack = 6
        case refusal = 7
        case compare = 8
        case common = 9
        case publish = 10
        case abandon = 11
        case publication = 12
        case restore = 13
        case relay = 14
    }

    package var kind: Kind {
        switch self {
        case .push: .push
        case .verdicts: .verdicts
        case .pull: .pull
        case .news: .news
        case .packWanted: .packWanted
        case .pack: .pack
        case .refusal: .refusal
        case .compare: .compare
        case .common: .common
        case .publish: .publish
        case .abandon: .abandon
        case .publication: .publication
        case .restore: .restore
        case .relay: .relay
        }
    }

    /// True if the bytes, if they are a message at all, publish or restore a space.
    package static func publishes(_ bytes: [UInt8]) -> Bool {
        let kindOffset = 5
        guard bytes.count > kindOffset, let kind = Kind(rawValue: bytes[kindOffset]) else {
            return false
        }
        return kind == .publish || kind == .abandon || kind == .restore
    }

    /// The message as it travels.
    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: Magic.message.rawValue)
        bytes.append(Self.version)
        bytes.append(kind.rawValue)
        bytes.append(littleEndian: UInt16(0))
        bytes.append(littleEndian: UInt64(0))
        switch self {
        case .push(let push): push.write(into: &bytes)
        case .verdicts(let verdicts): verdicts.write(into: &bytes)
        case .pull(let pull): pull.write(into: &bytes)
        case .news(let news): news.write(into: &bytes)
        case .packWanted(let wanted): wanted.write(into: &bytes)
        case .pack(let pack): pack.write(into: &bytes)
        case .refusal(let refusal): refusal.write(into: &bytes)
        case .compare(let compare): compare.write(into: &bytes)
        case .common(let common): common.write(into: &bytes)
        case .publish(let publish): publish.write(into: &bytes)
        case .abandon(let abandon): abandon.write(into: &bytes)
        case .publication(let publication): publication.write(into: &bytes)
        case .restore(let publish): publish.write(into: &bytes)
        case .relay(let relay): relay.write(into: &bytes)
        }
        let size = bytes.count - Self.headerSize
        precondition(bytes.count <= Limits.messageSizeMax, "who writes a message keeps its limits")
        Self.put(UInt32(size), into: &bytes, at: 8)
        Self.put(Self.checksum(of: bytes.span.raw), into: &bytes, at: 12)
        return bytes
    }

    /// Reads one message, which is all of `bytes`.
    package init(_ bytes: Span<UInt8>) throws(FormatError) {
        guard bytes.count <= Limits.messageSizeMax else {
            throw .tooLarge(.message, size: UInt64(bytes.count), max: Limits.messageSizeMax)
        }
        var reader = ByteReader(bytes.raw)
        try Magic.message.check(try reader.next(UInt32.self))
        let version = try reader.next(UInt8.self)
        guard version == Self.version else { throw .unknownVersion(version, at: 4) }
        guard let kind = Kind(rawValue: try reader.next(UInt8.self)),
            try reader.next(UInt16.self) == 0
        else { throw .malformed(.message, at: 5) }
        let size = try reader.next(UInt32.self)
        let stored = try reader.next(UInt32.self)
        guard size <= reader.remaining else { throw .truncated(at: bytes.count) }
        guard size == reader.remaining else { throw .trailingBytes(at: 16 + Int(size)) }
        let computed = Self.checksum(of: bytes.raw)
        guard stored == computed else {
            throw .checksumMismatch(stored: stored, computed: computed)
        }
        switch kind {
        case .push: self = .push(try Push(&reader))
        case .verdicts: self = .verdicts(try Verdicts(&reader))
        case .pull: self = .pull(try Pull(&reader))
        case .news: self = .news(try News(&reader))
        case .packWanted: self = .packWanted(try PackWanted(&reader))
        case .pack: self = .pack(try PackFiles(&reader))
        case .refusal: self = .refusal(try Refusal(&reader))
        case .compare: self = .compare(try Compare(&reader))
        case .common: self = .common(try Common(&reader))
        case .publish: self = .publish(try Publish(&reader))
        case .abandon: self = .abandon(try Abandon(&reader))
        case .publication: self = .publication(try Publication(&reader))
        case .restore: self = .restore(try Publish(&reader))
        case .relay: self = .relay(try Relay(&reader))
        }
        guard reader.isAtEnd else { throw .trailingBytes(at: reader.offset) }
    }

    private static func checksum(of bytes: RawSpan) -> UInt32 {
        let header = Checksum.crc32c(bytes.extracting(0..<12))
        return Checksum.crc32c(
            bytes.extracting(headerSize..<bytes.byteCount),
            continuing: header
        )
    }

    private static func put(_ value: UInt32, into bytes: inout [UInt8], at offset: Int) {
        for index in 0..<4 {
            bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt32(8 * index))
        }
    }
}
