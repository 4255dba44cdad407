package import DiarioCore
package import DiarioFormat
import DiarioFrames
package import DiarioStorage

// Where a batch of the inbox is recorded again: schema/format/sync.md, section 8.
//
// A small file (directory.md, section 2) with the magic "dnew".
//
//   offset  size  field
//        8     8  replica of the batch
//       16     8  its first sequence
//       24     8  number of its events
//       32     8  replica under which it is recorded again
//       40     8  the first sequence there

/// Under which sequences the events of a batch of the inbox are recorded again, or were.
package struct InboxNote: Equatable, Sendable {
    /// Of the first event of the batch.
    package let old: Origin
    package let count: UInt64
    /// Of the first event that is recorded.
    package let new: Origin

    package init(old: Origin, count: UInt64, new: Origin) {
        self.old = old
        self.count = count
        self.new = new
    }

    package func encoded() -> [UInt8] {
        var bytes = SmallFile.begin(.inboxNote)
        bytes.append(littleEndian: old.replica.rawValue)
        bytes.append(littleEndian: old.sequence)
        bytes.append(littleEndian: count)
        bytes.append(littleEndian: new.replica.rawValue)
        bytes.append(littleEndian: new.sequence)
        SmallFile.end(&bytes)
        return bytes
    }

    package init(_ bytes: Span<UInt8>) throws(FormatError) {
        let end = try SmallFile.check(bytes, .inboxNote)
        var reader = ByteReader(bytes.raw, range: SmallFile.headerSize..<end)
        let numbers = (
            try reader.next(UInt64.self), try reader.next(UInt64.self),
            try reader.next(UInt64.self), try reader.next(UInt64.self),
            try reader.next(UInt64.self)
        )
        guard reader.isAtEnd, let replica = ReplicaID(rawValue: numbers.0),
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

extension InboxFiles {
    /// Sees to it that nobody else takes anything out of the inbox of a space, until the lock is
    /// released.
    package func hold() throws(LogError) -> any DirectoryLock {
        try folder.hold(LogPaths.inboxLock(space))
    }

    /// What is said in the inbox of batches that are recorded again, and what is wrong with such
    /// files.
    package func readNotes() throws(LogError) -> (notes: [InboxNote], faults: [Fault]) {
        var (notes, faults): ([InboxNote], [Fault]) = ([], [])
        for name in try folder.names().filter(LogPaths.isInboxNote) {
            let path = LogPaths.inbox(space) + "/" + name
            guard let bytes = try folder.contents(path) else { continue }
            do throws(FormatError) {
                let note = try InboxNote(bytes.span)
                guard path == self.path(of: note) else { throw .malformed(.inbox, at: 8) }
                notes.append(note)
            } catch {
                faults.append(Fault(file: path, offset: error.offset, what: error.message))
            }
        }
        return (notes.sorted { $0.old < $1.old }, faults)
    }

    /// What is wrong with the files of an inbox.
    func faults() throws(LogError) -> [Fault] {
        try read().faults + readNotes().faults
    }

    /// Writes a note down, durably; the caller holds the inbox.
    package func keep(_ note: InboxNote) throws(LogError) {
        try folder.write([(path(of: note), note.encoded())])
    }

    private func path(of note: InboxNote) -> String {
        LogPaths.inboxNote(note.old.replica, note.old.sequence, of: space)
    }

    /// Removes notes; the caller holds the inbox.
    package func remove(_ notes: [InboxNote]) throws(LogError) {
        try folder.remove(notes.map { path(of: $0) })
    }

    /// Removes all notes if no batch is left; the caller holds the inbox.
    package func tidy() throws(LogError) {
        let names = try folder.names()
        guard !names.contains(where: LogPaths.isInboxEntry) else { return }
        let notes = names.filter(LogPaths.isInboxNote)
        try folder.remove(notes.map { folder.path + "/" + $0 })
    }
}
