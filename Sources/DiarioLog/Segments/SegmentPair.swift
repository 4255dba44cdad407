import DiarioCore
import DiarioFormat
import DiarioSchema
import DiarioStorage

/// A segment and its sidecar that no manifest vouches for: files of a copy, or of a damaged space.
///
/// Of a private segment all numbers are sequences.
final class SegmentPair {
    let name: SegmentName
    let header: SegmentHeader
    let sidecarHeader: SegmentHeader?
    /// Who wrote the events, if the segment is a private one.
    let replica: ReplicaID?
    let place: SegmentPlace
    private let types: [TypeEntry]
    private let salts: SaltNodes
    private var rows: SegmentRows

    var first: UInt64 { name.first }
    var last: UInt64 { name.first + UInt64(header.eventCount) - 1 }

    /// Opens both files; without a sidecar, personal parts cannot be read.
    ///
    /// Salts that cannot be read are left out: those of the write-ahead log may do.
    init(
        _ name: SegmentName,
        of space: SpaceID,
        in directory: any LogDirectory,
        known: [TypeEntry: EventType],
        usesSidecar: Bool = true
    ) throws(LogError) {
        self.name = name
        place = SegmentPlace(name, of: space)
        let (place, failure) = (place, place.failure)
        func file(_ kind: SegmentFile) throws(LogError) -> SegmentOnDisk {
            let file = try storing { () throws(StorageError) in
                try directory.open(place.path(kind), .read)
            }
            return SegmentOnDisk(file: file, kind: kind, failure: failure)
        }
        let segment = try file(.segment)
        let sidecar = usesSidecar ? try file(.sidecar) : nil
        do throws(SegmentError) {
            var reader = try SegmentReader(segment, sidecar: sidecar, known: known)
            reader.forgoDamagedSchemas()
            header = reader.header
            sidecarHeader = reader.sidecarHeader
            types = reader.index.types.map { $0.entry }
            let last = name.first &+ UInt64(reader.header.eventCount) &- 1
            let writer = reader.index.replicas.first
            let isPrivate =
                !reader.header.isPositioned && reader.index.replicas.count == 1
                && writer?.runs == [SegmentRun(first: name.first, last: last, isRefused: false)]
            replica = isPrivate ? writer?.replica : nil
            salts = SaltNodes((try? reader.saltNodes()) ?? [])
            rows = try SegmentRows(reader)
        } catch {
            throw place.error(error)
        }
        guard replica != nil || header.firstPosition == name.first,
            LogNumber.isValid(name.first, count: UInt64(header.eventCount))
        else { throw place.fault(.segment, "this is another segment than its name says") }
    }

    /// Some events, counted from 0; with `part`, those of its type, whose personal parts are
    /// withheld if they cannot be read.
    func events(
        _ events: Range<Int>,
        of part: ReadableRows? = nil
    ) throws(LogError) -> StoredEvents {
        do throws(SegmentError) {
            if let part { rows.choose(type: part.type, withholdsPersonal: !part.hasPersonal) }
            let found = try rows.rows(in: events)
            return StoredEvents(
                bytes: rows.bytes,
                types: types,
                rows: found.map(StoredRow.init),
                fileName: .segment(name, place.space),
                salts: salts
            )
        } catch {
            throw place.error(error)
        }
    }

    // MARK: Damage

    /// What is wrong with blocks, whether events need them or not.
    func damage() throws(LogError) -> [LogError] {
        do throws(SegmentError) {
            return try rows.reader.damagedBlocks().map { place.error(.fault($0)) }
        } catch {
            throw place.error(error)
        }
    }

    /// How long the files are by what they say themselves.
    var sizes: [(file: SegmentFile, size: Int)] {
        [(.segment, header.fileSize)] + (sidecarHeader.map { [(.sidecar, $0.fileSize)] } ?? [])
    }

    /// The blocks of fields of each type.
    var fieldBlocks: [(type: Int, block: Int)] {
        types.indices.flatMap { type in
            rows.reader.index.fieldBlocks(ofType: type).map { (type, $0) }
        }
    }

    /// The rows of a block of fields; nil if they cannot be read.
    func readable(_ type: Int, _ block: Int, withPersonal: Bool) -> ReadableRows? {
        do throws(SegmentError) {
            return try rows.reader.readableRows(
                ofType: type,
                block: block,
                withPersonal: withPersonal
            )
        } catch {
            return nil
        }
    }
}
