package import DiarioCrypto
package import DiarioLog
import DiarioStorage

/// What a space holds and what it costs, in numbers.
package struct SpaceStats: Sendable {
    package let state: SpaceState
    package let root: Hash32
    /// All files of the space but read models and snapshots, and its live bytes in the log.
    package let bytes: Int
    /// The whole write-ahead log on disk, of all spaces.
    package let logBytes: Int
    /// Sealed segments.
    package let segmentCount: Int
    /// Canonical events that are in no segment.
    package let tailCount: Int
    /// Own events that the authority refused.
    package let inboxCount: Int
    /// True if events that the authority wrote itself are counted.
    package var includesAuthority = false

    package var events: Int {
        guard includesAuthority else { return state.events }
        return Int(clamping: state.head) + state.pending
    }

    package var bytesPerEvent: Double { events == 0 ? 0 : Double(bytes) / Double(events) }
}

extension Space {
    /// What the sealed events take by type and column.
    package func sealedSizes() throws(LogError) -> SealedSizes { try store[id].sealedSizes() }

    /// How many events are in the inbox.
    package func inboxCount() throws(LogError) -> Int {
        try store[id].inbox.read().entries.reduce(0) { $0 + $1.sequences.count }
    }

    package func stats() throws(LogError) -> SpaceStats {
        let status = try store[id].status()
        return SpaceStats(
            state: SpaceState(status),
            root: try store[id].root(),
            bytes: status.liveBytes + (try store[id].fileBytes()),
            logBytes: try store.logBytes(),
            segmentCount: status.segmentCount,
            tailCount: status.tailCount,
            inboxCount: try inboxCount()
        )
    }
}
