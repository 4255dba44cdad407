import DiarioCore
import DiarioFormat
import DiarioFrames
import DiarioStorage
import Synchronization

// A commit puts the events of several appends into one frame, writes it, syncs it, and only then
// lets anyone see them.

extension Writer {
    typealias Outcome = Result<AppendedBatches, LogError>

    /// Appends what is asked for, in order, in as few frames as the limits allow.
    ///
    /// The outcome at the same index belongs to each append. When a frame fails, so do all appends
    /// in it; those of earlier frames are done.
    mutating func commit(_ appends: [Append]) -> Few<Outcome> {
        guard !appends.isEmpty else { return Few() }
        do throws(LogError) {
            try begin()
        } catch {
            return Few(repeating: .failure(error), count: appends.count)
        }
        defer { end() }
        time = store.time.now
        var outcomes = Few<Outcome>()
        outcomes.reserveCapacity(appends.count)
        var isComplete = true
        var next = 0
        while next < appends.count {
            beginFrame(carriesOn: next == 0 && isCarried)
            let first = next
            repeat {
                outcomes.append(stage(appends[next]))
                next += 1
            } while next < appends.count
                && frame.count + builder.size + appends[next].sizeEstimate < store.sizes.frameMax
            do throws(LogError) {
                try finishFrame()
            } catch {
                isComplete = false
                for index in first..<next {
                    // What was refused has its own reason.
                    if case .success = outcomes[index] { outcomes[index] = .failure(error) }
                }
            }
        }
        isCarried = isComplete && staged.isEmpty
        lastStaged?.1.bytesToState -= frame.count
        if !lateStates.isEmpty { writeLateStates() }
        return outcomes
    }

    /// Writes states that did not fit into the frames of a commit, each in a frame that has room.
    ///
    /// What was committed does not depend on them: if they cannot be written now, a later commit
    /// tries again.
    private mutating func writeLateStates() {
        let late = lateStates.sorted()
        lateStates.removeAll()
        do throws(LogError) {
            beginFrame()
            for id in late {
                let size = store.index.withLock { $0.brief(of: id).stateSizeMax }
                // Of more replicas than there may be, as programs without that bound let in.
                guard size + Record.headerSize <= store.sizes.frameMax else { continue }
                let range = try store.hashes.range(of: id, in: store)
                try makeRoom(size)
                appendState(of: id, range, released: nil)
            }
            try finishFrame()
        } catch {
            forgetStaged()
        }
    }

    /// Forgets what earlier commits left of the space they staged last.
    mutating func forgetStaged() {
        isCarried = false
        lastStaged = nil
    }

    /// Lets readers see the frame that was written last, which lies at `place`.
    private mutating func replay(_ place: FramePlace) throws(LogError) {
        if ownRows.count == recordCount {
            store.index.withLock { index in
                for rows in ownRows { index.replay(rows, of: place) }
            }
        } else {
            let (bytes, engine) = (frame.span, store.engine)
            do throws(FrameError) {
                try store.index.withLock { (index) throws(FrameError) in
                    try index.replay(bytes, FrameHeader.size..<bodyEnd, of: place, engine)
                }
            } catch {
                throw LogError(error)
            }
        }
        noteUnhashed(at: place)
    }

    /// Begins a frame; with `carriesOn`, what is known of the last space holds still.
    mutating func beginFrame(carriesOn: Bool = false) {
        precondition(builder.isEmpty, "the last frame took all rows")
        frame.removeAll(keepingCapacity: true)
        frame.append(repeating: 0, count: FrameHeader.size)
        recordCount = 0
        ownRows.removeAll(keepingCapacity: true)
        if !staged.isEmpty { staged.removeAll(keepingCapacity: true) }
        if !carriesOn { lastStaged = nil }
        // Without a space there is nothing to carry on; the first one of this frame is not carried.
        isCarried = lastStaged != nil
    }

    /// Notes the spaces in which the frame completes a run of events that can be sealed.
    private mutating func noteSealable() {
        let step = UInt64(store.sizes.segmentCount)
        // Looked at where it is: each commit comes by here, and a copy would count references.
        if let mark = lastStaged?.1.dueSealMark, let id = lastStaged?.0 {
            store.sealing.note(id, mark: mark, step: step)
            lastStaged?.1.sealMarkNext = mark + step
        }
        for (id, space) in staged {
            if let mark = space.dueSealMark { store.sealing.note(id, mark: mark, step: step) }
        }
    }

    /// Notes if the log holds too much, whichever spaces that is of.
    ///
    /// Looked at from time to time is enough for a bound of so many bytes.
    private mutating func noteCrowded() {
        bytesToLook -= frame.count
        guard bytesToLook <= 0 else { return }
        bytesToLook = store.sizes.stateInterval
        let liveBytes = store.index.withLock { $0.liveBytesTotal }
        if liveBytes > store.sizes.liveMax { store.sealing.noteCrowded() }
        store.sealing.isBehind.store(liveBytes > store.sizes.paceMax, ordering: .relaxed)
    }

    /// Writes the frame under construction and syncs it; only then readers see it.
    mutating func finishFrame() throws(LogError) {
        flushRows()
        guard recordCount > 0 else { return }
        bodyEnd = frame.count
        // While this thread waits for the disk there is a processor to hash with.
        if store.hashes.isDue { store.helper?.hashSoon() }
        let place: FramePlace
        do throws(FrameError) {
            place = try frames.log.append(&frame, recordCount: recordCount)
        } catch {
            // What was staged after it stands on events that are not there.
            forgetStaged()
            throw LogError(error)
        }
        noteSealable()
        noteCrowded()
        try replay(place)
    }
}
