import DiarioStorage

/// The folder into which repair copies what it takes out of the way: nothing is ever deleted that
/// is not kept there first.
///
/// A folder that a repair did not come to the end of is used again by the next one.
struct SetAside {
    private static let noteName = "why.txt"
    private static let lastLine = "That was all.\n"
    private static let pieceSize = 1024 * 1024

    let directory: any LogDirectory
    /// Nil until something is set aside.
    private(set) var folder: String?

    init(_ directory: any LogDirectory) { self.directory = directory }

    /// Keeps a copy of a file; durable when this returns.
    ///
    /// A file that is not there is no error.
    mutating func keep(_ path: String, because reason: String) throws(LogError) {
        let isThere = try storing { () throws(StorageError) in try directory.exists(path) }
        guard isThere else { return }
        let size = try storing { () throws(StorageError) in
            try directory.open(path, .read).size()
        }
        try keep(path, 0..<size, as: path, because: reason)
    }

    /// Keeps a copy of all files in a folder and below it.
    mutating func keepTree(_ path: String, because reason: String) throws(LogError) {
        let directory = directory
        let names = try storing { () throws(StorageError) -> [String]? in
            do throws(StorageError) { return try directory.list(path) } catch {
                switch error {
                case .notDirectory: return nil
                case .notFound: return []
                default: throw error
                }
            }
        }
        guard let names else { return try keep(path, because: reason) }
        for name in names { try keepTree(path + "/" + name, because: reason) }
    }

    /// Keeps a copy of a part of a file.
    mutating func keep(
        _ path: String,
        part: Range<Int>,
        because reason: String
    ) throws(LogError) {
        guard !part.isEmpty else { return }
        let name = "\(path).\(part.lowerBound)-\(part.upperBound)"
        try keep(path, part, as: name, because: reason)
    }

    private mutating func keep(
        _ path: String,
        _ part: Range<Int>,
        as name: String,
        because reason: String
    ) throws(LogError) {
        let folder = try begin()
        let target = folder + "/" + name
        let directory = directory
        try storing { () throws(StorageError) in
            try directory.makeDirectoryDurably(LogPaths.parent(of: target))
            let source = try directory.open(path, .read)
            // What a repair left that was cut off; and only the owner may read a copy of a secret.
            try directory.removeTree(target)
            let copy = try directory.open(target, .createPrivate)
            var offset = part.lowerBound
            while offset < part.upperBound {
                var bytes: [UInt8] = []
                let count = min(Self.pieceSize, part.upperBound - offset)
                try source.read(at: offset, count: count, into: &bytes)
                guard !bytes.isEmpty else { break }
                try copy.write(bytes.span, at: offset - part.lowerBound)
                offset += bytes.count
            }
            try copy.sync()
            try directory.syncDirectory(LogPaths.parent(of: target))
        }
        try note("\(name) was \(path), bytes \(part.lowerBound) to \(part.upperBound): \(reason)\n")
    }

    /// Notes that all that was to be done was done.
    mutating func finish() throws(LogError) {
        guard folder != nil else { return }
        try note(Self.lastLine)
    }

    /// Whether a repair that did not come to its end left this line in its note.
    func isToldBefore(_ line: String) throws(LogError) -> Bool {
        let directory = directory
        return try storing { () throws(StorageError) in
            guard try directory.exists(LogPaths.setAside),
                let last = try directory.list(LogPaths.setAside).compactMap({ Int($0) }).max()
            else { return false }
            let path = "\(LogPaths.setAside)/\(last)/\(Self.noteName)"
            guard let text = try Self.noteText(path, in: directory),
                !text.hasSuffix(Self.lastLine)
            else { return false }
            return text.split(separator: "\n").contains(line.dropLast())
        }
    }

    /// Adds a line to the note, unless it is there.
    mutating func note(_ line: String) throws(LogError) {
        let path = try begin() + "/" + Self.noteName
        let directory = directory
        try storing { () throws(StorageError) in
            let old = try Self.noteText(path, in: directory) ?? Self.heading
            guard !old.split(separator: "\n").contains(line.dropLast()) else { return }
            try directory.replace(path, with: Array((old + line).utf8))
        }
    }

    private static let heading =
        "Set aside by `diario repair`. Nothing reads these files any more; keep them, or a backup, "
        + "until nothing is missed.\n"

    private static func noteText(
        _ path: String,
        in directory: any LogDirectory
    ) throws(StorageError) -> String? {
        guard try directory.exists(path) else { return nil }
        let bytes = try directory.contents(of: path, sizeMax: Int.max)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The folder, which is there from now on.
    private mutating func begin() throws(LogError) -> String {
        if let folder { return folder }
        let directory = directory
        let found = try storing { () throws(StorageError) -> String in
            try directory.makeDirectoryDurably(LogPaths.setAside)
            let last = try directory.list(LogPaths.setAside).compactMap { Int($0) }.max() ?? 0
            let path = "\(LogPaths.setAside)/\(last)"
            if last > 0 {
                let text = try Self.noteText(path + "/" + Self.noteName, in: directory)
                guard let text, text.hasSuffix(Self.lastLine) else { return path }
            }
            let new = "\(LogPaths.setAside)/\(last + 1)"
            try directory.makeDirectoryDurably(new)
            return new
        }
        folder = found
        return found
    }
}
