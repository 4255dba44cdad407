import DiarioCore
import DiarioFormat
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
    mutating func commit(_ appends: [Append]) -> [Outcome] {
        guard !appends.isEmpty else { return [] }
        do throws(LogError) {
            try begin()
        } catch {
            return appends.map { _ in .failure(error) }
        }
        defer { end() }
        do throws(LogError) {
            try syncPrevious()
        } catch {
            return appends.map { _ in .failure(error) }
        }
        var outcomes: [Outcome] = []
        outcomes.reserveCapacity(appends.count)
        var next = 0
        while next < appends.count {
            beginFrame()
            let first = next
            var isSynced = false
            repeat {
                outcomes.append(stage(appends[next]))
                isSynced = isSynced || appends[next].durability == .synced
                next += 1
            } while next < appends.count
                && frame.count + builder.size + appends[next].sizeEstimate < store.sizes.frameMax
            do throws(LogError) {
                try finishFrame(isSynced: isSynced || next < appends.count)
            } catch {
                for index in first..<next {
                    // What was refused has its own reason.
                    if case .success = outcomes[index] { outcomes[index] = .failure(error) }
                }
            }
        }
        return outcomes
    }

    /// Syncs the frame that was written last, if it is not synced yet, and lets readers see it.
    mutating func syncPrevious() throws(LogError) {
        try takeUp(try log.sync())
    }

    /// Lets readers see the last frame, which lies at `place`; nil if there is none to see.
    mutating func takeUp(_ place: FramePlace?) throws(LogError) {
        guard let place else { return }
        try store.takeUp(frame.span, FrameHeader.size..<bodyEnd, of: place)
        noteUnhashed(at: place)
    }

    mutating func beginFrame() {
        precondition(builder.isEmpty, "the last frame took all rows")
        frame.removeAll(keepingCapacity: true)
        frame.append(contentsOf: repeatElement(0, count: FrameHeader.size))
        recordCount = 0
        staged.removeAll(keepingCapacity: true)
        lastStaged = nil
    }

    /// Writes the frame under construction, and shows it if it is synced.
    mutating func finishFrame(isSynced: Bool) throws(LogError) {
        flushRows()
        guard recordCount > 0 else { return }
        bodyEnd = frame.count
        try log.append(&frame, recordCount: recordCount)
        guard isSynced else { return }
        try syncPrevious()
    }
}
