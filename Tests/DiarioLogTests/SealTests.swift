import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSimulation
import DiarioStorage
import Testing

/// Sealing puts events into segments; nothing that a reader sees changes by that.
@Suite struct SealTests {
    /// Runs of 8 and windows of 32: 3 windows, 1 run, and the rest short.
    @Test func runsAreAlignedAndMerged() throws {
        let sealed = try SealedLog()
        for count in 0..<10 {
            try sealed.fill(Int64(count * 11)..<Int64(count * 11 + 11))
            _ = try sealed.store.seal(sealed.space, all: count.isMultiple(of: 3))
        }
        _ = try sealed.store.seal(sealed.space, all: true)
        let segments = try sealed.store[sealed.space].segments()
        #expect(segments.map(\.first) == [1, 33, 65, 97, 105])
        #expect(segments.map(\.count) == [32, 32, 32, 8, 6])
        #expect(try sealed.store[sealed.space].status().segmentCount == 5)
        #expect(try sealed.store[sealed.space].status().tailCount == 0)
        // All that is left in the log is the seeds and the state.
        #expect(try sealed.store[sealed.space].status().liveBytes < 2000)
    }

    @Test func everyRangeIsReadInBothDirections() throws {
        let sealed = try SealedLog(seed: 3)
        try sealed.fill(0..<45)
        _ = try sealed.store.seal(sealed.space, all: false)
        let head: UInt64 = 45
        for first in 1...head {
            for last in stride(from: first, through: head, by: 4) {
                #expect(try sealed.positions(first...last) == Array(first...last))
                #expect(
                    try sealed.positions(first...last, isReversed: true)
                        == (first...last).reversed()
                )
            }
        }
        #expect(try sealed.positions() == Array(1...head))
        #expect(try sealed.positions(isReversed: true) == (1...head).reversed())
    }

    /// One event is read from a segment of several pieces, and pieces come in reverse too.
    @Test func piecesOfALargeSegmentAreRead() throws {
        let sealed = try SealedLog(segmentCount: 4096, mergedCount: 65_536)
        for part in 0..<15 {
            let first = Int64(part * 200)
            try sealed.append(part.isMultiple(of: 3) ? .item : .note, first..<first + 200)
        }
        let before = try sealed.log.numbers(sealed.space, in: sealed.store)
        #expect(try sealed.store.seal(sealed.space, all: true).segmentCount == 1)
        #expect(try sealed.log.numbers(sealed.space, in: sealed.store) == before)
        #expect(try sealed.positions(isReversed: true) == (1...3000).reversed())
        for position: UInt64 in [1, 1024, 1025, 2500, 3000] {
            #expect(try sealed.positions(position...position) == [position])
        }
    }

    // MARK: Files

    /// A log from which nothing was let go before the end grew without bound while others wrote
    /// faster than it was sealed; here a disk that fails keeps the end away.
    @Test func whatIsSealedIsLetGoOfOnTheWay() throws {
        let sealed = try SealedLog()
        try sealed.fill(0..<400)
        let before = try sealed.store[sealed.space].status().liveBytes
        sealed.log.disk.failWrites(every: 40)
        #expect(throws: LogError.self) { try sealed.store.seal(sealed.space, all: false) }
        sealed.log.disk.failWrites(every: nil)
        let status = try sealed.store[sealed.space].status()
        #expect(status.sealedEnd < 400)
        #expect(status.liveBytes < before)
    }

    /// A crash may leave files that nobody names; who seals next removes them.
    @Test func orphansAreRemoved() throws {
        let sealed = try SealedLog()
        try sealed.fill(0..<20)
        _ = try sealed.store.seal(sealed.space, all: false)
        let name = SegmentName(first: 17, number: 5)
        let path = LogPaths.segment(name, of: sealed.space)
        _ = try sealed.log.disk.open(path, .create)
        _ = try sealed.store.seal(sealed.space, all: false)
        #expect(try !sealed.log.disk.exists(path))
        #expect(try sealed.positions() == Array(1...20))
    }

    @Test func aReplacedSegmentStaysForTenMinutes() throws {
        let sealed = try SealedLog()
        try sealed.fill(0..<8)
        _ = try sealed.store.seal(sealed.space, all: true)
        let old = try #require(try sealed.store[sealed.space].segments().first)
        let path = LogPaths.segment(old.name, of: sealed.space)
        // A reader that has not heard of what comes.
        let reader = try sealed.log.open(process: 1, access: .readOnly)
        #expect(try sealed.log.numbers(sealed.space, in: reader).count == 8)
        try sealed.fill(8..<32)
        #expect(try sealed.store.seal(sealed.space, all: false).replacedCount == 1)
        sealed.log.clock.advance(milliseconds: 599_000)
        _ = try sealed.store.seal(sealed.space, all: false)
        #expect(try sealed.log.disk.exists(path))
        #expect(try sealed.log.numbers(sealed.space, in: reader).count == 8)
        sealed.log.clock.advance(milliseconds: 2000)
        _ = try sealed.store.seal(sealed.space, all: false)
        #expect(try !sealed.log.disk.exists(path))
        #expect(try sealed.log.numbers(sealed.space, in: reader).count == 8)
        #expect(try reader.refresh())
        #expect(try sealed.log.numbers(sealed.space, in: reader).count == 32)
    }

    @Test func oneProcessSealsAtATime() throws {
        let sealed = try SealedLog()
        let lock = try sealed.log.disk.lock(LogPaths.sealingLock(sealed.space))
        #expect(try Files.tryAcquire(lock))
        #expect(throws: LogError.sealing(sealed.space)) {
            try sealed.store.seal(sealed.space, all: true)
        }
    }

    /// Rows of 64 KiB each do not make a segment of 64 KiB times its events.
    @Test func aSegmentEndsWhereItsRowsAreTooMany() throws {
        let sealed = try SealedLog()
        sealed.log.sizes.segmentMax = 2000
        let store = try sealed.log.open(process: 1)
        _ = try store.append(sealed.log.append(32, textSize: 500, to: sealed.space))
        let report = try store.seal(sealed.space, all: false)
        #expect(report.segmentCount > 8)
        #expect(try store[sealed.space].segments().allSatisfy { $0.rowSize <= 2000 })
        #expect(try store.seal(sealed.space, all: false).segmentCount == 0)
        #expect(try sealed.log.numbers(sealed.space, in: store).count == 32)
    }

    // MARK: The manifest

    /// Nothing is sealed whose schema cannot be written down with it.
    @Test func eventsWithoutASchemaStayInTheLog() throws {
        let log = try TestLog()
        let store = try log.open()
        let space = try store.makeSpace(isAuthority: true).space
        _ = try store.append(log.append(5, to: space))
        let other = try LogStore(
            log.disk.process(1),
            access: .readWrite,
            time: log.clock,
            entropy: log.entropy,
            engine: log.kinds.engine
        )
        #expect(throws: LogError.noSchema(name: "sim.note.made", version: 1)) {
            try other.seal(space, all: true)
        }
        #expect(try log.numbers(space, in: other).count == 5)
        #expect(try store.seal(space, all: true).eventCount == 5)
        // From here on the segment itself tells the schema.
        _ = try other.append(log.append(5, to: space))
        #expect(try other.seal(space, all: true).eventCount == 10)
    }
}
