package import DiarioCore
package import DiarioCrypto
import DiarioFormat
import DiarioFrames
package import DiarioStorage

// Who this replica is, and where its directory was at home when that was decided.
// Specified in schema/format/directory.md.

/// An id that a replica had before.
package struct FormerID: Equatable, Sendable {
    package let replica: ReplicaID
    /// What follows it under the same id was recorded elsewhere.
    package let lastSequence: UInt64

    package init(_ replica: ReplicaID, lastSequence: UInt64) {
        self.replica = replica
        self.lastSequence = lastSequence
    }
}

/// The content of a space's replica file.
package struct ReplicaFile: Equatable, Sendable {
    /// So many former ids are kept, the newest.
    static let formerCountMax = 64
    private static let formerOffset = 72

    package var replica: ReplicaID
    package var home: FileIdentity
    package var machine: Hash32
    /// Ids that this replica had before, oldest first.
    package var former: [FormerID]

    package func encoded() -> [UInt8] {
        var bytes = SmallFile.begin(.replica)
        bytes.append(littleEndian: replica.rawValue)
        bytes.append(littleEndian: home.inode)
        bytes.append(littleEndian: UInt64(bitPattern: home.birthNanoseconds))
        machine.append(to: &bytes)
        bytes.append(littleEndian: UInt64(former.count))
        for id in former {
            bytes.append(littleEndian: id.replica.rawValue)
            bytes.append(littleEndian: id.lastSequence)
        }
        SmallFile.end(&bytes)
        return bytes
    }

    /// Nil unless `bytes` are a replica file that verifies.
    package init?(_ bytes: Span<UInt8>) {
        guard let end = try? SmallFile.check(bytes, .replica), end >= Self.formerOffset,
            let replica = ReplicaID(rawValue: bytes.littleEndian(UInt64.self, at: 8))
        else { return nil }
        let count = bytes.littleEndian(UInt64.self, at: 64)
        guard count <= UInt64(Self.formerCountMax), end == Self.formerOffset + 16 * Int(count)
        else { return nil }
        var former: [FormerID] = []
        for place in stride(from: Self.formerOffset, to: end, by: 16) {
            guard let id = ReplicaID(rawValue: bytes.littleEndian(UInt64.self, at: place)) else {
                return nil
            }
            let last = bytes.littleEndian(UInt64.self, at: place + 8)
            former.append(FormerID(id, lastSequence: last))
        }
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
            home: try file.identity ?? .unknown,
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
