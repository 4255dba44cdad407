import DiarioCore
package import DiarioCrypto
import DiarioFormat

/// Asks for a pack that the log says was adopted.
package struct PackWanted: Equatable, Sendable {
    package var standing: Standing
    package var fingerprint: Hash32

    package init(standing: Standing, fingerprint: Hash32) {
        self.standing = standing
        self.fingerprint = fingerprint
    }
}

/// The files of a pack, without its examples.
package struct PackFiles: Equatable, Sendable {
    package struct File: Equatable, Sendable {
        /// Relative to the pack, with `/`.
        package var path: String
        package var content: [UInt8]

        package init(path: String, content: [UInt8]) {
            self.path = path
            self.content = content
        }
    }

    package var files: [File]

    package init(files: [File]) { self.files = files }
}

/// A pack with the name under which it was adopted.
package struct NamedPack: Equatable, Sendable {
    package var fingerprint: Hash32
    package var pack: PackFiles

    package init(fingerprint: Hash32, pack: PackFiles) {
        self.fingerprint = fingerprint
        self.pack = pack
    }
}

extension PackWanted {
    init(_ reader: inout ByteReader) throws(FormatError) {
        standing = try Standing(&reader)
        fingerprint = try reader.nextHash()
    }

    func write(into output: inout [UInt8]) {
        standing.write(into: &output)
        output.append(fingerprint)
    }
}

extension PackFiles {
    init(_ reader: inout ByteReader) throws(FormatError) {
        let start = reader.offset
        let count = try reader.nextCount(entrySizeMin: 2, .message)
        guard count <= Limits.packFileCountMax else { throw .malformed(.message, at: start) }
        files = []
        var size = 0
        for _ in 0..<count {
            let path = String(decoding: reader.copy(try reader.nextText()), as: UTF8.self)
            let content = try reader.nextBlob()
            size += path.utf8.count + content.count
            files.append(File(path: path, content: content))
        }
        guard size <= Limits.packSizeMax else {
            throw .tooLarge(.message, size: UInt64(size), max: Limits.packSizeMax)
        }
    }

    func write(into output: inout [UInt8]) {
        output.append(varint: UInt64(files.count))
        for file in files {
            output.append(text: file.path)
            output.append(counted: file.content.span.raw)
        }
    }
}

extension ByteReader {
    /// A pack, or none: how many there are comes first.
    @_lifetime(self: copy self)
    mutating func nextNamedPack() throws(FormatError) -> NamedPack? {
        let start = offset
        switch try nextVarint() {
        case 0: return nil
        case 1:
            let fingerprint = try nextHash()
            return NamedPack(fingerprint: fingerprint, pack: try PackFiles(&self))
        default: throw .malformed(.message, at: start)
        }
    }
}

extension [UInt8] {
    mutating func append(_ named: NamedPack?) {
        append(varint: named == nil ? 0 : 1)
        guard let named else { return }
        append(named.fingerprint)
        named.pack.write(into: &self)
    }
}
