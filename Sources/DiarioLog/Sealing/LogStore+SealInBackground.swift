package import DiarioCore
import DiarioFormat
import DiarioStorage
import Synchronization

// Sealing while no call is running.
extension LogStore {
    /// Milliseconds that sealing may wait before it begins.
    package var sealDelay: Int64 {
        shared.sealing.isCrowded ? 0 : shared.sizes.sealDelayMilliseconds
    }

    /// True if the log is written faster than sealed, so that whoever writes should wait a moment.
    package var isBehindWithSealing: Bool {
        guard shared.sealing.isBehind.load(ordering: .relaxed) else { return false }
        let liveBytes = shared.index.withLock { $0.liveBytesTotal }
        let isBehind = liveBytes > shared.sizes.paceMax && shared.sealing.failure == nil
        if !isBehind { shared.sealing.isBehind.store(false, ordering: .relaxed) }
        return isBehind
    }

    /// Seals what is due; false once the log is closed.
    ///
    /// Several threads may call it at once.
    package func sealDue() -> Bool {
        do throws(LogError) {
            var due = DueSeals(self)
            while try due.step(Limits.stepSize) {}
        } catch {
            return false
        }
        return true
    }

    /// Seals what is due and was left for later: who closes a log soon after an append leaves the
    /// thread no time to do so, and if all do, the log grows without end.
    ///
    /// Failures are kept to be shown: what was acknowledged is safe where it is.
    package func sealBeforeClose() {
        guard access == .readWrite, helper != nil else { return }
        _ = sealDue()
    }

    /// Throws `.closed` once the log is about to be.
    func goOnSealing() throws(LogError) {
        guard shared.sealing.isEnding.load(ordering: .sequentiallyConsistent) else { return }
        throw .closed
    }

    // MARK: A log that holds too much

    /// True if the log holds more than it may.
    fileprivate var isCrowded: Bool {
        shared.index.withLock { $0.liveBytesTotal } > shared.sizes.liveMax
    }

    fileprivate func offerTails() {
        shared.sealing.offer(Tail.inSealingOrder(shared.index.withLock { $0.tails() }))
    }

    /// Bytes that the log holds more than it should, a good deal below the bound, since looking for
    /// what to do about it takes a look at all spaces.
    fileprivate var excess: Int {
        let sizes = shared.sizes
        return shared.index.withLock { $0.liveBytesTotal } - sizes.liveMax + sizes.liveMax / 8
    }

    /// Why sealing in the background failed last; nil if it never did.
    package var sealFailure: LogError? { shared.sealing.failure }
}

/// Seals what is due, some bytes at a time; then tails short, until the write-ahead log holds
/// little enough.
@usableFromInline package struct DueSeals: ~Copyable {
    private let store: LogStore
    private var due: ArraySlice<SpaceID>
    private var current: LogSeal?
    private var isRelieving = false

    /// With a space that may have had something due before the log was opened.
    package init(_ store: LogStore, and space: SpaceID? = nil) {
        self.store = store
        let due = store.shared.sealing.takeDue()
        self.due = (due + [space].compactMap { $0 }.filter { !due.contains($0) })[...]
    }

    /// Goes on by about so many bytes of rows; false once nothing is due.
    ///
    /// Throws once the log is closed; other failures are kept to be shown.
    package mutating func step(_ budget: Int) throws(LogError) -> Bool {
        if var seal = current.take() {
            let space = seal.space
            do throws(LogError) {
                if try seal.step(budget) {
                    current = consume seal
                } else {
                    store.shared.sealing.noteSuccess(space)
                }
            } catch {
                try note(error, of: space)
            }
            return true
        }
        try store.goOnSealing()
        guard let (space, extent) = next() else { return false }
        do throws(LogError) {
            current = try LogSeal(store, space, extent)
        } catch {
            try note(error, of: space)
        }
        return true
    }

    private mutating func next() -> (SpaceID, SealExtent)? {
        if let space = due.popFirst() { return (space, .complete) }
        if !isRelieving {
            guard store.isCrowded else { return nil }
            isRelieving = true
            store.offerTails()
        }
        if store.excess > 0, let space = store.shared.sealing.takeTail() { return (space, .tail) }
        store.shared.sealing.endRelief()
        isRelieving = false
        return nil
    }

    private func note(_ error: LogError, of space: SpaceID) throws(LogError) {
        if case .closed = error { throw error }
        // Then it is done, or due again with the next events.
        if case .sealing = error { return }
        let shared = store.shared
        let mark = shared.index.withLock { $0[space].sealMark }
        let step = UInt64(shared.sizes.segmentCount)
        shared.sealing.note(space, failure: error, mark: mark, step: step)
    }
}

/// The part of a space in blocks of the write-ahead log.
private struct Tail {
    let space: SpaceID
    /// The place of its newest block.
    var last = Place(file: 0, offset: 0)
    /// Bytes of its blocks.
    var size = 0

    struct Place: Comparable {
        var file: UInt32
        var offset: UInt32

        static func < (left: Place, right: Place) -> Bool {
            (left.file, left.offset) < (right.file, right.offset)
        }
    }

    /// Of the half that was written to longest ago the largest first: a segment costs about the
    /// same however many events it has, and what is written to now will fill a run by itself.
    static func inSealingOrder(_ tails: [Tail]) -> [SpaceID] {
        let byTime = tails.sorted { ($0.last, $0.space) < ($1.last, $1.space) }
        let old = byTime[..<((byTime.count + 1) / 2)]
        let largest = old.sorted { ($1.size, $0.space) < ($0.size, $1.space) }
        return (largest + byTime[old.endIndex...]).map { $0.space }
    }

    mutating func take(_ runs: [Run]) {
        for run in runs where !run.isSealed {
            last = max(last, Place(file: run.file, offset: run.offset))
            size += Int(run.liveBytes)
        }
    }
}

extension LogIndex {
    /// The spaces with rows in blocks of the log, in no order.
    fileprivate func tails() -> [Tail] {
        var tails: [Tail] = []
        spaces.forEach { id, space in
            var tail = Tail(space: id)
            tail.take(space.canonical.runs)
            for lane in space.lanes { tail.take(lane.runs.runs) }
            if tail.size > 0 { tails.append(tail) }
        }
        return tails
    }
}
