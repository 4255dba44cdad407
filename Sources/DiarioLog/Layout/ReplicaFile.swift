package import DiarioCore
package import DiarioCrypto
import DiarioFormat
package import DiarioStorage

// Who this replica is, and where its directory was at home when that was decided.
// Specified in schema/format/log.md, section 7.

/// An id that a replica had before.
package struct FormerID: Equatable, Sendable {
    package let replica: ReplicaID
    /// What came behind it under the same id was recorded elsewhere; the highest number there is if
    /// nobody wrote down where that began.
    package let lastSequence: UInt64

    package init(_ replica: ReplicaID, lastSequence: UInt64) {
        self.replica = replica
        self.lastSequence = lastSequence
    }
}

/// The content of a space's replica file.
package struct ReplicaFile: Equatable, Sendable {
    /// Bytes of a file without former ids.
    package static let size = 72
    /// So many former ids are kept, the newest.
    static let formerCountMax = 64
    private static let magic: UInt32 = 0x5045_5244  // "DREP"
    private static let trailerSize = 8

    package var replica: ReplicaID
    package var home: FileIdentity
    package var machine: Hash32
    /// Ids that this replica had before, oldest first.
    package var former: [FormerID]

    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: Self.magic)
        bytes.append(littleEndian: UInt32(former.isEmpty ? 1 : 3))
        bytes.append(littleEndian: replica.rawValue)
        bytes.append(littleEndian: home.inode)
        bytes.append(littleEndian: UInt64(bitPattern: home.birthNanoseconds))
        machine.append(to: &bytes)
        if !former.isEmpty {
            bytes.append(littleEndian: UInt32(former.count))
            bytes.append(littleEndian: UInt32(0))
            for id in former {
                bytes.append(littleEndian: id.replica.rawValue)
                bytes.append(littleEndian: id.lastSequence)
            }
        }
        bytes.append(littleEndian: UInt32(0))
        bytes.append(littleEndian: Checksum.crc32c(bytes.span.raw))
        return bytes
    }

    /// Nil unless `bytes` are a replica file that verifies.
    package init?(_ bytes: Span<UInt8>) {
        let end = bytes.count - Self.trailerSize
        guard bytes.count >= Self.size,
            bytes.littleEndian(UInt32.self, at: 0) == Self.magic,
            bytes.littleEndian(UInt32.self, at: end) == 0,
            bytes.littleEndian(UInt32.self, at: end + 4)
                == Checksum.crc32c(bytes.extracting(0..<end + 4).raw),
            let replica = ReplicaID(rawValue: bytes.littleEndian(UInt64.self, at: 8)),
            let former = Self.former(bytes, end: end)
        else { return nil }
        self.init(
            replica: replica,
            home: FileIdentity(
                inode: bytes.littleEndian(UInt64.self, at: 16),
                birthNanoseconds: Int64(bitPattern: bytes.littleEndian(UInt64.self, at: 24))
            ),
            machine: bytes.hash(at: 32),
            former: former
        )
    }

    /// The former ids; nil if they are not as they must be.
    private static func former(_ bytes: Span<UInt8>, end: Int) -> [FormerID]? {
        let version = bytes.littleEndian(UInt32.self, at: 4)
        guard version != 1 else { return end == size - trailerSize ? [] : nil }
        // Version 2 does not say where what was recorded here ended.
        let stride = version == 2 ? 8 : 16
        let start = size - trailerSize + 8
        guard 2...3 ~= version, end > start else { return nil }
        let count = Int(bytes.littleEndian(UInt32.self, at: start - 8))
        guard 1...formerCountMax ~= count, end == start + stride * count,
            bytes.littleEndian(UInt32.self, at: start - 4) == 0
        else { return nil }
        var ids: [FormerID] = []
        for place in Swift.stride(from: start, to: end, by: stride) {
            guard let id = ReplicaID(rawValue: bytes.littleEndian(UInt64.self, at: place)) else {
                return nil
            }
            let last = version == 2 ? .max : bytes.littleEndian(UInt64.self, at: place + 8)
            ids.append(FormerID(id, lastSequence: last))
        }
        return ids
    }

    package init(
        replica: ReplicaID,
        home: FileIdentity,
        machine: Hash32,
        former: [FormerID] = []
    ) {
        self.replica = replica
        self.home = home
        self.machine = machine
        self.former = Array(former.suffix(Self.formerCountMax))
    }

    /// Writes a new replica file that states its own place as home.
    ///
    /// The file is written under another name first: a crash leaves the old one, or the new one.
    package static func write(
        _ replica: ReplicaID,
        former: [FormerID] = [],
        at path: String,
        in directory: any LogDirectory
    ) throws(StorageError) {
        let temporaryPath = path + ".new"
        let file = try directory.open(temporaryPath, .create)
        try file.truncate(to: 0)
        let content = ReplicaFile(
            replica: replica,
            home: try file.identity,
            machine: machine(of: directory),
            former: former
        )
        try file.write(content.encoded().span, at: 0)
        // Before the rename, because a name must never lead to bytes that are not on disk.
        try file.sync()
        try directory.rename(temporaryPath, to: path)
        try directory.syncDirectory(LogPaths.parent(of: path))
    }

    /// Whether this is the place that the file states as home: no copy, and no other machine.
    func isHome(of file: FileIdentity, in directory: any LogDirectory) -> Bool {
        home == file && machine == Self.machine(of: directory)
    }

    /// The machine's id, hashed: the file may travel, the id should not.
    package static func machine(of directory: any LogDirectory) -> Hash32 {
        let id = directory.machineID
        return SHA256.hash(id.span)
    }
}
