import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSimulation
import DiarioStorage
import Testing

/// What a replica notes of its imports: schema/format/sync.md, section 12.
@Suite struct ImportNoteTests {
    private let lane: LaneLog
    private let other: ReplicaID

    init() throws {
        lane = try LaneLog()
        other = try #require(ReplicaID(rawValue: 77))
    }

    private func run(_ first: UInt64, _ count: UInt64, as new: UInt64) -> ImportedRun {
        ImportedRun(
            first: Origin(replica: other, sequence: first),
            count: count,
            newFirst: Origin(replica: lane.replica, sequence: new)
        )
    }

    private func note(_ first: UInt64, _ count: Int, _ runs: [ImportedRun]) -> ImportNote {
        let origin = Origin(replica: lane.replica, sequence: first)
        let digest = SHA256.hash([1, 2, 3].span)
        return ImportNote(group: .init(first: origin, count: count, digest: digest), runs: runs)
    }

    @Test func whatIsKeptIsReadAgainUntilItIsRemoved() throws {
        let store = lane.store
        let notes = [
            note(1, 3, [run(9, 2, as: 1), run(3, 1, as: 3)]),
            ImportNote(group: nil, runs: [run(1, 2, as: 20), run(30, 5, as: 7)]),
        ]
        for note in notes { try store[lane.space].imports.keep(note) }
        let read = try store[lane.space].imports.read()
        #expect(read.faults == [])
        #expect(read.notes.count == 2)
        for note in notes { #expect(read.notes.contains(note)) }
        #expect(notes[0].runs == [run(3, 1, as: 3), run(9, 2, as: 1)])
        try store[lane.space].imports.remove(notes)
        #expect(try store[lane.space].imports.read().notes == [])
    }

    /// The first that says where an event was recorded counts, as it does when it is looked up.
    @Test func runsThatOverlapAreCut() {
        let runs = [run(1, 5, as: 1), run(3, 4, as: 50), run(7, 2, as: 54), run(2, 1, as: 80)]
        let ordered = runs.inOrder()
        #expect(ordered == [run(1, 5, as: 1), run(6, 1, as: 53), run(7, 2, as: 54)].merged)
        #expect([ImportedRun]().inOrder() == [])
    }

    @Test func everyFlippedBitIsFound() throws {
        let (store, space) = (lane.store, lane.space)
        let note = note(1, 3, [run(9, 2, as: 1), run(3, 1, as: 3)])
        try store[space].imports.keep(note)
        let directory = lane.log.disk.process(1)
        let path = try #require(
            try directory.list(LogPaths.imports(space)).first { $0.hasSuffix(".dimp") }
        )
        let file = LogPaths.imports(space) + "/" + path
        let bytes = note.encoded()
        for offset in bytes.indices {
            var damaged = bytes
            damaged[offset] ^= 1 << UInt8(offset % 8)
            try Files.replace(file, with: damaged, in: directory)
            let faults = try store.verify(space) { _ in nil }.faults
            #expect(faults.map(\.file) == [file], "byte \(offset)")
            let cut = Array(bytes[..<offset])
            #expect(throws: FormatError.self) { try ImportNote(cut.span) }
        }
        // A whole one that is called otherwise is one of other events.
        try directory.remove(file)
        try Files.replace(LogPaths.knownImports(space), with: bytes, in: directory)
        #expect(try store.verify(space) { _ in nil }.faults.count == 1)
    }

    /// Own events get other origins where another device recorded under this id.
    @Test func aSpaceMadeAnewKnowsWhereImportedEventsAre() throws {
        let store = lane.store
        try lane.append(1)
        try lane.append(2)
        let kept = note(1, 1, [run(5, 1, as: 1)])
        try store[lane.space].imports.keep(kept)
        try store[lane.space].imports.keep(note(2, 2, [run(6, 2, as: 2)]))
        let fork = Origin(replica: lane.replica, sequence: 2)
        let plan = SpaceRenewal.Plan(size: 0, epoch: 0, fork: fork)
        let space = try SpaceRenewal.run(plan, of: lane.space, in: store) { _ in nil }.space
        let replica = try store[space].status().replica
        #expect(replica != lane.replica)
        let new = ImportedRun(
            first: Origin(replica: other, sequence: 6),
            count: 2,
            newFirst: Origin(replica: replica, sequence: 1)
        )
        let (notes, faults) = try store[space].imports.read()
        #expect(faults == [])
        #expect(notes.count == 2)
        #expect(notes.contains(kept))
        #expect(notes.contains(ImportNote(group: nil, runs: [new])))
    }
}

extension [ImportedRun] {
    /// Joined where one goes on with the one before.
    fileprivate var merged: [ImportedRun] {
        var runs: [ImportedRun] = []
        for run in self { runs.appendMerging(run) }
        return runs
    }
}
