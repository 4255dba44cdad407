package import DiarioCore
import DiarioFormat
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

    /// Looks whether the log has what a space needs of it, and takes it for damaged if not.
    ///
    /// A log that is gone, or an older one, looks whole by itself.
    package func checkTail(of space: SpaceID) throws(LogError) {
        if let fault = try missingTail(of: space) { return try note(fault) }
        if let fault = try missingFault(of: space) { try note(fault) }
    }

    /// A fault if neither the log nor a segment has anything of a space.
    package func missingFault(of space: SpaceID) throws(LogError) -> Fault? {
        guard try isMissing(space) else { return nil }
        return Fault(
            file: FramePaths.folder,
            offset: 0,
            what: "the log has nothing of space \(space.text), and no segment has: it is gone, or "
                + "the space was never made whole"
        )
    }

    /// Whether the log lacks events of a space that are sealed, as an older one does.
    func endsBeforeSegments(of space: SpaceID) throws(LogError) -> Bool {
        try missingTail(of: space) != nil
    }

    /// Whether the log has nothing of a space: each has at least adopted packs, or is written down
    /// as one without events.
    func isMissing(_ space: SpaceID) throws(LogError) -> Bool {
        func isUnknown() -> Bool { shared.index.withLock { !$0[space].isKnown } }
        guard isUnknown() else { return false }
        // Another process may have made it just now.
        if fault == nil { _ = try refresh() }
        return isUnknown()
    }

    /// A fault if the write-ahead log ends before what was sealed of it.
    func missingTail(of space: SpaceID) throws(LogError) -> Fault? {
        let end = try segments(of: space).last?.last ?? 0
        guard shared.index.withLock({ $0[space].head }) < end else { return nil }
        // Another process may have sealed events that were not taken up yet.
        if fault == nil { _ = try refresh() }
        return shared.shortFault(of: space, sealed: end)
    }

    /// The blocks of a segment's files that are damaged.
    func damage(of entry: SegmentEntry, in space: SpaceID) throws(LogError) -> [Fault] {
        do throws(LogError) {
            var segment = try opened(entry, of: space)
            return try damagedBlocks(of: &segment)
        } catch {
            guard case .corrupt(let fault) = error else { throw error }
            return [fault]
        }
    }

    func opened(
        _ entry: SegmentEntry,
        of space: SpaceID
    ) throws(LogError) -> OpenSegment {
        guard let segment = try OpenSegment.open(entry, of: space, in: shared) else {
            throw SegmentPlace(entry, of: space).missingFault
        }
        for (file, size) in [
            (SegmentFile.segment, entry.segmentSize), (.sidecar, entry.sidecarSize),
        ] {
            let rest = try self.size(of: segment.place.path(file)) - Int64(size)
            guard rest <= 0 else {
                throw segment.place.fault(file, at: size, "\(rest) bytes follow its end")
            }
        }
        return segment
    }

    /// The size of a file; 0 if it was removed meanwhile, as happens to those that others replaced.
    private func size(of path: String) throws(LogError) -> Int64 {
        do throws(StorageError) {
            return try shared.directory.open(path, .read).size()
        } catch {
            if case .notFound = error { return 0 }
            throw .storage(error)
        }
    }

    private func damagedBlocks(of segment: inout OpenSegment) throws(LogError) -> [Fault] {
        let place = segment.place
        let damaged = try place.reading { () throws(SegmentError) in
            try segment.reader.damagedBlocks()
        }
        return damaged.compactMap { place.error(.fault($0)).fault }
    }
}

extension LogShared {
    /// A fault if the log, as far as it is known, ends before a position that is sealed.
    func shortFault(of space: SpaceID, sealed end: UInt64) -> Fault? {
        let head = index.withLock { $0[space].head }
        guard head < end else { return nil }
        return Fault(
            file: FramePaths.folder,
            offset: 0,
            what: "the log ends at position \(head), but \(end) are sealed"
        )
    }
}

extension LogError {
    var fault: Fault? {
        guard case .corrupt(let fault) = self else { return nil }
        return fault
    }
}

extension SegmentPlace {
    /// Errors of the segment as those of the log.
    func reading<Value: ~Copyable>(
        _ body: () throws(SegmentError) -> Value
    ) throws(LogError) -> Value {
        do throws(SegmentError) { return try body() } catch { throw self.error(error) }
    }
}
