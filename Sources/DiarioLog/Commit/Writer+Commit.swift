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
        var next = 0
        while next < appends.count {
            beginFrame(carriesOn: next == 0)
            let first = next
            repeat {
                outcomes.append(stage(appends[next]))
                next += 1
            } while next < appends.count
                && draft.size + appends[next].sizeEstimate < store.sizes.frameMax
            do throws(LogError) {
                try finishFrame()
            } catch {
                for index in first..<next {
                    // What was refused has its own reason.
                    if case .success = outcomes[index] { outcomes[index] = .failure(error) }
                }
            }
        }
        staged.end(frameSize: draft.bytes.count)
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
                appendState(of: id, range)
            }
            try finishFrame()
        } catch {}
    }

    /// Begins a frame; with `carriesOn`, what the last commit left of a space holds still.
    mutating func beginFrame(carriesOn: Bool = false) {
        draft.begin()
        staged.begin(carriesOn: carriesOn)
    }

    /// Writes a frame with what `body` adds to it; durable when it returns.
    mutating func writeFrame(_ body: (inout FrameDraft) -> Void) throws(LogError) {
        beginFrame()
        body(&draft)
        try finishFrame()
    }

    /// Notes if the log holds too much, whichever spaces that is of.
    ///
    /// Looked at from time to time is enough for a bound of so many bytes.
    private mutating func noteCrowded() {
        bytesToLook -= draft.bytes.count
        guard bytesToLook <= 0 else { return }
        bytesToLook = store.sizes.stateInterval
        let liveBytes = store.index.withLock { $0.liveBytesTotal }
        if liveBytes > store.sizes.liveMax { store.sealing.noteCrowded() }
        store.sealing.isBehind.store(liveBytes > store.sizes.paceMax, ordering: .relaxed)
    }

    /// Writes the frame under construction and syncs it; only then readers see it.
    mutating func finishFrame() throws(LogError) {
        draft.flushRows()
        guard draft.recordCount > 0 else { return }
        let end = draft.bytes.count
        // While this thread waits for the disk there is a processor to hash with.
        if store.hashes.isDue { hashSoon() }
        let place: FramePlace
        do throws(FrameError) {
            place = try frames.log.append(&draft.bytes, recordCount: draft.recordCount)
        } catch {
            // What was staged after it stands on events that are not there.
            staged.removeAll()
            throw LogError(error)
        }
        staged.noteSealable(in: store.sealing, step: UInt64(store.sizes.segmentCount))
        noteCrowded()
        try replay(FrameHeader.size..<end, of: place)
        let (last, others) = staged.ids
        guard last != nil || !others.isEmpty else { return }
        store.hashes.follow(draft.bytes, at: place, last, others: others)
    }

    /// Lets readers see the records of the frame, which is on disk at `place`.
    private func replay(_ body: Range<Int>, of place: FramePlace) throws(LogError) {
        guard !draft.isPlain else {
            return store.index.withLock { index in
                for rows in draft.ownRows { index.replay(rows, of: place) }
            }
        }
        do throws(FrameError) {
            try store.index.withLock { (index) throws(FrameError) in
                try index.replay(draft.bytes.span, body, of: place, store.engine)
            }
        } catch {
            throw LogError(error)
        }
    }
}
