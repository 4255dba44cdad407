/// What salvage wrote into a new directory, and what it did not find: schema/format/salvage.md,
/// section 5.
package struct SalvageReport: Sendable {
    package var spaces: [SalvagedSpace] = []
    /// Files that are damaged or missing, and why.
    package var faults: [Fault] = []
    /// Fingerprints of packs that a space uses and that are nowhere here.
    package var missingPacks: [String] = []

    package init() {}

    /// True if every file verified and every event came along.
    package var isWhole: Bool {
        faults.isEmpty && missingPacks.isEmpty && spaces.allSatisfy { $0.isWhole }
    }

    /// Events that were written.
    package var eventCount: UInt64 { spaces.reduce(0) { $0 + $1.eventCount + $1.pendingCount } }
}

/// What became of the events of one space.
package struct SalvagedSpace: Sendable {
    package let space: SpaceID
    /// False if a server gives the positions.
    package let isAuthority: Bool
    /// Canonical events that were written, those of an authority included.
    package var eventCount: UInt64 = 0
    package var pendingCount: UInt64 = 0
    /// Consecutive events that kept their distance, in order.
    package var moved: [Moved] = []
    /// Positions that no event was found for.
    package var gaps: [ClosedRange<UInt64>] = []
    /// New positions of events whose personal part or salt was not found.
    package var erased: [ClosedRange<UInt64>] = []
    /// Pending events whose personal part or salt was not found.
    package var erasedPending: [Sequences] = []
    /// New positions of events of which two files tell different.
    package var disputed: [ClosedRange<UInt64>] = []
    /// The same of pending events.
    package var disputedPending: [Sequences] = []
    /// New positions of events that were part of a larger batch.
    package var parted: [ClosedRange<UInt64>] = []
    /// New positions of events whose old ones were not found.
    package var unplaced: [ClosedRange<UInt64>] = []
    /// Pending events that were not found.
    package var lostPending: [Sequences] = []

    /// Events that stood at `first` to `last`, the first of them at `newFirst` now.
    package struct Moved: Equatable, Sendable {
        package let first: UInt64
        package var last: UInt64
        package let newFirst: UInt64
    }

    /// Events of one replica.
    package struct Sequences: Equatable, Sendable {
        package let replica: ReplicaID
        package var sequences: ClosedRange<UInt64>
    }

    package init(_ space: SpaceID, isAuthority: Bool) {
        self.space = space
        self.isAuthority = isAuthority
    }

    package var isWhole: Bool {
        gaps.isEmpty && erased.isEmpty && erasedPending.isEmpty && parted.isEmpty
            && unplaced.isEmpty && lostPending.isEmpty && disputed.isEmpty
            && disputedPending.isEmpty
    }

    package mutating func move(_ old: UInt64, to new: UInt64) {
        if let last = moved.last, last.last + 1 == old, last.newFirst + (old - last.first) == new {
            moved[moved.count - 1].last = old
        } else {
            moved.append(Moved(first: old, last: old, newFirst: new))
        }
    }
}

extension [ClosedRange<UInt64>] {
    /// Adds a number behind all others.
    package mutating func extend(by number: UInt64) {
        if let last, last.upperBound + 1 == number {
            self[count - 1] = last.lowerBound...number
        } else {
            append(number...number)
        }
    }
}

extension [SalvagedSpace.Sequences] {
    /// Adds sequences of a replica behind all others of it.
    package mutating func extend(_ replica: ReplicaID, by sequences: ClosedRange<UInt64>) {
        if let last, last.replica == replica,
            last.sequences.upperBound + 1 == sequences.lowerBound
        {
            self[count - 1].sequences = last.sequences.lowerBound...sequences.upperBound
        } else {
            append(SalvagedSpace.Sequences(replica: replica, sequences: sequences))
        }
    }
}
