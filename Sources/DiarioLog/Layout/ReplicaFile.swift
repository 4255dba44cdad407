package import DiarioCore
package import DiarioCrypto
import DiarioFormat
package import DiarioStorage

// Who this replica is, and where its directory was at home when that was decided.
// Specified in schema/format/log.md, section 7.

/// The content of a space's replica file.
package struct ReplicaFile: Equatable, Sendable {
    package static let size = 72
    private static let magic: UInt32 = 0x5045_5244  // "DREP"

    package var replica: ReplicaID
    package var home: FileIdentity
    package var machine: Hash32

    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: Self.magic)
        bytes.append(littleEndian: UInt32(1))
        bytes.append(littleEndian: replica.rawValue)
        bytes.append(littleEndian: home.inode)
        bytes.append(littleEndian: UInt64(bitPattern: home.birthNanoseconds))
        machine.append(to: &bytes)
        bytes.append(littleEndian: UInt32(0))
        bytes.append(littleEndian: Checksum.crc32c(bytes.span.raw))
        return bytes
    }

    /// Nil unless `bytes` are a replica file that verifies.
    package init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.size,
            bytes.littleEndian(UInt32.self, at: 0) == Self.magic,
            bytes.littleEndian(UInt32.self, at: 4) == 1,
            bytes.littleEndian(UInt32.self, at: 64) == 0,
            bytes.littleEndian(UInt32.self, at: 68)
                == Checksum.crc32c(bytes.extracting(0..<68).raw),
            let replica = ReplicaID(rawValue: bytes.littleEndian(UInt64.self, at: 8))
        else { return nil }
        self.init(
            replica: replica,
            home: FileIdentity(
                inode: bytes.littleEndian(UInt64.self, at: 16),
                birthNanoseconds: Int64(bitPattern: bytes.littleEndian(UInt64.self, at: 24))
            ),
            machine: bytes.hash(at: 32)
        )
    }

    package init(replica: ReplicaID, home: FileIdentity, machine: Hash32) {
        self.replica = replica
        self.home = home
        self.machine = machine
    }

    /// Writes a new replica file that states its own place as home.
    ///
    /// The file is written under another name first: a crash leaves the old one, or the new one.
    package static func write(
        _ replica: ReplicaID,
        at path: String,
        in directory: any LogDirectory
    ) throws(StorageError) {
        let temporaryPath = path + ".new"
        let file = try directory.open(temporaryPath, .create)
        try file.truncate(to: 0)
        let content = ReplicaFile(
            replica: replica,
            home: try file.identity,
            machine: machine(of: directory)
        )
        try file.write(content.encoded().span, at: 0)
        // Before the rename, because a name must never lead to bytes that are not on disk.
        try file.sync()
        try directory.rename(temporaryPath, to: path)
        try directory.syncDirectory(LogPaths.parent(of: path))
    }

    /// The machine's id, hashed: the file may travel, the id should not.
    package static func machine(of directory: any LogDirectory) -> Hash32 {
        let id = directory.machineID
        return SHA256.hash(id.span)
    }
}
