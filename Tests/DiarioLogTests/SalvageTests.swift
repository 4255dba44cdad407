import DiarioCore
import DiarioCrypto
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
            let (old, new) = (sample.lineages[space], try target[space].status().manifest.lineage)
            #expect(old != new)
        }
        #expect(report.spaces.allSatisfy { $0.erased.isEmpty && $0.disputed.isEmpty })
        let erased = try EventRow.all(sample.sealed, in: target).filter { !$0.commitment.isEmpty }
        #expect(erased.map(\.commitment) == (0..<8).map { SalvageSample.commitment($0).bytes })
        #expect(try target[sample.lane].inbox.entries().count == 1)
        #expect(try target[sample.lane].kept.count().events == 8)
        #expect(try target[sample.lane].imports.read().notes == [sample.note])
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

    /// Of two files that verify and tell different one counts, and the list says so: the one that
    /// the tiles vouch for, or else the better one.
    @Test(arguments: [false, true]) func whatIsDisputedIsListed(hasTiles: Bool) throws {
        let logs = try (UInt64(1)...2).map { seed in
            let made = try SealedLog(seed: seed, segmentCount: 64, mergedCount: 256)
            try made.fill(0..<300)
            _ = try made.store.seal(made.space, all: true)
            return made
        }
        let (own, other) = (logs[0], logs[1])
        let rows = try EventRow.all(own.space, in: own.store)
        for entry in try other.store[other.space].segments() {
            // The lower number is looked at first.
            let name = SegmentName(first: entry.first, number: 0)
            for path in [LogPaths.segment(_:of:), LogPaths.sidecar(_:of:)] {
                let bytes = try Files.contents(
                    of: path(entry.name, other.space),
                    in: other.log.disk,
                    sizeMax: .max
                )
                try Files.replace(path(name, own.space), with: bytes, in: own.log.disk)
            }
        }
        if !hasTiles { try own.log.disk.remove(LogPaths.tileMark(own.space)) }
        let target = try TestLog(seed: 11)
        let store = try target.open()
        var salvage = try Salvage(own.log.disk, into: store, packs: [:])
        while try salvage.step(Limits.stepSize) {}
        #expect(!salvage.report.isWhole)
        #expect(salvage.report.spaces[0].disputed.first?.lowerBound == 1)
        let found = try EventRow.all(own.space, in: store)
        // The last batch of the whole tile may go on in the next one.
        #expect((Array(found.prefix(240)) == Array(rows.prefix(240))) == hasTiles)
        #expect(try store.verify(own.space) { _ in nil }.faults == [])
    }

    /// However small its steps are, salvage writes and lists the same.
    @Test func theSmallestStepsSalvageTheSame() throws {
        let sample = try SalvageSample()
        for path in try sample.files() where path.hasSuffix(".dseg") {
            try sample.log.disk.flipBit(3, at: 300, of: path)
        }
        let (whole, target) = try sample.salvage()
        let (report, other) = try sample.salvage(1)
        #expect(report.faults == whole.faults)
        #expect(report.spaces.map(\.moved) == whole.spaces.map(\.moved))
        #expect(report.spaces.map(\.gaps) == whole.spaces.map(\.gaps))
        for space in sample.rows.keys {
            #expect(try EventRow.all(space, in: other) == EventRow.all(space, in: target))
        }
    }

    /// A salvage that is given up between two steps leaves no space, and the old one as it was.
    @Test func aSalvageMayBeGivenUpAfterEachStep() throws {
        let sample = try SalvageSample()
        let before = try sample.bytes()
        let target = try TestLog(seed: 11)
        target.sizes = sample.log.sizes
        var count = 0
        while true {
            let store = try target.open()
            for space in try store.manifests().map(\.space) {
                #expect(count > 0, "a space was there before")
                try store[space].remove()
            }
            count += 1
            let isDone = try sample.step(count, into: store)
            try store.close()
            if isDone { break }
        }
        #expect(count > 10)
        #expect(try sample.bytes() == before)
        let store = try target.open()
        for (space, rows) in sample.rows {
            #expect(try EventRow.all(space, in: store) == rows)
            #expect(try store.verify(space) { _ in nil }.faults == [])
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
    /// What the lane's space noted of an import.
    private(set) var note = ImportNote(group: nil, runs: [])
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
        let replica = try made.store[lane].status().replica
        for _ in 0..<5 { _ = try made.store.append(log.append(8, secret: true, to: lane)) }
        _ = try made.store.seal(lane, all: true)
        try promote(16, at: 1, replica, made.store)
        for _ in 0..<4 { _ = try made.store.append(log.append(6, secret: true, to: lane)) }
        // A batch of a replica of which nothing is pending there: in the inbox, kept, imported,
        // and erased.
        let other = try made.store.makeSpace(isAuthority: false).space
        let author = try made.store[other].status().replica
        _ = try made.store.append(log.append(8, secret: true, to: other))
        let events = PendingEvents(replica: author, sequences: 1...8)
        let block = try made.store[other].pendingBlocks(events).blocks[0]
        try made.store[lane].inbox.keep([
            InboxEntry(
                replica: author,
                sequences: 1...8,
                writtenAt: log.clock.now,
                block: block
            )
        ])
        let erased = try Self.erased(block, at: nil, log.clock.now)
        let received = ReceivedRows(erased, try Block.check(erased.span))
        _ = try made.store[sealed].append([.received(received)])
        let kept = try Self.erased(block, at: 500, log.clock.now)
        try log.disk.makeDirectory(LogPaths.kept(lane))
        try Files.replace(
            LogPaths.keptFile(1, of: lane),
            with: KeptEvents.encoded([kept], at: log.clock.now),
            in: log.disk
        )
        let origin = Origin(replica: author, sequence: 1)
        let own = Origin(replica: replica, sequence: 1)
        note = ImportNote(
            group: nil,
            runs: [ImportedRun(first: origin, count: 8, newFirst: own)]
        )
        try made.store[lane].imports.keep(note)
        for space in [sealed, lane] {
            rows[space] = try EventRow.all(space, in: made.store)
            lineages[space] = try made.store[space].status().manifest.lineage
            try notePlaces(of: space, in: made.store)
        }
        try made.store.close()
    }

    /// The events of a packed block after their erasure; with a position, as they are kept.
    private static func erased(
        _ packed: [UInt8],
        at position: UInt64?,
        _ now: Timestamp
    ) throws -> [UInt8] {
        var unpacker = BlockUnpacker()
        let (bytes, head) = try unpacker.unpack(packed)
        var builder = BlockBuilder()
        var cursor = RowCursor(bytes.span, head.summary)
        while let row = try cursor.next() {
            let type = head.types[row.typeIndex]
            try builder.append(row, of: bytes.span, type: type, erased: commitment(row.index))
        }
        let time = AcceptedRun(count: 8, acceptedAt: now)
        var block: [UInt8] = []
        builder.write(
            into: &block,
            position: position,
            times: position == nil ? [] : [time],
            isAuthority: false
        )
        return block
    }

    static func commitment(_ event: Int) -> Hash32 { SHA256.hash([UInt8(event)].span) }

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
            try store[space].segments().map(\.name) + store[space].laneSegments().map(\.name)
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

    func salvage(_ budget: Int = Limits.stepSize) throws -> (SalvageReport, LogStore) {
        let target = try TestLog(seed: 11)
        target.sizes = log.sizes
        let store = try target.open()
        var salvage = try Salvage(log.disk, into: store, packs: [:])
        while try salvage.step(budget) {}
        return (salvage.report, store)
    }

    /// True if the machine came to its end.
    func step(_ count: Int, into store: LogStore) throws -> Bool {
        var salvage = try Salvage(log.disk, into: store, packs: [:])
        for _ in 0..<count where try !salvage.step(1) {
            return true
        }
        return false
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
