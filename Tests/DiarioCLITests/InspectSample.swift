import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSchema

/// A small file of the write-ahead log, put together from the document.
enum InspectSample {
    /// Bytes of each of its frames.
    static let frameSize = 40 + 16 + 32

    private static let generation: UInt64 = 0x0123_4567_89ab_cdef

    /// A header, three frames with a seed each, and zeros.
    static func logFile() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes += Array("dwal".utf8) + [1, 0, 0, 0]
        for value: UInt64 in [1, generation, 0, 0, 1, 1_700_000_000_000] {
            bytes.append(littleEndian: value)
        }
        bytes.append(littleEndian: Checksum.crc32c(bytes.span.raw))
        bytes += [UInt8](repeating: 0, count: 4096 - bytes.count)
        for number: UInt64 in 1...3 { bytes += frame(number, at: UInt64(bytes.count)) }
        return bytes + [UInt8](repeating: 0, count: 256)
    }

    private static func frame(_ number: UInt64, at offset: UInt64) -> [UInt8] {
        var rest: [UInt8] = []
        rest.append(littleEndian: generation)
        rest.append(littleEndian: number)
        rest.append(littleEndian: offset)
        rest.append(littleEndian: UInt32(48))
        rest.append(littleEndian: UInt32(1))
        // A record: the kind, its length, the space, and the seed of a group.
        rest.append(littleEndian: UInt32(2))
        rest.append(littleEndian: UInt32(32))
        for value: UInt64 in [7, 9, number - 1, 11, 12] { rest.append(littleEndian: value) }
        var bytes = Array("dfrm".utf8)
        bytes.append(littleEndian: Checksum.crc32c(rest.span.raw))
        return bytes + rest
    }

    /// A file of an inbox, or a note of an import, about one event, and its name.
    static func inboxFile(_ suffix: String) throws(FormatError) -> (name: String, bytes: [UInt8]) {
        guard let replica = ReplicaID(rawValue: 7), let other = ReplicaID(rawValue: 9) else {
            preconditionFailure("these are not zero")
        }
        let first = Origin(replica: replica, sequence: 0x1f)
        let name = "\(replica.text)-000000000000001f.\(suffix)"
        if suffix == "dimp" {
            let there = Origin(replica: other, sequence: 5)
            let note = ImportNote(
                group: .init(first: first, count: 1, digest: .zero),
                runs: [ImportedRun(first: there, count: 1, newFirst: first)]
            )
            return (name, note.encoded())
        }
        guard suffix == "dbox" else {
            let new = Origin(replica: other, sequence: 2)
            return (name, InboxNote(old: first, count: 1, new: new).encoded())
        }
        var draft = DraftBatch()
        var payload = Payload()
        payload.reset(fieldCount: 0)
        try draft.append(payload, type: .unknown("shed.note.made", version: 1))
        var builder = BlockBuilder()
        builder.append(
            draft,
            replica: replica,
            firstSequence: first.sequence,
            clock: HybridTime(rawValue: 1),
            base: 0
        )
        var block: [UInt8] = []
        builder.write(into: &block, position: nil, times: [], isAuthority: false)
        let entry = InboxEntry(
            replica: replica,
            sequences: first.sequence...first.sequence,
            writtenAt: Timestamp(milliseconds: 1_700_000_000_000),
            block: block
        )
        return (name, entry.encoded())
    }
}
