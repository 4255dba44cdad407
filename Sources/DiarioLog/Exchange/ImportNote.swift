package import DiarioCore
package import DiarioCrypto
package import DiarioFormat
import DiarioFrames
package import DiarioStorage

// Which events of other spaces a replica recorded: schema/format/sync.md, section 12.
//
// A small file (directory.md, section 2) with the magic "dimp".
//
//   offset  size  field
//        8     8  replica under which the events are recorded, or 0
//       16     8  the first sequence there, or 0
//       24     4  number of events, or 0
//       28     4  number of runs
//       32    32  digest of the events, or zero
//       64        runs of 40 bytes each

/// Events of another space that were recorded here, in a row there and here.
package struct ImportedRun: Equatable, Sendable {
    package let first: Origin
    package var count: UInt64
    package let newFirst: Origin

    package init(first: Origin, count: UInt64, newFirst: Origin) {
        self.first = first
        self.count = count
        self.newFirst = newFirst
    }

    /// The sequence behind the last one.
    package var end: UInt64 { first.sequence + count }

    /// What is left without its first events.
    package func dropFirst(_ dropped: UInt64) -> ImportedRun {
        ImportedRun(
            first: first.advanced(by: Int(dropped)),
            count: count - dropped,
            newFirst: newFirst.advanced(by: Int(dropped))
        )
    }
}

extension Origin {
    /// That of the event `distance` behind this one.
    package func advanced(by distance: Int) -> Origin {
        Origin(replica: replica, sequence: sequence + UInt64(distance))
    }
}

extension [ImportedRun] {
    /// Adds a run, to the last one if it goes on with that.
    package mutating func appendMerging(_ run: ImportedRun) {
        if let last = self.last, last.first.replica == run.first.replica,
            last.newFirst.replica == run.newFirst.replica, last.end == run.first.sequence,
            last.newFirst.sequence + last.count == run.newFirst.sequence
        {
            self[count - 1].count += run.count
        } else {
            append(run)
        }
    }

    /// The same in order of origin, joined; of an origin that comes twice, the first run that
    /// names it counts.
    package func inOrder() -> [ImportedRun] {
        var ordered: [ImportedRun] = []
        ordered.reserveCapacity(count)
        for run in sorted(by: { $0.first < $1.first }) {
            guard let last = ordered.last, last.first.replica == run.first.replica,
                last.end > run.first.sequence
            else {
                ordered.appendMerging(run)
                continue
            }
            guard last.end < run.end else { continue }
            ordered.appendMerging(run.dropFirst(last.end - run.first.sequence))
        }
        return ordered
    }
}

/// What was recorded of other spaces: a group of events, or all groups before.
package struct ImportNote: Equatable, Sendable {
    /// Where the events of a group are recorded, and what they are.
    package struct Group: Equatable, Sendable {
        package let first: Origin
        package let count: Int
        package let digest: Hash32

        package init(first: Origin, count: Int, digest: Hash32) {
            self.first = first
            self.count = count
            self.digest = digest
        }

        package var sequences: ClosedRange<UInt64> {
            first.sequence...first.sequence + UInt64(count) - 1
        }
    }

    /// Nil if it says what was recorded before.
    package let group: Group?
    /// In order of origin, without overlap.
    package let runs: [ImportedRun]

    private static let headerSize = 64
    private static let runSize = 40
    /// Bytes of a file; above, an import is refused.
    static let sizeMax = 1024 * 1024 * 1024

    package init(group: Group?, runs: [ImportedRun]) {
        self.group = group
        self.runs = runs.inOrder()
    }

    var size: Int { Self.headerSize + Self.runSize * runs.count + SmallFile.trailerSize }

    package func encoded() -> [UInt8] {
        var bytes = SmallFile.begin(.imports)
        bytes.reserveCapacity(size)
        bytes.append(littleEndian: group?.first.replica.rawValue ?? 0)
        bytes.append(littleEndian: group?.first.sequence ?? 0)
        bytes.append(littleEndian: UInt32(group?.count ?? 0))
        bytes.append(littleEndian: UInt32(runs.count))
        bytes.append(group?.digest ?? .zero)
        for run in runs {
            bytes.append(littleEndian: run.first.replica.rawValue)
            bytes.append(littleEndian: run.first.sequence)
            bytes.append(littleEndian: run.count)
            bytes.append(littleEndian: run.newFirst.replica.rawValue)
            bytes.append(littleEndian: run.newFirst.sequence)
        }
        SmallFile.end(&bytes)
        return bytes
    }

    package init(_ bytes: Span<UInt8>) throws(FormatError) {
        let end = try SmallFile.check(bytes, .imports)
        guard end >= Self.headerSize else { throw .truncated(at: bytes.count) }
        let runCount = bytes.littleEndian(UInt32.self, at: 28)
        guard (end - Self.headerSize).isMultiple(of: Self.runSize),
            (end - Self.headerSize) / Self.runSize == runCount
        else { throw .malformed(.imports, at: 28) }
        group = try Self.group(bytes)
        var runs: [ImportedRun] = []
        for offset in stride(from: Self.headerSize, to: end, by: Self.runSize) {
            guard let run = Self.run(bytes, at: offset), Self.follows(run, runs.last),
                group?.holds(run) ?? true
            else { throw .malformed(.imports, at: offset) }
            runs.append(run)
        }
        self.runs = runs
    }

    private static func group(_ bytes: Span<UInt8>) throws(FormatError) -> Group? {
        let sequence = bytes.littleEndian(UInt64.self, at: 16)
        let count = Int(bytes.littleEndian(UInt32.self, at: 24))
        let digest = bytes.hash(at: 32)
        guard let replica = ReplicaID(rawValue: bytes.littleEndian(UInt64.self, at: 8)) else {
            guard sequence == 0, count == 0, digest == .zero else {
                throw .malformed(.imports, at: 8)
            }
            return nil
        }
        guard 1...Limits.blockCountMax ~= count, LogNumber.isValid(sequence, count: UInt64(count))
        else { throw .malformed(.imports, at: 16) }
        return Group(
            first: Origin(replica: replica, sequence: sequence),
            count: count,
            digest: digest
        )
    }

    private static func run(_ bytes: Span<UInt8>, at offset: Int) -> ImportedRun? {
        let first = bytes.littleEndian(UInt64.self, at: offset + 8)
        let count = bytes.littleEndian(UInt64.self, at: offset + 16)
        let newFirst = bytes.littleEndian(UInt64.self, at: offset + 32)
        guard let replica = ReplicaID(rawValue: bytes.littleEndian(UInt64.self, at: offset)),
            let newReplica = ReplicaID(
                rawValue: bytes.littleEndian(UInt64.self, at: offset + 24)
            ),
            count > 0, LogNumber.isValid(first, count: count),
            LogNumber.isValid(newFirst, count: count)
        else { return nil }
        return ImportedRun(
            first: Origin(replica: replica, sequence: first),
            count: count,
            newFirst: Origin(replica: newReplica, sequence: newFirst)
        )
    }

    private static func follows(_ run: ImportedRun, _ last: ImportedRun?) -> Bool {
        guard let last else { return true }
        guard last.first.replica == run.first.replica else {
            return last.first.replica < run.first.replica
        }
        return last.end <= run.first.sequence
    }
}

extension ImportNote.Group {
    /// Whether all of a run is among the events here.
    fileprivate func holds(_ run: ImportedRun) -> Bool {
        run.newFirst.replica == first.replica
            && sequences.contains(run.newFirst.sequence)
            && sequences.contains(run.newFirst.sequence + run.count - 1)
    }
}

extension SpaceLog {
    /// Notes of what was imported.
    package var imports: ImportFiles { ImportFiles(log: log, space: space) }
}

/// The files in which imports into a space are noted.
package struct ImportFiles: Sendable {
    let log: LogStore
    let space: SpaceID

    private var folder: WholeFiles {
        WholeFiles(
            log: log,
            space: space,
            path: LogPaths.imports(space),
            sizeMax: ImportNote.sizeMax
        )
    }

    /// Sees to it that nobody else imports into a space, until the lock is released.
    package func hold() throws(LogError) -> any DirectoryLock {
        try folder.hold(LogPaths.importsLock(space))
    }

    /// What this replica noted of its imports into a space, and what is wrong with such files.
    package func read() throws(LogError) -> (notes: [ImportNote], faults: [Fault]) {
        var (notes, faults): ([ImportNote], [Fault]) = ([], [])
        for name in try folder.names().filter(LogPaths.isImportNote) {
            let path = folder.path + "/" + name
            guard let bytes = try folder.contents(path) else { continue }
            do throws(FormatError) {
                let note = try ImportNote(bytes.span)
                guard path == self.path(of: note) else { throw .malformed(.imports, at: 8) }
                notes.append(note)
            } catch {
                faults.append(Fault(file: path, offset: error.offset, what: error.message))
            }
        }
        return (notes, faults)
    }

    /// What is wrong with what is noted of imports.
    func faults() throws(LogError) -> [Fault] {
        try read().faults
    }

    /// Writes a note down, durably; the caller holds the imports.
    package func keep(_ note: ImportNote) throws(LogError) {
        let path = path(of: note)
        guard note.size <= ImportNote.sizeMax else {
            throw .storage(.tooLarge(path, size: Int64(note.size)))
        }
        try folder.write([(path, note.encoded())])
    }

    /// Removes notes, durably; the caller holds the imports.
    package func remove(_ notes: [ImportNote]) throws(LogError) {
        try folder.remove(notes.map { path(of: $0) })
    }

    private func path(of note: ImportNote) -> String {
        note.group.map { LogPaths.importNote($0.first, of: space) }
            ?? LogPaths.knownImports(space)
    }
}
