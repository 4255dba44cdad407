package import DiarioCore
import DiarioFrames
import DiarioStorage
import Synchronization

extension LogStore {
    /// Verifies a space by a machine that runs to its end.
    package func verify(
        _ space: SpaceID,
        _ visit: (VerifiedEvents) -> String?
    ) throws(LogError) -> Verification {
        var verify = try LogVerify(self, space)
        while try verify.step(Limits.stepSize, visit) {}
        return verify.result
    }
}

extension SpaceLog {
    /// Looks whether the log has what a space needs of it, and takes it for damaged if not.
    ///
    /// A log that is gone, or an older one, looks whole by itself.
    package func checkTail() throws(LogError) {
        if let fault = try missingTail() { return try log.note(fault) }
        if let fault = try missingFault() { try log.note(fault) }
    }

    /// A fault if neither the log nor a segment has anything of a space.
    package func missingFault() throws(LogError) -> Fault? {
        // Each space has at least adopted packs, or is written down as one without events.
        func isUnknown() -> Bool { shared.index.withLock { !$0[space].isKnown } }
        guard isUnknown() else { return nil }
        // Another process may have made it just now.
        if log.fault == nil { _ = try log.refresh() }
        guard isUnknown() else { return nil }
        return Fault(
            file: FramePaths.folder,
            offset: 0,
            what: "the log has nothing of space \(space.text), and no segment has: it is gone, or "
                + "the space was never made whole"
        )
    }

    /// A fault if the write-ahead log ends before what was sealed of it.
    func missingTail() throws(LogError) -> Fault? {
        let end = try segments().last?.last ?? 0
        guard shared.index.withLock({ $0[space].head }) < end else { return nil }
        // Another process may have sealed events that were not taken up yet.
        if log.fault == nil { _ = try log.refresh() }
        return shared.shortFault(of: space, sealed: end)
    }
}
