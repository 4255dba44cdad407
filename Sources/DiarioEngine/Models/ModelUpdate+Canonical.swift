import DiarioProjection

// Canonical events alone: in large transactions, which may be done in several steps.

extension ModelUpdate {
    /// All canonical events up to here were applied.
    var applied: UInt64 { file.models.map { $0.applied }.min() ?? file.applied }

    /// Applies canonical events in large transactions; nothing pending is applied.
    func catchUp(
        through head: UInt64,
        _ progress: (UInt64, UInt64) -> Void
    ) throws(DiarioError) {
        while try catchUpStep(through: head) {
            progress(min(applied, head), head)
            try stop.check()
        }
    }

    /// Applies canonical events up to `head`, at most those of one transaction, which stays open
    /// after `countMax` of them; false if there are none left.
    func catchUpStep(through head: UInt64, countMax: Int = .max) throws(DiarioError) -> Bool {
        if reading?.transaction == nil { file.allow(allowance) }
        if reading == nil {
            guard applied < head else { return false }
            if try catchUpWithRecent(applied + 1...head) {
                try checkAllowance(head)
                return true
            }
            reading = try nextReading(through: head)
        }
        guard let begun = reading else { return false }
        // After a failure reading begins where the file is.
        reading = nil
        var next = begun
        let isMore = try withCare { (care) throws(ApplyError) in
            next = begun
            if case .eachEvent = care, let transaction = begun.transaction {
                (next.events, next.transaction) = (transaction.start, nil)
            }
            return try advance(&next, countMax, care)
        }
        guard isMore else { return true }
        reading = next
        if next.transaction == nil { try checkAllowance(head) }
        return true
    }

    /// All events up to here were applied, though some may not be committed.
    var reached: UInt64 { reading?.transaction?.last ?? applied }

    /// Commits what was applied since the last transaction.
    func pause() throws(DiarioError) {
        guard let transaction = reading?.transaction else { return }
        reading = nil
        file.settleLagging(through: transaction.last)
        do { try file.commit() } catch { throw DiarioError(error) }
    }

    /// Does a part of what a build leaves for its end; false if nothing is left.
    func finishStep() throws(DiarioError) -> Bool {
        let stop = stop
        do { return try file.later.step(in: file) { stop.hasBeenAsked } } catch {
            try stop.check()
            throw DiarioError(error)
        }
    }

    /// The next events for the read models that lag most; those that are further on wait.
    private func nextReading(through head: UInt64) throws(DiarioError) -> Reading {
        let first = applied
        let next = file.models.map { $0.applied }.filter { $0 > first }.min() ?? head
        let positions = first + 1...min(next, head)
        let lagging = Set(file.models.filter { $0.applied == first }.map { $0.name })
        return Reading(events: try events(at: positions, for: lagging), positions: positions)
    }

    /// Applies the newest events, if they are few and all models lack them; false if not.
    private func catchUpWithRecent(_ positions: ClosedRange<UInt64>) throws(DiarioError) -> Bool {
        guard let recent, file.isEven, UInt64(positions.count) <= UInt64(chunkCount),
            try recent.holds(positions)
        else { return false }
        guard recent.concern(file.plan) else {
            do { try file.passOver(through: positions.upperBound) } catch {
                throw DiarioError(error)
            }
            return true
        }
        try withCare { (care) throws(ApplyError) in
            try filing { () throws(ProjectionError) in try file.begin(care) }
            if let last = try recent.apply(to: file, care) { file.settle(through: last) }
            try filing { () throws(ProjectionError) in try file.commit() }
        }
        return true
    }

    /// A part of a transaction, or all of it; false if there are no further events.
    private func advance(
        _ reading: inout Reading,
        _ countMax: Int,
        _ care: ModelFile.Care
    ) throws(ApplyError) -> Bool {
        if reading.transaction == nil {
            try filing { () throws(ProjectionError) in try file.begin(care) }
        }
        var open =
            reading.transaction ?? Transaction(start: reading.events, last: file.applied)
        // Events that need savepoints may have to be repeated more than once.
        let isCareful = if case .none = care { false } else { true }
        let chunkCount = isCareful ? min(chunkCount, Self.carefulCount) : chunkCount
        let count = isCareful ? chunkCount : min(countMax, chunkCount - open.count)
        let done = try reading.events.apply(to: file, after: open.last, countMax: count, care)
        open.count += done.count
        open.last = done.isAtEnd ? reading.positions.upperBound : done.last
        reading.transaction = open
        guard isCareful || done.isAtEnd || open.count >= chunkCount || file.shouldCommit else {
            return true
        }
        file.settleLagging(through: open.last)
        try filing { () throws(ProjectionError) in try file.commit() }
        reading.transaction = nil
        return !done.isAtEnd
    }
}
