import DiarioCore
import DiarioFormat
import DiarioFrames

/// The names of a page's files, and the slots with their bytes: schema/format/page.md, section 2.
struct NameTable: Equatable {
    /// The first slots, which hold the copies of the table.
    static let copyCount = 2
    /// The largest table that is read.
    static let sizeMax = 64 * 1024 * 1024

    var generation: UInt64 = 0
    /// The slot of each file by its path; 0 for a folder.
    var slots: [String: Int] = [:]

    init() {}

    /// Reads a copy; nil if it is none, or not whole.
    init?(_ bytes: [UInt8]) {
        do throws(FormatError) {
            let end = try SmallFile.check(bytes.span, .names)
            var reader = ByteReader(bytes.span.raw, range: SmallFile.headerSize..<end)
            generation = try reader.next(UInt64.self)
            var last: String?
            let count = try reader.next(UInt32.self)
            while slots.count < count {
                let slot = try reader.next(UInt32.self)
                let range = try reader.nextText()
                let path = String(decoding: bytes[range], as: UTF8.self)
                if let last, !Self.isOrdered(last, path) { return nil }
                slots[path] = Int(clamping: slot)
                last = path
            }
            guard generation > 0, reader.isAtEnd else { return nil }
        } catch {
            return nil
        }
    }

    /// The table as a copy of it is written.
    var bytes: [UInt8] {
        var bytes = SmallFile.begin(.names)
        bytes.append(littleEndian: generation)
        bytes.append(littleEndian: UInt32(slots.count))
        let entries = slots.map { (path: Array($0.key.utf8), slot: $0.value) }
        for entry in entries.sorted(by: { $0.path.lexicographicallyPrecedes($1.path) }) {
            bytes.append(littleEndian: UInt32(entry.slot))
            bytes.append(text: String(decoding: entry.path, as: UTF8.self))
        }
        SmallFile.end(&bytes)
        return bytes
    }

    /// What is wrong with it in a pool of so many slots; nil if nothing is.
    func fault(slotCount: Int) -> String? {
        var used: Set<Int> = []
        for (path, slot) in slots {
            if slot != 0 {
                guard Self.copyCount..<max(slotCount, Self.copyCount) ~= slot else {
                    return "\(path) is in the slot \(slot), which is not there"
                }
                guard used.insert(slot).inserted else {
                    return "the slot \(slot) has two names, and one is \(path)"
                }
            }
            let parent = PooledPath.parent(of: path)
            guard parent.isEmpty || slots[parent] == 0 else {
                return "the folder of \(path) is missing"
            }
        }
        return nil
    }

    static func isOrdered(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}

/// Paths of a directory.
enum PooledPath {
    static func parent(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
        return String(path[..<slash])
    }

    /// The name of what is in a folder; nil if the path leads elsewhere, or deeper.
    static func name(_ path: String, in folder: String) -> String? {
        let start = folder.isEmpty ? 0 : folder.utf8.count + 1
        guard path.utf8.count > start, parent(of: path).hasBytes(of: folder) else { return nil }
        return String(decoding: path.utf8.dropFirst(start), as: UTF8.self)
    }

    /// A path after a folder, or the path itself, got another name.
    static func renamed(_ path: String, _ old: String, to new: String) -> String? {
        if path.hasBytes(of: old) { return new }
        let size = old.utf8.count
        guard path.utf8.count > size, path.utf8.starts(with: old.utf8),
            path.utf8.dropFirst(size).first == UInt8(ascii: "/")
        else { return nil }
        return new + String(decoding: path.utf8.dropFirst(size), as: UTF8.self)
    }

    /// Traps unless the path is well formed, as the directory's protocol says.
    static func check(_ path: String) {
        guard !path.isEmpty else { return }
        for name in path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        {
            let isDots = name.count <= 2 && name.allSatisfy { $0 == UInt8(ascii: ".") }
            precondition(!name.isEmpty && !isDots, "a path here never leads outwards")
            precondition(!name.contains(0), "no name has a zero byte")
        }
    }
}
