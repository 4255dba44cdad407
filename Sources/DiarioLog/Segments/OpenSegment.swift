import DiarioCore
import DiarioFormat
import DiarioSchema
import DiarioStorage

/// The two files of a sealed segment, opened and compared with what the manifest says of them.
struct OpenSegment: ~Copyable {
    let entry: SegmentEntry
    let place: SegmentPlace
    var reader: SegmentReader

    /// Nil if a file is gone, as happens to those that others replaced.
    static func open(
        _ entry: SegmentEntry,
        of space: SpaceID,
        in store: LogShared
    ) throws(LogError) -> OpenSegment? {
        let segment: any LogFile
        let sidecar: any LogFile
        do throws(StorageError) {
            segment = try store.files.file(.segment(entry.name, space))
            sidecar = try store.files.file(.sidecar(entry.name, space))
        } catch {
            switch error {
            case .notFound, .notFile: return nil
            default: throw .storage(error)
            }
        }
        let place = SegmentPlace(entry, of: space)
        let reader = try read(place, segment, sidecar, store.segments.types)
        try check(reader, entry, place)
        return OpenSegment(entry, place, reader)
    }

    /// Throws if a file is gone, or goes on behind its end.
    static func whole(
        _ entry: SegmentEntry,
        of space: SpaceID,
        in store: LogShared
    ) throws(LogError) -> OpenSegment {
        guard let segment = try open(entry, of: space, in: store) else {
            throw SegmentPlace(entry, of: space).missingFault
        }
        for (file, size) in [
            (SegmentFile.segment, entry.segmentSize), (.sidecar, entry.sidecarSize),
        ] {
            let path = segment.place.path(file)
            let rest: Int64
            do throws(StorageError) {
                rest = try store.directory.open(path, .read).size() - Int64(size)
            } catch .notFound {
                // It was removed meanwhile, as happens to those that others replaced.
                continue
            } catch {
                throw .storage(error)
            }
            guard rest <= 0 else {
                throw segment.place.fault(file, at: size, "\(rest) bytes follow its end")
            }
        }
        return segment
    }

    private init(
        _ entry: SegmentEntry,
        _ place: SegmentPlace,
        _ reader: consuming SegmentReader
    ) {
        self.entry = entry
        self.place = place
        self.reader = reader
    }

    private static func read(
        _ place: SegmentPlace,
        _ segment: any LogFile,
        _ sidecar: any LogFile,
        _ known: [TypeEntry: EventType]
    ) throws(LogError) -> SegmentReader {
        do throws(SegmentError) {
            return try SegmentReader(
                SegmentOnDisk(file: segment, kind: .segment, failure: place.failure),
                sidecar: SegmentOnDisk(file: sidecar, kind: .sidecar, failure: place.failure),
                known: known
            )
        } catch {
            throw place.error(error)
        }
    }

    // Not inlined: for wasm32 the optimizer (6.3.1) finds the end of a borrow too early otherwise.
    @inline(never)
    private static func check(
        _ reader: borrowing SegmentReader,
        _ entry: SegmentEntry,
        _ place: SegmentPlace
    ) throws(LogError) {
        let (header, index, sidecar) = (reader.header, reader.index, reader.sidecarHeader)
        let isNamed =
            header.identity == entry.identity && entry.isPlace(of: header, index)
            && header.eventCount == entry.count && header.fileSize == entry.segmentSize
        guard isNamed else {
            throw place.fault(.segment, "this is another segment than the manifest names")
        }
        guard let sidecar, sidecar.checksum == entry.sidecarChecksum,
            sidecar.fileSize == entry.sidecarSize
        else { throw place.fault(.sidecar, "this is another sidecar than the manifest names") }
    }

    /// From the first to the last event of a replica with some sequences; nil if there are none.
    mutating func events(_ sequences: LogFilter.Sequences) throws(LogError) -> Range<Int>? {
        do throws(SegmentError) {
            return try reader.events(sequences.range, of: sequences.replica)
        } catch {
            throw place.error(error)
        }
    }

    /// The blocks of both files that are damaged.
    mutating func damagedBlocks() throws(LogError) -> [Fault] {
        do throws(SegmentError) {
            return try reader.damagedBlocks().compactMap { place.error(.fault($0)).fault }
        } catch {
            throw place.error(error)
        }
    }

    mutating func saltNodes() throws(LogError) -> [SaltNode] {
        do throws(SegmentError) { return try reader.saltNodes() } catch {
            throw place.error(error)
        }
    }

    /// All rows, from the first on.
    consuming func rows() throws(LogError) -> SegmentRows {
        let place = place
        do throws(SegmentError) { return try SegmentRows(reader) } catch {
            throw place.error(error)
        }
    }
}

extension SegmentEntry {
    /// True if a segment that says this of itself holds the events that are listed.
    fileprivate func isPlace(of header: SegmentHeader, _ index: SegmentIndex) -> Bool {
        guard let replica else { return header.firstPosition == first }
        let run = SegmentRun(first: first, last: last, isRefused: false)
        return !header.isPositioned
            && index.replicas == [SegmentReplica(replica: replica, runs: [run])]
    }
}

/// Tells in which file something is wrong.
struct SegmentPlace {
    let space: SpaceID
    let entry: SegmentEntry
    let failure = SegmentOnDisk.Failure()

    init(_ entry: SegmentEntry, of space: SpaceID) {
        self.entry = entry
        self.space = space
    }

    /// The place of a pair that no manifest tells of.
    init(_ name: SegmentName, of space: SpaceID) {
        let entry = SegmentEntry(
            name: name,
            count: 1,
            segmentSize: 0,
            sidecarSize: 0,
            rowSize: 0,
            identity: SegmentIdentity(first: 0, second: 0),
            sidecarChecksum: 0
        )
        self.init(entry, of: space)
    }

    func path(_ file: SegmentFile) -> String {
        switch file {
        case .segment: LogPaths.segment(entry.name, of: space)
        case .sidecar: LogPaths.sidecar(entry.name, of: space)
        }
    }

    func fault(_ file: SegmentFile, at offset: Int = 0, _ what: String) -> LogError {
        let numbers = entry.replica.map { "sequences of \($0.text)," } ?? "positions"
        return .corrupt(
            Fault(
                file: path(file),
                offset: offset,
                what: "\(what) (\(numbers) \(entry.first) to \(entry.last))"
            )
        )
    }

    var missingFault: LogError { fault(.segment, "the segment or its sidecar is missing") }

    func error(_ error: SegmentError) -> LogError {
        switch error {
        case .fault(let fault): self.fault(fault.file, at: fault.offset, fault.message)
        case .otherSidecar: fault(.sidecar, error.message)
        case .unreadable(let file, let offset):
            if let cause = failure.value {
                .storage(cause)
            } else {
                fault(file, at: offset, "the file ends early")
            }
        case .noSidecar, .unknownType: fault(.segment, error.message)
        }
    }
}
