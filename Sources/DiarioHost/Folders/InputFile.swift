package import DiarioStorage
/// A file that the engine reads.
package typealias OpenedFile = any LogFile

/// Files of the operating system that a user names.
package enum InputFile {
    package static func open(_ name: String, in folder: String) throws -> any LogFile {
        try POSIXDirectory(path: folder, access: .read).open(name, .read)
    }

    /// All that `fill` gives until it gives nothing, in a file in `folder` that has no name and
    /// goes with the program.
    package static func spooled(
        in folder: String,
        _ fill: (inout [UInt8]) throws -> Void
    ) throws -> any LogFile {
        let name = "diario-import-\(SystemEntropy().next())"
        let directory = try POSIXDirectory(path: folder, access: .readWrite)
        let file = try directory.open(name, .createNew)
        try directory.remove(name)
        var offset: Int64 = 0
        var bytes: [UInt8] = []
        while true {
            bytes.removeAll(keepingCapacity: true)
            try fill(&bytes)
            guard !bytes.isEmpty else { return file }
            try file.write(bytes.span, at: offset)
            offset += Int64(bytes.count)
        }
    }

    /// The bytes of a file from an offset on, at most so many.
    package static func bytes(
        of file: any LogFile,
        from offset: Int64 = 0,
        countMax: Int
    ) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try file.read(at: offset, count: countMax, into: &bytes)
        return bytes
    }

    /// Writes a file of a folder anew, whole or not at all.
    package static func replace(_ name: String, in folder: String, with text: String) throws {
        let directory = try POSIXDirectory(path: folder, access: .readWrite)
        try Files.replace(name, with: Array(text.utf8), in: directory)
    }
}
