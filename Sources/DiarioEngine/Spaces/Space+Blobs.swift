package import DiarioCore
package import DiarioCrypto
import DiarioFormat
import DiarioLog
package import DiarioStorage

/// A blob whose bytes are durable, as the event that is recorded next refers to it.
package struct PutBlob: Hashable, Sendable {
    package let id: Hash32
    /// Of the plain bytes.
    package let size: Int64
    /// Nil if the blob is public.
    package let key: [UInt8]?
}

/// The plain bytes of a blob.
package struct BlobBytes {
    private let content: BlobContent
    package let size: Int64

    fileprivate init(_ content: BlobContent) {
        self.content = content
        size = content.size
    }

    /// Appends the bytes of `range`, which lies in them, to `output`.
    package func read(
        _ range: Range<Int64>,
        into output: inout [UInt8]
    ) throws(DiarioError) {
        do { try content.read(range, into: &output) } catch { throw DiarioError(error) }
    }
}

/// The blobs of one space, without its log.
struct SpaceBlobs: Sendable {
    private let blobs: BlobStore
    private let id: SpaceID

    init(_ space: Space) {
        blobs = space.store.blobs
        id = space.id
    }

    var finder: BlobFinder { BlobFinder(blobs, of: id) }
}

/// The states of the blobs of a space, as things are when it is asked.
package final class BlobLookup {
    private let finder: BlobFinder

    fileprivate init(_ finder: BlobFinder) { self.finder = finder }

    /// The state of a blob that is not erased.
    package func state(of id: Hash32) throws(DiarioError) -> BlobState {
        do { return try finder.state(of: id) } catch { throw DiarioError(error) }
    }

    /// True if the bytes came from the server.
    package func isFetched(_ id: Hash32) throws(DiarioError) -> Bool {
        do { return try finder.isFetched(id) } catch { throw DiarioError(error) }
    }

    /// Why the server does not take a blob; nil unless it refused it.
    package func refusal(of id: Hash32) throws(DiarioError) -> String? {
        do { return try finder.refusal(of: id) } catch { throw DiarioError(error) }
    }
}

// Blobs lie beside the events: nothing here waits for the log, or is waited for by it.
extension Space {
    /// Stores all bytes of `file`: they survive a power cut when this returns.
    ///
    /// It comes before the event that refers to the blob. `progress` is told how many of how many
    /// bytes were read.
    package func putBlob(
        _ file: any LogFile,
        isPublic: Bool,
        sizeMax: Int64 = Limits.blobSizeMax,
        progress: (Int64, Int64) -> Void = { _, _ in }
    ) throws(DiarioError) -> PutBlob {
        var bytes: [UInt8] = []
        do throws(LogError) {
            let put = try store.blobs.put(isPublic: isPublic, sizeMax: sizeMax)
            var offset: Int64 = 0
            repeat {
                bytes.removeAll(keepingCapacity: true)
                do throws(StorageError) {
                    try file.read(at: offset, count: Limits.stepSize, into: &bytes)
                    progress(offset, max(offset, try file.size()))
                } catch {
                    throw .storage(error)
                }
                try put.write(bytes.span)
                offset += Int64(bytes.count)
            } while !bytes.isEmpty
            let blob = try put.finish()
            return PutBlob(id: blob.id, size: blob.plainSize, key: put.key?.bytes)
        } catch {
            throw DiarioError(error)
        }
    }

    /// Stores these bytes: they survive a power cut when this returns.
    package func putBlob(_ bytes: [UInt8], isPublic: Bool) throws(DiarioError) -> PutBlob {
        do throws(LogError) {
            let put = try store.blobs.put(isPublic: isPublic, sizeMax: Limits.blobSizeMax)
            try put.write(bytes.span)
            let blob = try put.finish()
            return PutBlob(id: blob.id, size: blob.plainSize, key: put.key?.bytes)
        } catch {
            throw DiarioError(error)
        }
    }

    /// The plain bytes of a blob; nil if they are not here.
    ///
    /// `size` is what an event says. A private blob without a key is erased, which is an error.
    package func blob(
        _ id: Hash32,
        isPublic: Bool,
        key: [UInt8]?,
        size: Int64? = nil
    ) throws(DiarioError) -> BlobBytes? {
        do throws(LogError) {
            guard let stored = try store.blobs.find(id) else {
                guard try store.blobs.isDamaged(id) else { return nil }
                throw .blob(.damaged)
            }
            // Of a private one each chunk is checked when it is read.
            if isPublic, try !stored.matchesID() { throw .blob(.damaged) }
            let key = key.flatMap { BlobKey($0) }
            return BlobBytes(try stored.content(isPublic: isPublic, key: key, size: size))
        } catch {
            throw DiarioError(error)
        }
    }

    /// The size of the stored bytes; nil if they are not here.
    package func storedBlobSize(_ id: Hash32) throws(DiarioError) -> Int64? {
        do { return try store.blobs.find(id)?.size } catch { throw DiarioError(error) }
    }

    /// The blobs of the data directory, of whichever space.
    package func storedBlobs() throws(DiarioError) -> [Hash32] {
        do { return try store.blobs.ids() } catch { throw DiarioError(error) }
    }

    /// Those of which only damaged bytes are here.
    package func damagedBlobs() throws(DiarioError) -> [Hash32] {
        do { return try store.blobs.damaged() } catch { throw DiarioError(error) }
    }

    /// The spaces that may refer to them, this one among them; a damaged one is an error.
    package func allInFolder() throws(DiarioError) -> [Space] {
        let manifests: [Manifest]
        do { manifests = try store.manifests() } catch { throw DiarioError(error) }
        return try manifests.filter { !$0.isStaging }.map { (manifest) throws(DiarioError) in
            try Space(store: store, id: manifest.space)
        }
    }

    /// Compares the blobs of the data directory with their ids, as `LogStore.verifyBlobs` does.
    package func verifyBlobs(
        sizes: [Hash32: Int64]?,
        progress: (Int, Int) -> Void
    ) throws(DiarioError) -> BlobVerification {
        try store.verifyBlobs(sizes: sizes, progress: progress)
    }

    /// Takes the name of a blob from its bytes if they are damaged, so that the next sync brings
    /// it again; gives the damage, also if that was done before.
    package func setAside(_ id: Hash32) throws(DiarioError) -> Fault? {
        do throws(LogError) {
            if try store.blobs.isDamaged(id) { return store.blobs.faultAside(of: id) }
            let fault = try store.blobs.fault(of: id)
            if fault != nil { _ = try store.blobs.findWhole(id) }
            return fault
        } catch {
            throw DiarioError(error)
        }
    }

    /// The states of its blobs, but for those that are erased.
    package var blobLookup: BlobLookup { BlobLookup(SpaceBlobs(self).finder) }

    /// Removes the bytes of a blob; false if they are not here.
    package func dropBlob(_ id: Hash32) throws(DiarioError) -> Bool {
        do { return try store.blobs.drop(id) } catch { throw DiarioError(error) }
    }
}

/// The blobs of a data directory as `verify` found them.
package struct BlobVerification: Sendable {
    package let count: Int
    /// Those whose bytes are damaged, and have their names still.
    package private(set) var damaged: [Hash32] = []
    /// Those and the ones whose bytes were set aside before.
    package private(set) var faults: [Fault] = []
    fileprivate mutating func add(_ fault: Fault, of id: Hash32?) {
        faults.append(fault)
        if let id { damaged.append(id) }
    }

    fileprivate init(count: Int) { self.count = count }
}

extension LogStore {
    /// Compares the bytes of all blobs with their ids; with `sizes`, only of those that have
    /// another one than these.
    ///
    /// `progress` is told how many of how many blobs were looked at.
    package func verifyBlobs(
        sizes: [Hash32: Int64]? = nil,
        progress: (Int, Int) -> Void = { _, _ in }
    ) throws(DiarioError) -> BlobVerification {
        do throws(LogError) {
            let ids = try blobs.ids()
            var result = BlobVerification(count: ids.count)
            for (index, id) in ids.enumerated() {
                progress(index, ids.count)
                if let sizes {
                    guard let size = sizes[id], try blobs.find(id)?.size != size else { continue }
                }
                if let fault = try blobs.fault(of: id) { result.add(fault, of: id) }
            }
            for id in try blobs.damaged() { result.add(blobs.faultAside(of: id), of: nil) }
            return result
        } catch {
            throw DiarioError(error)
        }
    }
}
