package import DiarioCore

/// What `diario repair` found, what it did or would do about it, and what is lost.
package struct RepairReport: Equatable, Sendable {
    /// Something that was wrong, and what became of it.
    package struct Finding: Equatable, Sendable {
        package let fault: Fault
        /// What was done about it, or would be, as a clause; nil if nothing can be done.
        package let remedy: String?
    }

    /// Events that are gone.
    package struct Loss: Equatable, Sendable {
        package let space: SpaceID
        /// The canonical positions, or the replica whose pending events they were.
        package let place: Place
        package let numbers: ClosedRange<UInt64>

        package enum Place: Equatable, Sendable {
            case positions
            case sequences(ReplicaID)
        }

        package var count: UInt64 { numbers.upperBound - numbers.lowerBound + 1 }
    }

    package internal(set) var findings: [Finding] = []
    package internal(set) var losses: [Loss] = []
    /// Things that are not events, or not known to be, and that are gone; in plain words.
    package internal(set) var remarks: [String] = []
    /// Where what was damaged is kept; nil if nothing was.
    package internal(set) var setAside: String?
    /// What verify finds afterwards; empty if all was mended.
    package internal(set) var remaining: [Fault] = []
    /// Events that are there afterwards.
    package internal(set) var events = 0

    package var isClean: Bool { findings.isEmpty && remaining.isEmpty }

    /// Whether nothing wrong is left.
    package var isMended: Bool {
        remaining.isEmpty && findings.allSatisfy { $0.remedy != nil }
    }

    /// How many events are known to be lost.
    package var lostCount: UInt64 { losses.reduce(0) { $0 + $1.count } }

    package mutating func found(_ fault: Fault, _ remedy: String?) {
        let finding = Finding(fault: fault, remedy: remedy)
        if !findings.contains(finding) { findings.append(finding) }
    }

    mutating func found(_ file: String, at offset: Int = 0, _ what: String, _ remedy: String?) {
        found(Fault(file: file, offset: offset, what: what), remedy)
    }
}
