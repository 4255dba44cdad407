package import DiarioCore
package import DiarioCrypto
package import DiarioFormat
package import DiarioStorage

/// The blobs of a data directory, each in a file named by its id: schema/format/directory.md,
/// section 10.
///
/// It has nothing to do with the log: bytes are put here before the event that refers to them is
/// recorded, and may come later than the event or go before it.
package struct BlobStore: Sendable {
    let directory: any LogDirectory
    private let entropy: any EntropySource
    let isReadOnly: Bool

    /// Blobs that are written at once, by all programs.
    static let putCountMax = 8
    /// Bytes that are read or written at once.
    static let pieceSize = 256 * 1024

    package init(
        in directory: any LogDirectory,
        entropy: any EntropySource,
        isReadOnly: Bool = false
    ) {
        self.directory = directory
        self.entropy = entropy
        self.isReadOnly = isReadOnly
    }

    /// Begins to write a blob of at most `sizeMax` plain bytes; a private one gets a new key.
    package func put(isPublic: Bool, sizeMax: Int64) throws(LogError) -> BlobPut {
        guard !isReadOnly else { throw .readOnly }
        let key = isPublic ? nil : BlobKey(drawnFrom: entropy)
        return try BlobPut(in: directory, key: key, sizeMax: sizeMax)
    }

    /// The stored bytes of a blob; nil if it is not here.
    package func find(_ id: Hash32) throws(LogError) -> StoredBlob? {
        do throws(StorageError) {
            let file = try directory.open(LogPaths.blob(id), .read)
            return StoredBlob(file, id: id, size: try file.size())
        } catch {
            guard case .notFound = error else { throw .storage(error) }
            return nil
        }
    }

    /// True if all bytes of the blob are here; they are not read.
    package func contains(_ id: Hash32) throws(LogError) -> Bool {
        try storing { () throws(StorageError) in try directory.exists(LogPaths.blob(id)) }
    }

    /// The ids of all blobs that are here, in order.
    package func ids() throws(LogError) -> [Hash32] {
        try names().compactMap { Hash32(text: $0) }
    }

    /// The damage of a blob, of which all bytes are read; nil if there is none.
    package func fault(of id: Hash32) throws(LogError) -> Fault? {
        guard let stored = try find(id), try !stored.matchesID() else { return nil }
        return Self.fault(of: id, in: LogPaths.blob(id))
    }

    static func fault(of id: Hash32, in file: String) -> Fault {
        Fault(file: file, offset: 0, what: "SHA-256 of the bytes is not the blob's name")
    }

    private func names() throws(LogError) -> [String] {
        try storing { () throws(StorageError) in
            guard try directory.exists(LogPaths.blobs) else { return [] }
            return try directory.list(LogPaths.blobs)
        }
    }

    /// Copies the bytes of a blob of another directory, which were compared with its id.
    func copy(_ stored: StoredBlob) throws(LogError) {
        // As a public one: its stored bytes are what is written.
        let put = try put(isPublic: true, sizeMax: .max)
        var bytes: [UInt8] = []
        var offset: Int64 = 0
        while offset < stored.size {
            bytes.removeAll(keepingCapacity: true)
            let end = min(stored.size, offset + Int64(Self.pieceSize))
            try stored.read(offset..<end, into: &bytes)
            guard !bytes.isEmpty else { throw .moved(what: LogPaths.blob(stored.id)) }
            try put.write(bytes.span)
            offset += Int64(bytes.count)
        }
        _ = try put.finish()
    }

    /// Removes the bytes of a blob; false if they are not here.
    ///
    /// Durable when it returns.
    package func drop(_ id: Hash32) throws(LogError) -> Bool {
        guard !isReadOnly else { throw .readOnly }
        let names = try storing { () throws(StorageError) -> [String] in
            var names: [String] = []
            for path in [LogPaths.blob(id), LogPaths.damagedBlob(id)]
            where try directory.exists(path) { names.append(path) }
            return names
        }
        try storing { () throws(StorageError) in
            for name in names { try Files.removeTree(name, in: directory) }
            if !names.isEmpty { try directory.syncDirectory(LogPaths.blobs) }
        }
        return !names.isEmpty
    }

    /// Removes what programs left that ended while they wrote a blob.
    func removeRemains() throws(LogError) {
        try storing { () throws(StorageError) in
            guard try directory.exists(LogPaths.blobs) else { return }
            for number in 0..<Self.putCountMax {
                let path = LogPaths.blobPut(number) + ".new"
                guard try directory.exists(path) else { continue }
                let lock = try directory.lock(LogPaths.blobPut(number))
                guard try Files.tryAcquire(lock) else { continue }
                defer { lock.release() }
                try Files.removeTree(path, in: directory)
            }
            for name in try directory.list(LogPaths.blobs) {
                if let id = LogPaths.damagedBlob(name), try directory.exists(LogPaths.blob(id)) {
                    try Files.removeTree(LogPaths.damagedBlob(id), in: directory)
                }
                // Those of a space that is gone, or that another one took the place of.
                guard let part = LogPaths.blobPart(name),
                    try !directory.exists(LogPaths.manifest(part.space))
                else { continue }
                try Files.removeTree(LogPaths.blobs + "/" + name, in: directory)
            }
        }
    }
}

// MARK: - Damage

extension BlobStore {
    /// The stored bytes of a blob that should have this many; nil if they are not here, or damaged.
    ///
    /// Who gave the size may be wrong too: where there are more or fewer, the hash decides.
    package func find(_ id: Hash32, sized size: Int64?) throws(LogError) -> StoredBlob? {
        guard let stored = try find(id) else { return nil }
        return size == nil || size == stored.size ? stored : try whole(stored)
    }

    /// The stored bytes of a blob, all of which are read; nil if they are not here, or damaged.
    package func findWhole(_ id: Hash32) throws(LogError) -> StoredBlob? {
        guard let stored = try find(id) else { return nil }
        return try whole(stored)
    }

    private func whole(_ stored: StoredBlob) throws(LogError) -> StoredBlob? {
        if try stored.matchesID() { return stored }
        try setAside(stored)
        return nil
    }

    /// Takes the name of a blob from damaged bytes, so that it counts as missing everywhere and is
    /// brought again; the bytes are kept until it is here.
    ///
    /// Does nothing where nothing may be written, and in a backup, which stays as it is.
    private func setAside(_ stored: StoredBlob) throws(LogError) {
        guard !isReadOnly, !directory.isReadOnly else { return }
        let id = stored.id
        do throws(StorageError) {
            guard try !directory.exists(LogPaths.backup) else { return }
            let identity = try stored.file.identity
            // Unless somebody has brought the right ones meanwhile.
            guard try directory.open(LogPaths.blob(id), .read).identity == identity else { return }
            try directory.rename(LogPaths.blob(id), to: LogPaths.damagedBlob(id))
            try directory.syncDirectory(LogPaths.blobs)
            var text = id.text
            if let identity { text += " \(identity.inode) \(identity.birthNanoseconds)" }
            let mark = SHA256.hash(Array(text.utf8).span).text.utf8.prefix(16)
            try Files.replace(LogPaths.lostBlobs, with: Array(mark), in: directory)
        } catch {
            guard case .notFound = error else { throw .storage(error) }
        }
    }

    /// A text that is another one once bytes were set aside; nil if none ever were.
    ///
    /// So a replica knows when to ask its server again about what that had.
    package func lossMark() throws(LogError) -> String? {
        do throws(StorageError) {
            let bytes = try Files.contents(of: LogPaths.lostBlobs, in: directory, sizeMax: 16)
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            switch error {
            case .notFound, .tooLarge: return nil
            default: throw .storage(error)
            }
        }
    }

    /// True if the blob is not here because its bytes were damaged.
    package func isDamaged(_ id: Hash32) throws(LogError) -> Bool {
        try storing { () throws(StorageError) in
            guard try directory.exists(LogPaths.damagedBlob(id)) else { return false }
            return try !directory.exists(LogPaths.blob(id))
        }
    }

    /// The blobs that are not here because their bytes were damaged.
    package func damaged() throws(LogError) -> [Hash32] {
        let names = Set(try names())
        return names.compactMap { LogPaths.damagedBlob($0) }.filter { !names.contains($0.text) }
            .sorted { $0.text < $1.text }
    }

    /// The damage of a blob whose bytes were set aside.
    package func faultAside(of id: Hash32) -> Fault {
        Self.fault(of: id, in: LogPaths.damagedBlob(id))
    }

    /// Forgets damaged bytes of a blob that is here.
    static func forgetDamage(
        of id: Hash32,
        in directory: any LogDirectory
    ) throws(StorageError) {
        let path = LogPaths.damagedBlob(id)
        if try directory.exists(path) { try Files.removeTree(path, in: directory) }
    }
}

/// The stored bytes of one blob.
package struct StoredBlob {
    let file: any LogFile
    package let id: Hash32
    /// Of the stored bytes.
    package let size: Int64

    init(_ file: any LogFile, id: Hash32, size: Int64) {
        self.file = file
        self.id = id
        self.size = size
    }

    /// What tells whether somebody replaced or changed the bytes since; nil where nothing does.
    package var version: Version? {
        get throws(LogError) {
            do throws(StorageError) {
                guard let identity = try file.identity, let time = try file.modifiedNanoseconds
                else { return nil }
                return Version(identity: identity, size: size, modifiedNanoseconds: time)
            } catch {
                throw .storage(error)
            }
        }
    }

    package struct Version: Hashable, Sendable {
        let identity: FileIdentity
        let size: Int64
        let modifiedNanoseconds: Int64
    }

    /// Appends stored bytes to `output`; fewer only at their end.
    package func read(_ range: Range<Int64>, into output: inout [UInt8]) throws(LogError) {
        do throws(StorageError) {
            try file.read(at: range.lowerBound, count: range.count, into: &output)
        } catch {
            throw .storage(error)
        }
    }

    /// True if SHA-256 of the bytes is the id; reads them all.
    package func matchesID() throws(LogError) -> Bool {
        let hash = SHA256Stream()
        var bytes: [UInt8] = []
        var offset: Int64 = 0
        while offset < size {
            bytes.removeAll(keepingCapacity: true)
            try read(offset..<min(size, offset + Int64(BlobStore.pieceSize)), into: &bytes)
            guard !bytes.isEmpty else { return false }
            hash.update(bytes.span)
            offset += Int64(bytes.count)
        }
        return hash.finalize() == id
    }

    /// The plain bytes, which are the stored ones of a public blob.
    ///
    /// `size` is what the event says. A private blob without a key is erased.
    package func content(
        isPublic: Bool,
        key: BlobKey?,
        size plainSize: Int64? = nil
    ) throws(LogError) -> BlobContent {
        if isPublic {
            guard plainSize ?? size == size else { throw .blob(.cut(storedSize: size)) }
            return BlobContent(of: self, nil, size: size)
        }
        var header: [UInt8] = []
        try read(0..<min(size, Int64(BlobLayout.headerSize)), into: &header)
        let reader: BlobReader
        do throws(BlobError) {
            reader = try BlobReader(
                key: key,
                header: header.span,
                storedSize: size,
                plainSize: plainSize
            )
        } catch {
            throw .blob(error)
        }
        let content = BlobContent(of: self, reader, size: reader.layout.plainSize)
        // Nobody reads a byte of it, and the key may be wrong all the same.
        if content.size == 0 { try content.checkFirstChunk() }
        return content
    }
}

/// The plain bytes of one blob.
package struct BlobContent {
    private let stored: StoredBlob
    /// Nil of a public blob.
    private let reader: BlobReader?
    package let size: Int64

    init(of stored: StoredBlob, _ reader: BlobReader?, size: Int64) {
        self.stored = stored
        self.reader = reader
        self.size = size
    }

    /// Appends the plain bytes of `range`, which lies in them, to `output`.
    ///
    /// Of a private blob each was checked; a chunk is read whole, so ask for many bytes at once.
    package func read(_ range: Range<Int64>, into output: inout [UInt8]) throws(LogError) {
        guard let reader else {
            let start = output.count
            try stored.read(range, into: &output)
            guard output.count - start == range.count else {
                throw .blob(.cut(storedSize: stored.size))
            }
            return
        }
        var chunk: [UInt8] = []
        for index in reader.layout.chunks(holding: range) {
            chunk.removeAll(keepingCapacity: true)
            try open(index, reader, into: &chunk)
            let own = reader.layout.plainRange(of: index)
            let part = own.clamped(to: range)
            output +=
                chunk[
                    Int(part.lowerBound - own.lowerBound)..<Int(part.upperBound - own.lowerBound)
                ]
        }
    }

    fileprivate func checkFirstChunk() throws(LogError) {
        guard let reader else { return }
        var chunk: [UInt8] = []
        try open(0, reader, into: &chunk)
    }

    private func open(
        _ index: Int64,
        _ reader: BlobReader,
        into output: inout [UInt8]
    ) throws(LogError) {
        var bytes: [UInt8] = []
        try stored.read(reader.layout.storedRange(of: index), into: &bytes)
        do throws(BlobError) { try reader.open(chunk: index, bytes.span, into: &output) } catch {
            throw .blob(error)
        }
    }
}
