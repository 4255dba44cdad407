import DiarioFormat
import DiarioFrames
import DiarioLog

/// Small files of a data directory, with checksums that are right: what is read is written again as
/// the same bytes.
enum FileSubject {
    static func header(_ input: [UInt8]) {
        var bytes = Array(input.prefix(56))
        bytes += [UInt8](repeating: 0, count: 56 - bytes.count)
        bytes.append(littleEndian: Checksum.crc32c(bytes.span.raw))
        bytes += [UInt8](repeating: 0, count: LogFileHeader.size - bytes.count)
        guard let header = LogFileHeader(bytes.span) else { return }
        precondition(header.encoded() == bytes, "a header has one form")
    }

    /// The stored bytes of a blob, or of one whose only chunk has `input` as its plain bytes.
    static func blob(_ input: [UInt8]) {
        let key = BlobKey(Array(repeating: 7, count: BlobKey.size))
        var whole: [UInt8] = []
        if let writer = try? BlobWriter(key: key) {
            try? writer.write(input.span, into: &whole)
            _ = try? writer.finish(into: &whole)
        }
        precondition(opened(whole, key) == input, "what was written opens")
        guard let plain = opened(input, key), let writer = try? BlobWriter(key: key) else { return }
        var again: [UInt8] = []
        try? writer.write(plain.span, into: &again)
        _ = try? writer.finish(into: &again)
        precondition(again == input, "a blob has one form under a key")
    }

    private static func opened(_ stored: [UInt8], _ key: BlobKey?) -> [UInt8]? {
        let header = stored.span.extracting(first: min(8, stored.count))
        let reader = try? BlobReader(key: key, header: header, storedSize: Int64(stored.count))
        guard let reader else { return nil }
        var plain: [UInt8] = []
        for chunk in 0..<reader.layout.chunkCount {
            let range = reader.layout.storedRange(of: chunk)
            let bytes = stored.span.extracting(Int(range.lowerBound)..<Int(range.upperBound))
            guard (try? reader.open(chunk: chunk, bytes, into: &plain)) != nil else { return nil }
        }
        return plain
    }

    static func manifest(_ input: [UInt8]) {
        let bytes = sealed(input)
        guard let manifest = Manifest(bytes.span) else { return }
        precondition(manifest.encoded() == bytes, "a manifest has one form")
    }

    static func replica(_ input: [UInt8]) {
        let bytes = sealed(input)
        guard let file = ReplicaFile(bytes.span) else { return }
        precondition(file.encoded() == bytes, "a replica file has one form")
    }

    static func mark(_ input: [UInt8]) {
        let bytes = sealed(input)
        guard let mark = SyncedMark(bytes.span) else { return }
        precondition(mark.encoded() == bytes, "a mark has one form")
    }

    static func tileMark(_ input: [UInt8]) {
        let bytes = sealed(input)
        guard let mark = TileMark(bytes.span) else { return }
        precondition(mark.encoded() == bytes, "a mark has one form")
    }

    static func state(_ input: [UInt8]) {
        guard let state = SpaceState(input.span) else { return }
        var bytes: [UInt8] = []
        state.append(to: &bytes)
        precondition(bytes == input, "a state has one form")
    }

    /// Names that are not known are passed over, so only what is written again has one form.
    static func remote(_ input: [UInt8]) {
        guard let file = RemoteFile(lines("diario-remote 1", input)) else { return }
        precondition(RemoteFile(file.encoded()) == file, "what is written is read")
    }

    static func lastSync(_ input: [UInt8]) {
        guard let file = LastSyncFile(lines("diario-last-sync 1", input)) else { return }
        precondition(LastSyncFile(file.encoded()) == file, "what is written is read")
    }

    /// Lines between a heading and a checksum.
    private static func lines(_ heading: String, _ input: [UInt8]) -> [UInt8] {
        let bytes = Array((heading + "\n").utf8) + input + [0x0a]
        return bytes + Array("crc32c \(Checksum.crc32c(bytes.span.raw))\n".utf8)
    }

    /// A checksum over all ends these files.
    private static func sealed(_ input: [UInt8]) -> [UInt8] {
        var bytes = input
        bytes.append(littleEndian: Checksum.crc32c(bytes.span.raw))
        return bytes
    }
}
