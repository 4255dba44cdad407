import DiarioFormat
import DiarioLog
import DiarioSync

/// What replicas and authorities say to one another, and what they keep of it, with sizes and
/// checksums that are right.
enum SyncSubject {
    /// The first byte is the kind, the others are the body.
    static func message(_ input: [UInt8]) {
        guard let kind = input.first else { return }
        let body = Array(input.dropFirst())
        var bytes = Array("dmsg".utf8) + [SyncMessage.version, kind, 0, 0]
        bytes.append(littleEndian: UInt32(body.count))
        bytes.append(
            littleEndian: Checksum.crc32c(
                body.span.raw,
                continuing: Checksum.crc32c(bytes.span.raw)
            )
        )
        bytes += body
        guard let message = try? SyncMessage(bytes.span) else { return }
        precondition(message.encoded() == bytes, "a message has one form")
    }

    /// The bytes are the block of a file of the inbox.
    static func inbox(_ block: [UInt8]) {
        var bytes = Array("dbox".utf8) + [1, 0, 0, 0] + [UInt8](repeating: 0, count: 8)
        bytes.append(counted: block.span.raw)
        bytes.append(littleEndian: Checksum.crc32c(bytes.span.raw))
        guard let entry = try? InboxEntry(bytes.span) else { return }
        precondition(entry.encoded() == bytes, "a file of the inbox has one form")
        guard let (_, head) = try? entry.unpacked() else {
            preconditionFailure("what was read can be unpacked")
        }
        precondition(head.summary.eventCount == entry.sequences.count, "the events are the batch")
    }

    static func note(_ input: [UInt8]) {
        var bytes = Array("dnew".utf8) + [1, 0, 0, 0] + Array(input.prefix(40))
        bytes += [UInt8](repeating: 0, count: 48 - bytes.count)
        bytes.append(littleEndian: Checksum.crc32c(bytes.span.raw))
        guard let note = try? InboxNote(bytes.span) else { return }
        precondition(note.encoded() == bytes, "a note has one form")
    }

    static func importNote(_ input: [UInt8]) {
        var bytes = Array("dimp".utf8) + [1, 0, 0, 0] + input.prefix(56)
        bytes += [UInt8](repeating: 0, count: 64 - bytes.count)
        bytes += input.dropFirst(56)
        bytes.append(littleEndian: Checksum.crc32c(bytes.span.raw))
        guard let note = try? ImportNote(bytes.span) else { return }
        precondition(note.encoded() == bytes, "a note has one form")
    }
}
