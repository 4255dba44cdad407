package import DiarioCore
package import DiarioCrypto
import DiarioFormat
import DiarioStorage

/// A blob whose stored bytes come part by part, perhaps with long pauses and from another program
/// after a crash: schema/format/directory.md, section 10.
///
/// Nobody sees it under its name before all bytes are there and their hash is the id. Used by one
/// thread at a time, and by the only program that writes the blob for this space.
package final class BlobArrival {
    package let id: Hash32
    /// Of all stored bytes.
    package let size: Int64
    /// The bytes that have come.
    package private(set) var offset: Int64 = 0
    private let directory: any LogDirectory
    private let path: String
    private let file: any LogFile
    private let hash = SHA256Stream()

    /// What a part led to.
    package enum Step: Hashable, Sendable {
        case more
        /// All bytes survive a power cut, under the name of the id.
        case whole
        /// The bytes were not those of the id, and are gone.
        case wrong
    }

    /// Continues with what is there, which is read to hash it.
    init(
        of id: Hash32,
        size: Int64,
        in space: SpaceID,
        _ directory: any LogDirectory
    ) throws(LogError) {
        self.id = id
        self.size = size
        self.directory = directory
        path = LogPaths.blobPart(id, of: space)
        do throws(StorageError) {
            try Files.makeDirectoryDurably(LogPaths.blobs, in: directory)
            file = try directory.open(path, .create)
            // As of a sender that gave another size.
            if try file.size() > size { try file.truncate(to: 0) }
            var bytes: [UInt8] = []
            repeat {
                bytes.removeAll(keepingCapacity: true)
                try file.read(at: offset, count: BlobStore.pieceSize, into: &bytes)
                hash.update(bytes.span)
                offset += Int64(bytes.count)
            } while !bytes.isEmpty
        } catch {
            throw .storage(error)
        }
    }

    /// Takes the next bytes, which are no more than are left.
    ///
    /// After an error, or a step that is not `more`, it is not used any more.
    package func write(_ bytes: Span<UInt8>) throws(LogError) -> Step {
        precondition(Int64(bytes.count) <= size - offset, "no more comes than there is")
        do throws(StorageError) {
            try file.write(bytes, at: offset)
            hash.update(bytes)
            offset += Int64(bytes.count)
            guard offset == size else { return .more }
            guard hash.finalize() == id else {
                try directory.remove(path)
                return .wrong
            }
            // Before it has its name, which says that the bytes are there.
            try file.sync()
            try directory.rename(path, to: LogPaths.blob(id))
            try BlobStore.forgetDamage(of: id, in: directory)
            try directory.syncDirectory(LogPaths.blobs)
            return .whole
        } catch {
            throw .storage(error)
        }
    }
}

/// A blob of which not all bytes have come.
package struct BlobPart: Hashable, Sendable {
    package let id: Hash32
    package let space: SpaceID

    package init(id: Hash32, space: SpaceID) {
        self.id = id
        self.space = space
    }
}

extension BlobStore {
    /// The most stored bytes that a blob can have.
    package static var storedSizeMax: Int64 {
        BlobLayout(plainSize: Limits.blobSizeMax).storedSize
    }

    /// Begins or continues a blob that comes for a space.
    package func arrival(
        of id: Hash32,
        size: Int64,
        in space: SpaceID
    ) throws(LogError) -> sending BlobArrival {
        guard !isReadOnly else { throw .readOnly }
        return try BlobArrival(of: id, size: size, in: space, directory)
    }

    /// The bytes of a blob that have come for a space; 0 if none have, or if it is whole.
    package func arrivedSize(of id: Hash32, in space: SpaceID) throws(LogError) -> Int64 {
        do throws(StorageError) {
            return try directory.open(LogPaths.blobPart(id, of: space), .read).size()
        } catch {
            guard case .notFound = error else { throw .storage(error) }
            return 0
        }
    }

    /// The blobs that are coming, for whichever space.
    package func parts() throws(LogError) -> [BlobPart] {
        try storing { () throws(StorageError) in
            guard try directory.exists(LogPaths.blobs) else { return [] }
            return try directory.list(LogPaths.blobs).compactMap { name in
                LogPaths.blobPart(name).map { BlobPart(id: $0.id, space: $0.space) }
            }
        }
    }

    /// Gives up a blob that is coming.
    package func drop(_ part: BlobPart) throws(LogError) {
        guard !isReadOnly else { throw .readOnly }
        try storing { () throws(StorageError) in
            try Files.removeTree(LogPaths.blobPart(part.id, of: part.space), in: directory)
        }
    }
}
