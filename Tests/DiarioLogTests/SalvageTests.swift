import DiarioCore
import DiarioFormat
import DiarioFrames
import DiarioLog
import DiarioSimulation
import DiarioStorage
import Testing

/// What verifies of a damaged directory is in the new one: schema/format/salvage.md.
@Suite struct SalvageTests {
    /// Nothing is lost of a directory without damage, and nothing is changed in it.
    @Test func aWholeDirectoryComesAlong() throws {
        let sample = try SalvageSample()
        let before = try sample.bytes()
        let (report, target) = try sample.salvage()
        #expect(report.isWhole, "\(report)")
        #expect(try sample.bytes() == before)
        for (space, rows) in sample.rows {
            let found = try EventRow.all(space, in: target)
            #expect(found == rows)
            let (old, new) = (sample.lineages[space], try target.status(of: space).manifest.lineage)
            #expect(old != new)
        }
        #expect(try target.inbox(of: sample.lane).count == 1)
        #expect(try target.verify(sample.sealed) { _ in nil }.faults == [])
        #expect(try target.verify(sample.lane) { _ in nil }.faults == [])
    }

    /// Each file in turn is removed, cut, and damaged at many places.
    @Test(arguments: 0..<4) func whatVerifiedIsInTheNewSpace(part: Int) throws {
        let sample = try SalvageSample()
        for (index, path) in try sample.files().enumerated() where index % 4 == part {
            let size = try Files.contents(of: path, in: sample.log.disk, sizeMax: .max).count
            try sample.expect(path, .removed)
            try sample.expect(path, .cut(size / 2))
            guard size > 0 else { continue }
            for place in 0..<50 {
                try sample.expect(path, .changed((place * size / 50 + place * 7) % size))
            }
        }
    }

    /// A directory with files that lie about themselves gives an error or a list.
    @Test func hostileFilesDoNotTrap() throws {
        let sample = try SalvageSample()
        var random = SeededRandom(seed: 3)
        for path in try sample.files() {
            for _ in 0..<20 {
                let copy = sample.copy()
                var bytes = try Files.contents(of: path, in: copy.log.disk, sizeMax: .max)
                guard !bytes.isEmpty else { continue }
                for _ in 0..<8 {
                    let offset = random.below(bytes.count)
                    bytes[offset] = UInt8(truncatingIfNeeded: random.below(256))
                }
                // With a checksum that fits, where the last bytes are one.
                let end = bytes.count - 4
                if end > 0 {
                    let sum = Checksum.crc32c(bytes.span.extracting(0..<end).raw)
                    bytes.replaceSubrange(
                        end...,
                        with: (0..<4).map { UInt8(sum >> ($0 * 8) & 255) }
                    )
                }
                try Files.replace(path, with: bytes, in: copy.log.disk)
                _ = try? copy.salvage()
            }
        }
    }
}

/// A directory with every kind of file: a space that is its own authority, with segments and a
/// tail, and one whose events get their positions elsewhere, with private segments.
private struct SalvageSample {
    private(set) var log: TestLog
    let sealed: SpaceID
    let lane: SpaceID
    private(set) var rows: [SpaceID: [EventRow]] = [:]
    private(set) var lineages: [SpaceID: Lineage] = [:]
    /// Where events lie: the origins that each range of bytes of a file holds.
    private var places: [Place] = []

    private struct Place {
        let path: String
        let range: Range<Int>
        let origins: Set<String>
    }

    enum Damage: CustomStringConvertible {
        case removed
        case cut(Int)
        case changed(Int)

        var description: String {
            switch self {
            case .removed: "removed"
            case .cut(let size): "cut at \(size)"
            case .changed(let offset): "changed at \(offset)"
            }
        }
    }

    init() throws {
        var sizes = TestLog.small
        sizes.reserve = 512
        let made = try SealedLog(segmentCount: 16, mergedCount: 64, sizes: sizes)
        (log, sealed) = (made.log, made.space)
        try made.fill(0..<90)
        _ = try made.store.seal(sealed, all: true)
        try made.fill(90..<110)
        lane = try made.store.makeSpace(isAuthority: false).space
        let replica = try made.store.status(of: lane).replica
        for _ in 0..<5 { _ = try made.store.append(log.append(8, secret: true, to: lane)) }
        _ = try made.store.seal(lane, all: true)
        try promote(16, at: 1, replica, made.store)
        for _ in 0..<4 { _ = try made.store.append(log.append(6, secret: true, to: lane)) }
        // A batch of a replica of which nothing is pending there.
        let other = try made.store.makeSpace(isAuthority: false).space
        let author = try made.store.status(of: other).replica
        _ = try made.store.append(log.append(8, secret: true, to: other))
        let events = PendingEvents(replica: author, sequences: 1...8)
        let block = try made.store.pendingBlocks(of: other, events).blocks[0]
        try made.store.keepInInbox(
            [
                InboxEntry(
                    replica: author,
                    sequences: 1...8,
                    writtenAt: log.clock.now,
                    block: block
                )
            ],
            of: lane
        )
        for space in [sealed, lane] {
            rows[space] = try EventRow.all(space, in: made.store)
            lineages[space] = try made.store.status(of: space).manifest.lineage
            try notePlaces(of: space, in: made.store)
        }
        try made.store.close()
    }

    private init(_ other: SalvageSample) {
        self = other
        log = TestLog(disk: other.log.disk.copy(machineID: "test"), seed: 7)
        log.sizes = other.log.sizes
    }

    func copy() -> SalvageSample { SalvageSample(self) }

    private func promote(
        _ count: UInt64,
        at position: UInt64,
        _ replica: ReplicaID,
        _ store: LogStore
    ) throws {
        let run = PromotedRun(
            replica: replica,
            firstSequence: 1,
            count: count,
            firstPosition: position,
            acceptedAt: log.clock.now
        )
        try store.promote([run], in: lane)
    }

    // MARK: Where events lie

    private mutating func notePlaces(of space: SpaceID, in store: LogStore) throws {
        let names =
            try store.segments(of: space).map(\.name) + store.laneSegments(of: space).map(\.name)
        for name in names {
            let path = LogPaths.segment(name, of: space)
            let bytes = try Files.contents(of: path, in: log.disk, sizeMax: .max)
            var reader = try SegmentReader(
                SegmentMemory(.segment, bytes),
                sidecar: nil as SegmentMemory?,
                known: [:]
            )
            let origins = try originsByEvent(&reader)
            let all = Array(origins.values)
            for (type, _) in reader.index.types.enumerated() {
                let events = try reader.events(ofType: type)
                for block in reader.index.fieldBlocks(ofType: type) {
                    let place = reader.index.blocks[block]
                    let range = place.offset..<place.offset + place.storedSize
                    let held = events[place.rows].map { origins[Int($0)] ?? "" }
                    places.append(Place(path: path, range: range, origins: Set(held)))
                }
            }
            let fields = places.filter { $0.path == path }.map(\.range)
            var start = 0
            for range in fields.sorted(by: { $0.lowerBound < $1.lowerBound }) {
                let between = start..<range.lowerBound
                places.append(Place(path: path, range: between, origins: Set(all)))
                start = range.upperBound
            }
            let rest = start..<bytes.count
            places.append(Place(path: path, range: rest, origins: Set(all)))
        }
        for entry in try RawLog(log.disk).entries where entry.space == space && entry.kind == .rows
        {
            let head = try BlockHead.parse(entry.content.span, verifyChecksum: true)
            let origins = head.runs.flatMap { run in
                (run.firstSequence...run.lastSequence).map {
                    Origin(replica: run.replica, sequence: $0).text
                }
            }
            // With the header of its frame.
            let start = max(LogFileHeader.size, entry.offset - 2048)
            let range = start..<entry.offset + entry.content.count
            let path = FramePaths.file(entry.file)
            places.append(Place(path: path, range: range, origins: Set(origins)))
        }
    }

    private func originsByEvent(_ reader: inout SegmentReader) throws -> [Int: String] {
        var origins: [Int: String] = [:]
        let numbers = try reader.replicaIndices()
        let sequences = try reader.numbers(.sequences)
        for (event, number) in numbers.enumerated() {
            let replica = reader.index.replicas[Int(number)].replica
            let sequence = UInt64(bitPattern: sequences[event])
            origins[event] = Origin(replica: replica, sequence: sequence).text
        }
        return origins
    }

    /// The origins that are somewhere else than in the damaged bytes.
    private func untouched(_ path: String, _ damage: Damage) -> Set<String> {
        let kept = places.filter { place in
            guard place.path == path else { return true }
            return switch damage {
            case .removed: false
            case .cut(let size): place.path.hasSuffix("dwal") && place.range.upperBound <= size
            case .changed(let offset): !place.range.contains(offset)
            }
        }
        var found: Set<String> = []
        for place in kept where !place.path.hasSuffix("dseg") { found.formUnion(place.origins) }
        // A segment needs what lies between its blocks of fields, and the one block.
        for group in Dictionary(grouping: kept.filter { $0.path.hasSuffix("dseg") }, by: \.path) {
            let all = places.filter { $0.path == group.key }
            let lost = all.filter { place in !group.value.contains { $0.range == place.range } }
            let missing = lost.reduce(into: Set<String>()) { $0.formUnion($1.origins) }
            found.formUnion(
                all.reduce(into: Set<String>()) { $0.formUnion($1.origins) }
                    .subtracting(missing)
            )
        }
        return found
    }

    // MARK: Salvaging

    func files(in folder: String = "") throws -> [String] {
        var found: [String] = []
        for name in try log.disk.list(folder) {
            let path = folder.isEmpty ? name : folder + "/" + name
            if (try? log.disk.list(path)) != nil {
                found += try files(in: path)
            } else {
                found.append(path)
            }
        }
        return found
    }

    func bytes() throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for path in try files() {
            found[path] = try Files.contents(of: path, in: log.disk, sizeMax: .max)
        }
        return found
    }

    func salvage() throws -> (SalvageReport, LogStore) {
        let target = try TestLog(seed: 11)
        target.sizes = log.sizes
        let store = try target.open()
        var salvage = Salvage(log.disk, into: store, packs: [:])
        return (try salvage.run { _ in }, store)
    }

    func expect(_ path: String, _ damage: Damage) throws {
        let copy = copy()
        let file = try copy.log.disk.open(path, .readWrite)
        switch damage {
        case .removed: try copy.log.disk.remove(path)
        case .cut(let size): try file.truncate(to: Int64(size))
        case .changed(let offset):
            var bytes: [UInt8] = []
            try file.read(at: Int64(offset), count: 1, into: &bytes)
            // What was never synced is not on the copied disk.
            guard !bytes.isEmpty else { return }
            try file.write([bytes[0] ^ 0x5a].span, at: Int64(offset))
        }
        let (report, target) = try copy.salvage()
        let what = "\(path) \(damage)"
        let untouched = untouched(path, damage)
        for (space, rows) in rows {
            guard try target.hasSpace(space) else {
                #expect(Set(rows.map(\.origin)).isDisjoint(with: untouched), "\(what): no space")
                continue
            }
            let found = try EventRow.all(space, in: target)
            #expect(Set(found.map(\.origin)).count == found.count, "\(what): an event is twice")
            for row in found {
                let old = rows.first { $0.origin == row.origin }
                #expect(old != nil, "\(what): \(row.origin) is new")
                let isErased = row.personalPart.isEmpty
                #expect(isErased || old?.personalPart == row.personalPart, "\(what)")
                #expect(row.position == nil || old?.acceptedAt ?? row.acceptedAt == row.acceptedAt)
            }
            let wanted = rows.filter { untouched.contains($0.origin) }.map(\.origin)
            let there = Set(found.map(\.origin))
            let lost = wanted.filter { !there.contains($0) }
            #expect(lost.isEmpty, "\(what): \(lost.count) of \(wanted.count) are lost")
            if found.count < rows.count { #expect(!report.isWhole, "\(what)") }
            #expect(try target.verify(space) { _ in nil }.faults == [], "\(what)")
            #expect(target.validate() == [], "\(what)")
        }
        try target.close()
    }
}
