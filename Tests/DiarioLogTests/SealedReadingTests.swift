import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioHost
import DiarioLog
import DiarioSimulation
import DiarioStorage
import Testing

/// Reading sealed events: only what is needed, and damage is told with its place.
@Suite struct SealedReadingTests {
    private let item = Array("sim.item.counted".utf8)

    /// 20 runs of notes, and in the twelfth and the last two items.
    private func makeSample() throws -> SealedLog {
        let sealed = try SealedLog(mergedCount: 8)
        try sealed.append(.note, 0..<90)
        try sealed.append(.item, 90..<92)
        try sealed.append(.note, 92..<150)
        try sealed.append(.item, 150..<152)
        try sealed.append(.note, 152..<160)
        #expect(try sealed.store.seal(sealed.space, all: false).segmentCount == 20)
        return sealed
    }

    /// Blocks and segments that reading costs.
    private func cost(
        _ sealed: SealedLog,
        _ filter: LogFilter
    ) throws -> (positions: [UInt64], cost: SegmentCounters) {
        let before = sealed.store.segmentCounters
        let positions = try sealed.positions(filter: filter)
        return (positions, sealed.store.segmentCounters.since(before))
    }

    /// It was told as one that others had replaced, to be read again, for ever.
    @Test(arguments: [true, false]) func aSegmentThatIsGoneIsDamage(isSidecar: Bool) throws {
        let sealed = try SealedLog(mergedCount: 8)
        try sealed.append(.note, 0..<20)
        _ = try sealed.store.seal(sealed.space, all: false)
        let folder = LogPaths.segments(sealed.space)
        let disk = sealed.log.disk.process(1)
        let files = try disk.list(folder)
        let name = try #require(files.first { $0.hasSuffix(isSidecar ? ".dper" : ".dseg") })
        try disk.remove("\(folder)/\(name)")
        let error = #expect(throws: LogError.self) { _ = try sealed.positions(filter: LogFilter()) }
        guard case .corrupt(let fault) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(fault.what.contains("is missing"))
    }

    @Test func aRareTypeReadsOnlyTheBlocksThatHoldIt() throws {
        let sealed = try makeSample()
        var filter = LogFilter()
        filter.wantsType = { [item] in $0 == item }
        let (_, all) = try cost(sealed, LogFilter())
        // The indexes are known by now.
        let (found, cost) = try cost(sealed, filter)
        #expect(found == [91, 92, 151, 152])
        #expect(cost.segments == 2)
        #expect(cost.blocks * 8 < all.blocks)
    }

    @Test func aSubjectReadsOnlyTheBlocksThatHoldIt() throws {
        let sealed = try makeSample()
        // From here on types and indexes are known.
        let view = try sealed.log.kinds.view(of: sealed.space, in: sealed.store)
        var filter = LogFilter()
        // Items make their id of their own origin.
        filter.subject = Array(view.canonical[150].origin.text.utf8)
        let (found, cost) = try cost(sealed, filter)
        #expect(found.contains(151))
        #expect(found.allSatisfy { 145...152 ~= $0 })
        filter.subject = Array("no such thing".utf8)
        let (none, noCost) = try self.cost(sealed, filter)
        #expect(none == [])
        // Only the filters of types that have some were looked at.
        #expect(noCost.blocks == 0)
        #expect(cost.blocks > 0 && cost.blocks < 20)
    }

    @Test func anOriginIsLookedForInOneSegment() throws {
        let sealed = try makeSample()
        let view = try sealed.log.kinds.view(of: sealed.space, in: sealed.store)
        var filter = LogFilter()
        filter.origin = view.canonical[40].origin
        let (found, cost) = try cost(sealed, filter)
        #expect(found == [41])
        #expect(cost.segments == 1)
    }

    /// Those of a replica, wherever they lie: in one segment, in several, in the log, or nowhere.
    @Test(arguments: UInt64(1)...8) func knownEventsAreFound(seed: UInt64) throws {
        let sealed = try SealedLog(seed: seed)
        try sealed.fill(0..<200)
        _ = try sealed.store.seal(sealed.space, all: seed % 2 == 0)
        try sealed.fill(200..<230)
        let view = try sealed.log.kinds.view(of: sealed.space, in: sealed.store)
        let replica = try #require(view.canonical.first?.origin.replica)
        let last = try #require(view.canonical.last?.origin.sequence)
        for _ in 0..<60 {
            let first = 1 + UInt64(sealed.log.random.below(Int(last)))
            let range = first...first + UInt64(sealed.log.random.below(40))
            let known = try sealed.store[sealed.space].known(range, of: replica)
            let expected = view.canonical.enumerated().filter { _, event in
                event.origin.replica == replica && range.contains(event.origin.sequence)
            }
            #expect(known.map(\.origin) == expected.map(\.element.origin))
            #expect(known.map(\.position) == expected.map { UInt64($0.offset) + 1 })
        }
        let other = try #require(ReplicaID(rawValue: replica.rawValue ^ 1))
        #expect(try sealed.store[sealed.space].known(1...9, of: other) == [])
    }

    @Test func knownEventsReadNothingBehindTheirSegment() throws {
        let sealed = try makeSample()
        let view = try sealed.log.kinds.view(of: sealed.space, in: sealed.store)
        let origin = view.canonical[40].origin
        let before = sealed.store.segmentCounters
        let range = origin.sequence...origin.sequence + 1
        #expect(try sealed.store[sealed.space].known(range, of: origin.replica).count == 2)
        #expect(sealed.store.segmentCounters.since(before).segments == 1)
    }

    @Test func timesSkipSegments() throws {
        let sealed = try makeSample()
        _ = try cost(sealed, LogFilter())
        let view = try sealed.log.kinds.view(of: sealed.space, in: sealed.store)
        var filter = LogFilter()
        filter.since = Timestamp(milliseconds: try #require(view.canonical[151].acceptedAt) + 1)
        let (found, cost) = try cost(sealed, filter)
        #expect(found.contains(160))
        #expect(found.count <= 8)
        #expect(cost.segments == 1)
    }

    @Test func proofsHoldOverSegmentsAndTail() throws {
        let sealed = try SealedLog(seed: 9)
        try sealed.fill(0..<300)
        _ = try sealed.store.seal(sealed.space, all: false)
        let leaves = try sealed.log.plainRoot(sealed.space, in: sealed.store)
        let tiles = try TileStore(sealed.log.disk, space: sealed.space)
        #expect(tiles.size == 296)
        for position: UInt64 in [1, 100, 296, 297, 300] {
            let proven = try #require(
                try sealed.store[sealed.space].proofs.inclusion(of: position)
            )
            #expect(proven.root == leaves)
            let event = try sealed.store[sealed.space].proofs.provenEvent(at: position)
            #expect(event != nil)
        }
        #expect(try sealed.store[sealed.space].proofs.consistency(from: 50) != nil)
    }

    // MARK: Damage

    @Test func damageIsToldWithItsPlace() throws {
        let sealed = try makeSample()
        let entry = try sealed.store[sealed.space].segments()[3]
        let path = LogPaths.segment(entry.name, of: sealed.space)
        try sealed.flip(path, at: entry.segmentSize - 3)
        let result = try sealed.store.verify(sealed.space) { _ in nil }
        let fault = try #require(result.faults.first)
        #expect(result.faults.count == 1)
        #expect(fault.file == path)
        #expect(fault.offset > 64 && fault.offset < entry.segmentSize)
        #expect(fault.what.contains("block") && fault.what.contains("positions 25 to 32"))
        // All others were read.
        #expect(result.rowCount == 152)
        #expect(throws: LogError.self) { try sealed.positions() }
        #expect(try sealed.positions(33...160) == Array(33...160))
        let reader = try sealed.log.open(process: 1)
        _ = try reader.append(sealed.log.append(3, to: sealed.space))
    }

    @Test func missingAndForeignFilesAreTold() throws {
        let sealed = try SealedLog(mergedCount: 8)
        try sealed.fill(0..<24)
        _ = try sealed.store.seal(sealed.space, all: false)
        let entries = try sealed.store[sealed.space].segments()
        let paths = entries.map { LogPaths.segment($0.name, of: sealed.space) }
        let sidecars = entries.map { LogPaths.sidecar($0.name, of: sealed.space) }
        try sealed.log.disk.remove(paths[0])
        let other = try Files.contents(of: sidecars[2], in: sealed.log.disk, sizeMax: 100_000)
        try Files.replace(sidecars[1], with: other, in: sealed.log.disk)
        let cut = try sealed.log.disk.open(paths[2], .readWrite)
        try cut.truncate(to: Int64(entries[2].segmentSize - 1))
        let result = try sealed.store.verify(sealed.space) { _ in nil }
        #expect(result.faults.count == 3)
        #expect(result.faults.map(\.file) == [paths[0], sidecars[1], paths[2]])
        #expect(result.rowCount == 0)
    }

    @Test func aDamagedManifestIsTold() throws {
        let sealed = try SealedLog()
        try sealed.fill(0..<24)
        _ = try sealed.store.seal(sealed.space, all: false)
        let path = LogPaths.manifest(sealed.space)
        try sealed.flip(path, at: 70)
        let store = try sealed.log.open(process: 1)
        #expect(
            throws: LogError.corrupt(Fault(file: path, offset: 0, what: "the manifest is damaged"))
        ) {
            try store[sealed.space].status()
        }
        #expect(throws: LogError.self) { try store.cursor(sealed.space) }
    }

    // MARK: In the background

    /// Of two spaces with much in the log, the one that was written to longest ago gives way.
    @Test func aCrowdedLogMovesOldTails() throws {
        let log = try TestLog()
        log.sizes.stateInterval = 2000
        log.sizes.liveMax = 20_000
        let store = try log.open(helper: LogThreads())
        let old = try store.makeSpace(isAuthority: true).space
        let new = try store.makeSpace(isAuthority: true).space
        _ = try store.append(log.append(200, textSize: 20, to: old))
        let size = try store[old].status().liveBytes
        var count = 0
        while try store[old].status().liveBytes > size / 4, count < 5000 {
            _ = try store.append(log.append(5, textSize: 100, to: new))
            count += 1
        }
        #expect(store.sealFailure == nil)
        #expect(try store[old].status().liveBytes <= size / 4)
        var cursor = try store.cursor(old)
        var positions: [UInt64?] = []
        while let events = try cursor.next() { positions += events.rows.map(\.position) }
        #expect(positions == (1...200).map { $0 })
        try store.close()
    }

    /// No space alone wrote so much that its own state is due, and all together fill the log.
    @Test func manySmallTailsCrowdALogToo() throws {
        let log = try TestLog()
        log.sizes.stateInterval = 4000
        log.sizes.liveMax = 20_000
        let store = try log.open(helper: LogThreads())
        var spaces: [SpaceID] = []
        for _ in 0..<40 { spaces.append(try store.makeSpace(isAuthority: true).space) }
        for _ in 0..<6 {
            for space in spaces { _ = try store.append(log.append(1, textSize: 100, to: space)) }
        }
        store.sealBeforeClose()
        try store.close()
        let again = try log.open(process: 1)
        let states = try spaces.map { try again[$0].status() }
        #expect(states.contains { $0.sealedEnd > 0 })
        // What the last look was too early for.
        let spare = 2 * log.sizes.stateInterval
        #expect(states.reduce(0) { $0 + $1.liveBytes } <= log.sizes.liveMax + spare)
        // No more than that: most of what the log may hold is still there.
        #expect(states.contains { $0.tailCount > 0 })
        // Two threads and the caller sealed, each other spaces.
        for space in spaces {
            var cursor = try again.cursor(space)
            var positions: [UInt64?] = []
            while let events = try cursor.next() { positions += events.rows.map(\.position) }
            #expect(positions == (1...6).map { $0 })
        }
    }

    @Test func completeRunsAreSealedInTheBackground() throws {
        let sealed = try SealedLog(helper: LogThreads())
        var rest: Int64 = 0
        // The thread seals while others append and read; at the latest it is done at some append.
        while try sealed.store[sealed.space].status().sealedEnd < 64 {
            try sealed.append(.note, rest..<rest + 4)
            rest += 4
            #expect(try sealed.positions().count == Int(rest))
            guard rest < 40_000 else { break }
        }
        #expect(sealed.store.sealFailure == nil)
        #expect(try sealed.store[sealed.space].status().sealedEnd >= 64)
        try sealed.store.close()
        let again = try sealed.log.open(process: 1)
        #expect(try sealed.log.numbers(sealed.space, in: again) == Array(0..<rest))
    }
}
