import DiarioCore
import DiarioFormat
import DiarioFrames
import DiarioSchema

/// All files of a pack as one file: schema/format/page.md, section 5.
enum JoinedPack {
    /// Paths and bytes of a pack, and what the file has besides.
    static let sizeMax = Limits.packSizeMax + 16 * Limits.packFileCountMax

    static func encoded(_ files: [PackFile]) -> [UInt8] {
        var bytes = SmallFile.begin(.pack)
        for file in files {
            bytes.append(text: file.path)
            bytes.append(counted: file.bytes.span.raw)
        }
        SmallFile.end(&bytes)
        return bytes
    }

    static func read(_ bytes: Span<UInt8>) throws(FormatError) -> [PackFile] {
        let end = try SmallFile.check(bytes, .pack)
        var reader = ByteReader(bytes.raw, range: SmallFile.headerSize..<end)
        var files: [PackFile] = []
        while !reader.isAtEnd {
            let path = reader.copy(try reader.nextText())
            let content = reader.copy(try reader.nextBytes())
            files.append(PackFile(path: String(decoding: path, as: UTF8.self), bytes: content))
        }
        return files
    }
}
