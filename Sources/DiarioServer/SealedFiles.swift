package import DiarioCore
package import DiarioCrypto
package import DiarioLog
package import DiarioStorage
import Synchronization

/// The files that hold sealed events, for whoever copies a space: schema/format/http.md, section 5.
package final class SealedFiles: Sendable {
    private let store: LogStore
    private let directory: POSIXDirectory
    /// Of files by their paths, which never change.
    private let digests = Mutex<[String: Hash32]>([:])

    private static let keptCountMax = 10_000
    private static let pieceSize = 1024 * 1024

    /// A segment and its sidecar, if it has one.
    package struct Segment: Sendable {
        package let first: UInt64
        package let last: UInt64
        package let files: [File]
    }

    package struct File: Sendable {
        package let name: String
        package let size: Int
        /// True if it has personal parts, which may be erased.
        package let isSidecar: Bool
        /// From the root of the file system.
        package let path: String
        fileprivate let place: String
    }

    package init(_ store: LogStore, _ directory: POSIXDirectory) {
        self.store = store
        self.directory = directory
    }

    /// The segments of a space, in order.
    package func segments(of space: SpaceID) throws -> [Segment] {
        try store[space].segments().map { entry in
            let places = [
                (LogPaths.segment(entry.name, of: space), entry.segmentSize, false),
                (LogPaths.sidecar(entry.name, of: space), entry.sidecarSize, true),
            ]
            let files = places.filter { $0.1 > 0 }.map { place, size, isSidecar in
                File(
                    name: String(place.dropFirst(LogPaths.parent(of: place).utf8.count + 1)),
                    size: size,
                    isSidecar: isSidecar,
                    path: directory.rootPath + "/" + place,
                    place: place
                )
            }
            return Segment(first: entry.first, last: entry.last, files: files)
        }
    }

    /// Where the stored bytes of a blob are, from the root of the file system.
    package func path(of blob: Hash32) -> String {
        directory.rootPath + "/" + LogPaths.blob(blob)
    }

    /// The digest of a file; nil if it is not known and `isOver` before it is.
    package func digest(of file: File, unless isOver: () -> Bool) throws -> Hash32? {
        if let known = digests.withLock({ $0[file.place] }) { return known }
        let opened = try directory.open(file.place, .read)
        let hasher = SHA256Stream()
        var bytes: [UInt8] = []
        var offset = 0
        repeat {
            bytes.removeAll(keepingCapacity: true)
            try opened.read(at: Int64(offset), count: Self.pieceSize, into: &bytes)
            hasher.update(bytes.span)
            offset += bytes.count
            if isOver() { return nil }
        } while !bytes.isEmpty
        let digest = hasher.finalize()
        digests.withLock { digests in
            if digests.count >= Self.keptCountMax { digests.removeAll() }
            digests[file.place] = digest
        }
        return digest
    }
}
