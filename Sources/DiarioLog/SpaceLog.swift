package import DiarioCore
package import DiarioCrypto
import DiarioStorage
import Synchronization

/// The log of one space.
package struct SpaceLog: Sendable {
    package let log: LogStore
    package let space: SpaceID

    var shared: LogShared { log.shared }

    /// The last position of a space.
    package func head() -> UInt64 {
        shared.index.withLock { $0.brief(of: space).head }
    }

    /// The Merkle root of all canonical events.
    package func root() throws(LogError) -> Hash32 {
        try shared.hashes.root(of: space, in: shared)
    }

    /// Hashes events until `isOver`, for the next one who asks for the root; false once all are.
    package func hashStep(isOver: () -> Bool) throws(LogError) -> Bool {
        try shared.hashes.step(space, in: shared, isOver: isOver)
    }

    /// Lets go of the positions up to `position`; they cannot be read here any more.
    package func release(upTo position: UInt64) throws(LogError) {
        try log.withWriter { (writer) throws(LogError) in
            _ = try writer.writableHome(space)
            let range = try shared.hashes.range(of: space, in: shared)
            let (head, released) = shared.index.withLock { ($0[space].head, $0[space].released) }
            guard position <= head else {
                throw .outOfOrder(what: "position \(position) is not there, the head is \(head)")
            }
            guard position > released else { return }
            try writer.writeState(of: space, range, released: position)
            try writer.compact()
        }
    }

    // MARK: Files

    /// The bytes of a file of the space; nil if it is not there.
    func contents(_ path: String, sizeMax: Int) throws(LogError) -> [UInt8]? {
        try storing { () throws(StorageError) in
            guard try shared.directory.exists(path) else { return nil }
            return try Files.contents(of: path, in: shared.directory, sizeMax: sizeMax)
        }
    }

    /// Writes a file of the space anew; durable when it returns.
    ///
    /// The caller holds the directory's lock.
    func write(_ bytes: [UInt8], to path: String) throws(LogError) {
        try storing { () throws(StorageError) in
            try Files.replace(path, with: bytes, in: shared.directory)
        }
    }

    /// Removes a file of the space if it is there; durable when it returns.
    func removeFile(_ path: String) throws(LogError) {
        try storing { () throws(StorageError) in
            guard try shared.directory.exists(path) else { return }
            try shared.directory.remove(path)
            try shared.directory.syncDirectory(LogPaths.space(space))
        }
    }
}

extension LogStore {
    package subscript(space: SpaceID) -> SpaceLog { SpaceLog(log: self, space: space) }
}
