package import DiarioCore
package import DiarioFormat
package import DiarioStorage

// Where a batch of the inbox is recorded again: schema/format/sync.md, section 8.
//
//   offset  size  field
//        0     4  magic, "DNEW"
//        4     1  version, 1
//        5     3  zero
//        8     8  replica of the batch
//       16     8  its first sequence
//       24     8  number of its events
//       32     8  replica under which it is recorded again
//       40     8  the first sequence there
//       48     4  zero
//       52     4  CRC32C of bytes 0 to 52

/// Under which sequences the events of a batch of the inbox are recorded again, or were.
package struct InboxNote: Equatable, Sendable {
    /// Of the first event of the batch.
    package let old: Origin
    package let count: UInt64
    /// Of the first event that is recorded.
    package let new: Origin

    private static let magic: UInt32 = 0x5745_4e44
    private static let size = 56

    package init(old: Origin, count: UInt64, new: Origin) {
        self.old = old
        self.count = count
        self.new = new
    }

    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: Self.magic)
        bytes.append(littleEndian: UInt32(1))
        bytes.append(littleEndian: old.replica.rawValue)
        bytes.append(littleEndian: old.sequence)
        bytes.append(littleEndian: count)
        bytes.append(littleEndian: new.replica.rawValue)
        bytes.append(littleEndian: new.sequence)
        bytes.append(littleEndian: UInt32(0))
        bytes.append(littleEndian: Checksum.crc32c(bytes.span.raw))
        return bytes
    }

    package init(_ bytes: Span<UInt8>) throws(FormatError) {
        var reader = ByteReader(bytes.raw)
        guard try reader.next(UInt32.self) == Self.magic else { throw .malformed(.magic, at: 0) }
        let version = try reader.next(UInt32.self)
        guard version == 1 else { throw .unknownVersion(UInt8(version & 0xff), at: 4) }
        guard bytes.count == Self.size else { throw .malformed(.inbox, at: 0) }
        let numbers = (
            try reader.next(UInt64.self), try reader.next(UInt64.self),
            try reader.next(UInt64.self), try reader.next(UInt64.self),
            try reader.next(UInt64.self)
        )
        let zero = try reader.next(UInt32.self)
        let stored = try reader.next(UInt32.self)
        let computed = Checksum.crc32c(bytes.raw.extracting(0..<Self.size - 4))
        guard stored == computed else {
            throw .checksumMismatch(stored: stored, computed: computed)
        }
        guard zero == 0, let replica = ReplicaID(rawValue: numbers.0),
            let newReplica = ReplicaID(rawValue: numbers.3),
            1...UInt64(Limits.batchCountMax) ~= numbers.2,
            LogNumber.isValid(numbers.1, count: numbers.2),
            LogNumber.isValid(numbers.4, count: numbers.2)
        else { throw .malformed(.inbox, at: 8) }
        old = Origin(replica: replica, sequence: numbers.1)
        count = numbers.2
        new = Origin(replica: newReplica, sequence: numbers.4)
    }
}

extension LogStore {
    /// Sees to it that nobody else takes anything out of the inbox of a space, until the lock is
    /// released.
    package func holdInbox(of space: SpaceID) throws(LogError) -> any DirectoryLock {
        guard access == .readWrite else { throw .readOnly }
        return try storing { () throws(StorageError) in
            try directory.makeDirectoryDurably(LogPaths.inbox(space), below: LogPaths.space(space))
            let lock = try directory.lock(LogPaths.inboxLock(space))
            try lock.acquire(waitSeconds: Limits.lockWaitSecondsMax)
            return lock
        }
    }

    /// What is said in the inbox of batches that are recorded again, and what is wrong with such
    /// files.
    package func readInboxNotes(
        of space: SpaceID
    ) throws(LogError) -> (notes: [InboxNote], faults: [Fault]) {
        var (notes, faults): ([InboxNote], [Fault]) = ([], [])
        for name in try inboxNames(of: space).filter(LogPaths.isInboxNote) {
            let path = LogPaths.inbox(space) + "/" + name
            guard let bytes = try inboxFile(path) else { continue }
            do throws(FormatError) {
                let note = try InboxNote(bytes.span)
                guard path == LogPaths.inboxNote(note.old.replica, note.old.sequence, of: space)
                else { throw .malformed(.inbox, at: 8) }
                notes.append(note)
            } catch {
                faults.append(Fault(file: path, offset: error.noteOffset, what: error.message))
            }
        }
        return (notes.sorted { $0.old < $1.old }, faults)
    }

    /// What is wrong with the files of an inbox.
    func inboxFaults(of space: SpaceID) throws(LogError) -> [Fault] {
        try readInbox(of: space).faults + readInboxNotes(of: space).faults
    }

    /// Writes a note down, durably; the caller holds the inbox.
    package func keepInInbox(_ note: InboxNote, of space: SpaceID) throws(LogError) {
        try storing { () throws(StorageError) in
            try directory.makeDirectoryDurably(LogPaths.inbox(space), below: LogPaths.space(space))
            try directory.replace(
                LogPaths.inboxNote(note.old.replica, note.old.sequence, of: space),
                with: note.encoded()
            )
        }
    }

    /// Removes notes; the caller holds the inbox.
    package func removeFromInbox(_ notes: [InboxNote], of space: SpaceID) throws(LogError) {
        let paths = notes.map { LogPaths.inboxNote($0.old.replica, $0.old.sequence, of: space) }
        try removeFromInbox(paths, of: space)
    }

    /// Removes all notes if no batch is left; the caller holds the inbox.
    package func tidyInbox(of space: SpaceID) throws(LogError) {
        let names = try inboxNames(of: space)
        guard !names.contains(where: LogPaths.isInboxEntry) else { return }
        let notes = names.filter(LogPaths.isInboxNote)
        try removeFromInbox(notes.map { LogPaths.inbox(space) + "/" + $0 }, of: space)
    }
}

extension FormatError {
    /// Where in a note it is.
    fileprivate var noteOffset: Int {
        switch self {
        case .malformed(_, let offset), .unknownVersion(_, let offset), .truncated(let offset):
            offset
        case .checksumMismatch: 52
        default: 0
        }
    }
}
