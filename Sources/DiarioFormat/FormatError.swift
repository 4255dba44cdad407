import DiarioCore
package import DiarioZstd

/// An error in bytes, or in an event that is to be encoded.
package enum FormatError: Error, Equatable {
    /// The bytes end inside the field that starts at `offset`.
    case truncated(at: Int)
    /// Bytes follow where everything was already said.
    case trailingBytes(at: Int)
    /// The value at `offset` is not valid for that part.
    case malformed(FormatPart, at: Int)
    /// The part is larger than `Limits` allow; it was not read.
    case tooLarge(FormatPart, size: UInt64, max: Int)
    /// Written in a version of the format that this program does not know.
    case unknownVersion(UInt8, at: Int)
    /// Written by a version before the first release, which no later one reads.
    case beforeFirstRelease
    /// The bytes changed since they were written.
    case checksumMismatch(stored: UInt32, computed: UInt32)
    /// The body of a block could not be compressed, or does not decompress to the stated size.
    case compression(ZstdError)
    /// A draft of this size is above `Limits.eventSizeMax`; nothing was added.
    case eventTooLarge(size: Int)
    /// The batch would have this size, above `Limits.batchSizeMax`; nothing was added.
    case batchTooLarge(size: Int)
    /// The batch is full; nothing was added.
    case tooManyEvents(count: Int)
    /// `#number` names no earlier event of the batch that makes an id.
    case unresolvedReference(number: Int)
    /// The value of the payload's field is of another kind than the field, or may not be there.
    case invalidField(index: Int)
    /// The time of an event is outside the years 1 to 9999.
    case invalidTime(milliseconds: Int64)
    /// An actor is empty or too long, or not text.
    case invalidActor(size: Int)
    /// A subject is empty, too long or not text, or the type has a subject field.
    case invalidSubject(size: Int)

    /// One sentence for a person; says what and where, not which file.
    package var message: String {
        switch self {
        case .truncated(let offset): "the bytes end inside the field at byte \(offset)"
        case .trailingBytes(let offset): "bytes follow after the end, from byte \(offset)"
        case .malformed(let part, let offset): "invalid \(part.rawValue) at byte \(offset)"
        case .tooLarge(let part, let size, let max):
            "the \(part.rawValue) is too large: \(size), of at most \(max)"
        case .unknownVersion(let version, let offset):
            "version \(version) at byte \(offset) is unknown: a newer program wrote this"
        case .beforeFirstRelease:
            "this was made by a version before the first release: export it with that one"
        case .checksumMismatch(let stored, let computed):
            "the checksum is \(hexadecimal(computed)) where \(hexadecimal(stored)) is stored"
        case .compression(let error): error.message
        case .eventTooLarge(let size):
            "the event takes \(size) bytes, of at most \(Limits.eventSizeMax); shorten its texts "
                + "and lists, or record several events"
        case .batchTooLarge(let size):
            "the batch takes \(size) bytes, of at most \(Limits.batchSizeMax); record its events "
                + "in several batches"
        case .tooManyEvents(let count):
            "the batch has \(count) events, of at most \(Limits.batchCountMax); record them in "
                + "several batches"
        case .unresolvedReference(let number):
            "#\(number) names no earlier event of this batch that makes an id"
        case .invalidField(let index): "the value of field \(index) does not fit its schema"
        case .invalidTime(let milliseconds):
            "the time of an event lies in the years 1 to 9999, not \(milliseconds) milliseconds "
                + "from 1970"
        case .invalidActor(let size):
            "an actor is text of 1 to \(Limits.actorSizeMax) bytes, not \(size)"
        case .invalidSubject(let size):
            "a subject is text of 1 to \(Limits.subjectSizeMax) bytes, not \(size), "
                + "and only for types without x-diario-subject"
        }
    }

    /// The offset of the fault; zero if it has none.
    package var offset: Int {
        switch self {
        case .truncated(let offset), .trailingBytes(let offset), .malformed(_, let offset),
            .unknownVersion(_, let offset):
            offset
        default: 0
        }
    }

    private func hexadecimal(_ value: UInt32) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}

/// The parts of the format that an error can name.
package enum FormatPart: String, Sendable {
    case magic
    case fileFlags = "flags of a file"
    case blockFlags = "block flags"
    case compression = "compression of a block"
    case context = "context of a block"
    case body = "body of a block"
    case identity
    case storedBody = "stored body of a block"
    case eventCount = "number of events"
    case position
    case acceptedTimes = "accepted times"
    case replica = "replica id"
    case runs
    case sequence
    case types = "list of types"
    case typeName = "type name"
    case typeVersion = "type version"
    case saltNode = "salt node"
    case highestClock = "highest clock"
    case clock
    case time = "time of a row"
    case row
    case publicPart = "public part"
    case personalPart = "personal part"
    case batch = "place in a batch"
    case rowFlags = "flags of a row"
    case actor
    case subject
    case varint
    case text
    case presence = "presence bitmap"
    case number
    case boolean
    case enumIndex = "enum index"
    case date
    case dateTime = "date-time"
    case identifier = "new id"
    case compactRange = "compact range"
    case message
    case verdict
    case news
    case inbox
    case kept = "file of kept events"
    case imports = "note of an import"
}
