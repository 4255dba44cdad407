import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSimulation
import DiarioStorage
import Testing

/// Condensing puts rows of the log together, compresses them and moves them to row files; nothing
/// that a reader sees changes by that.
@Suite struct CondenseTests {
    private func rowFiles(_ log: TestLog) throws -> [UInt32] { try RowFile.list(log.disk) }

    @Test(arguments: UInt64(0)..<8) func condensedEqualsPlain(seed: UInt64) throws {
        let sealed = try SealedLog(seed: seed, segmentCount: 64, mergedCount: 256)
        let (log, store, space) = (sealed.log, sealed.store, sealed.space)
        var number: Int64 = 0
        for step in 0..<6 {
            let count = Int64(20 + log.random.below(30))
            try sealed.fill(number..<number + count)
            number += count
            let before = try log.kinds.view(of: space, in: store)
            let root = try store.root(of: space)
            let liveBytes = try store.status(of: space).liveBytes
            #expect(try store.condense(space) > 0)
            #expect(try store.status(of: space).liveBytes < liveBytes)
            #expect(try store.condense(space) == 0)
            if step.isMultiple(of: 3) { _ = try store.seal(space, all: log.random.oneIn(2)) }
            #expect(try log.kinds.view(of: space, in: store) == before)
            #expect(try log.plainRoot(space, in: store) == root)
            #expect(store.validate() == [])
            let reader = try log.open(process: 1, access: .readOnly)
            #expect(try log.kinds.view(of: space, in: reader) == before)
            #expect(try reader.root(of: space) == root)
            let verification = try reader.verify(space) { _ in nil }
            #expect(verification.faults == [])
            #expect(verification.root == root)
        }
    }

    /// Hashes are not known yet, and the only rows there are to make them of are condensed.
    @Test func rowsThatWereNotHashedYetAreCondensed() throws {
        let log = try TestLog()
        log.sizes = TestLog.small
        let store = try log.open()
        let space = try store.makeSpace(isAuthority: true).space
        let busy = try store.makeSpace(isAuthority: true).space
        for _ in 0..<20 { _ = try store.append(log.append(3, secret: true, to: space)) }
        let root = try store.root(of: space)
        #expect(try store.condense(space) > 0)
        for _ in 0..<60 {
            _ = try store.append(log.append(1, textSize: 12_000, to: busy))
            try store.release(busy, upTo: store.status(of: busy).head)
        }
        // The files that the plain rows were in are gone.
        #expect(try #require(try RawLog(log.disk).files.first).header.number > 4)
        let reopened = try log.open(process: 2)
        #expect(try reopened.root(of: space) == root)
        #expect(try log.plainRoot(space, in: reopened) == root)
        #expect(reopened.validate() == [])
    }

    @Test func condensedRowsAreReadInAnyPart() throws {
        let sealed = try SealedLog(segmentCount: 64, mergedCount: 256)
        try sealed.fill(0..<40)
        #expect(try sealed.store.condense(sealed.space) > 0)
        try sealed.fill(40..<50)
        for first in stride(from: UInt64(1), through: 50, by: 3) {
            for last in stride(from: first, through: 50, by: 5) {
                #expect(try sealed.positions(first...last) == Array(first...last))
                #expect(
                    try sealed.positions(first...last, isReversed: true)
                        == (first...last).reversed()
                )
            }
        }
    }

    /// What is released of a condensed block is gone, and the rest is copied forward.
    @Test(arguments: UInt64(0)..<4) func aCondensedBlockIsReleasedInParts(seed: UInt64) throws {
        let log = try TestLog(seed: seed)
        log.sizes = TestLog.small
        let store = try log.open()
        let space = try store.makeSpace(isAuthority: true).space
        let busy = try store.makeSpace(isAuthority: true).space
        for _ in 0..<40 { _ = try store.append(log.append(2, textSize: 50, to: space)) }
        #expect(try store.condense(space) > 0)
        let root = try store.root(of: space)
        var released: UInt64 = 0
        while released < 80 {
            released = min(80, released + 1 + UInt64(log.random.below(30)))
            try store.release(space, upTo: released)
            for _ in 0..<20 {
                _ = try store.append(log.append(1, textSize: 12_000, to: busy))
                try store.release(busy, upTo: store.status(of: busy).head)
            }
            #expect(store.validate() == [])
            let numbers = try log.numbers(space, in: store)
            #expect(numbers == Array(Int64(released) + 1..<81))
            let reopened = try log.open(process: 2)
            #expect(try log.numbers(space, in: reopened) == numbers)
            #expect(try reopened.root(of: space) == root)
        }
    }

    @Test func promotedRowsAreCondensedWithTheirPositions() throws {
        let log = try TestLog()
        let store = try log.open()
        let lane = try store.makeSpace(isAuthority: false).space
        for _ in 0..<30 { _ = try store.append(log.append(2, secret: true, to: lane)) }
        // Pending rows are left alone.
        #expect(try store.condense(lane) == 0)
        let replica = try store.status(of: lane).replica
        let run = PromotedRun(
            replica: replica,
            firstSequence: 1,
            count: 50,
            firstPosition: 1,
            acceptedAt: Timestamp(milliseconds: 10)
        )
        try store.promote([run], in: lane)
        let view = try log.kinds.view(of: lane, in: store)
        let root = try store.root(of: lane)
        #expect(try store.condense(lane) > 0)
        #expect(try log.kinds.view(of: lane, in: store) == view)
        let reopened = try log.open(process: 2)
        #expect(try log.kinds.view(of: lane, in: reopened) == view)
        #expect(try reopened.root(of: lane) == root)
        #expect(reopened.validate() == [])
    }

    /// An older program does not read what it does not know.
    @Test func theFirstRowFileIsAnUpgrade() throws {
        let sealed = try SealedLog()
        try sealed.fill(0..<40)
        let disk = sealed.log.disk
        func line() throws -> String {
            String(decoding: try disk.contents(of: LogPaths.format, sizeMax: 100), as: UTF8.self)
        }
        #expect(try line() == "diario format 1 readable by 1\n")
        #expect(try rowFiles(sealed.log) == [])
        #expect(try sealed.store.condense(sealed.space) == 1)
        #expect(try line() == "diario format 7 readable by 7\n")
        let number = try #require(try rowFiles(sealed.log).first)
        let bytes = try disk.contents(of: LogPaths.rowFile(number), sizeMax: RowFile.sizeMax)
        let entry = try #require(RowFile.entries(bytes, number: number).first)
        #expect(entry.space == sealed.space)
        let isCondensed = Block.isCondensed(entry.block.span)
        #expect(isCondensed)
        let record = try #require(try RawLog(disk).entries.last { $0.kind == .moved })
        let found = MovedRows(record.content.span)
        let rows = try #require(found)
        #expect((rows.file, Int(rows.offset)) == (number, entry.offset))
        #expect(Int(rows.size) == entry.block.count)
        #expect((rows.firstPosition, rows.lastPosition) == (1, 40))
    }

    /// One process condenses what another one has sealed and let go of meanwhile.
    @Test func whatOthersLetGoOfStaysGone() throws {
        let sealed = try SealedLog(segmentCount: 64, mergedCount: 256)
        try sealed.fill(0..<40)
        let other = try sealed.log.open(process: 1)
        _ = try sealed.store.seal(sealed.space, all: true)
        _ = try other.condense(sealed.space)
        #expect(try other.status(of: sealed.space).tailCount == 0)
        #expect(other.validate() == [])
        #expect(try sealed.log.numbers(sealed.space, in: other) == Array(0..<40))
        #expect(try sealed.log.numbers(sealed.space, in: sealed.store) == Array(0..<40))
    }

    @Test func damageInACondensedBlockIsFound() throws {
        let sealed = try SealedLog()
        try sealed.fill(0..<40)
        _ = try sealed.store.condense(sealed.space)
        let number = try #require(try rowFiles(sealed.log).first)
        let path = LogPaths.rowFile(number)
        let bytes = try sealed.log.disk.contents(of: path, sizeMax: RowFile.sizeMax)
        let entry = try #require(RowFile.entries(bytes, number: number).first)
        for offset in stride(from: 0, to: entry.block.count, by: 7) {
            try sealed.flip(path, at: entry.offset + offset)
            let result = try sealed.store.verify(sealed.space) { _ in nil }
            #expect(result.faults.contains { $0.file == path }, "\(offset)")
            try sealed.flip(path, at: entry.offset + offset)
        }
        #expect(try sealed.store.verify(sealed.space) { _ in nil }.faults == [])
    }

    // MARK: In the background

    /// With more in the log than it may hold, tails are moved, and nothing is sealed short.
    @Test func aCrowdedLogMovesItsRows() throws {
        let log = try TestLog()
        log.sizes.stateInterval = 4000
        log.sizes.liveMax = 100_000
        let store = try log.open(background: .thread)
        var spaces: [SpaceID] = []
        for _ in 0..<10 { spaces.append(try store.makeSpace(isAuthority: true).space) }
        var count = 0
        while try rowFiles(log).count < 3, count < 2000 {
            for space in spaces { _ = try store.append(log.append(2, textSize: 100, to: space)) }
            count += 2
        }
        #expect(count < 2000)
        #expect(store.sealFailure == nil)
        for space in spaces { #expect(try log.numbers(space, in: store).count == count) }
        try store.close()
        let again = try log.open(process: 1)
        for space in spaces { #expect(try log.numbers(space, in: again).count == count) }
    }
}
