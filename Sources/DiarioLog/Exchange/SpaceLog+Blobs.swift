import DiarioCore
package import DiarioStorage

// Blobs that travel between a replica and its server: schema/format/directory.md, section 10.

extension SpaceLog {
    /// What is known of blobs that travel; nil if nothing is, or if it does not verify.
    package func blobNotes() throws(LogError) -> BlobNotes? {
        try contents(LogPaths.blobNotes(space), sizeMax: BlobNotes.sizeMax)
            .flatMap { BlobNotes($0) }
    }

    /// Replaces what is known of them; nil forgets it.
    package func setBlobNotes(_ notes: BlobNotes?) throws(LogError) {
        try log.withWriter { (_) throws(LogError) in
            guard let notes else { return try removeFile(LogPaths.blobNotes(space)) }
            try write(notes.encoded(), to: LogPaths.blobNotes(space))
        }
    }

    /// The lock of the only one that exchanges the blobs of the space; nil if another one does.
    package func exchangingBlobs() throws(LogError) -> (any DirectoryLock)? {
        try storing { () throws(StorageError) in
            let lock = try shared.directory.lock(LogPaths.blobLock(space))
            return try Files.tryAcquire(lock) ? lock : nil
        }
    }
}
