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
