package import DiarioCore
import DiarioFormat
import DiarioSchema

/// Events that a reader has no use for, so that whole segments and blocks need not be read.
///
/// A cursor leaves out only what the filter excludes, but not all of that: who reads looks at each
/// event that comes.
package struct LogFilter: Sendable {
    /// True if events of a type are wanted, by its full name; nil for all.
    package var wantsType: (@Sendable ([UInt8]) -> Bool)?
    package var subject: [UInt8]?
    package var replica: ReplicaID?
    /// Only events of this replica with these sequences.
    package var sequences: Sequences?
    /// Accepted at or after; pending events were not.
    package var since: Timestamp?
    /// Accepted before; pending events were not.
    package var until: Timestamp?

    /// Consecutive events of one replica.
    package struct Sequences: Sendable {
        package let replica: ReplicaID
        package let range: ClosedRange<UInt64>

        package init(_ range: ClosedRange<UInt64>, of replica: ReplicaID) {
            self.replica = replica
            self.range = range
        }
    }

    package init() {}

    /// Only this event.
    package var origin: Origin? {
        get {
            guard let sequences, sequences.range.count == 1 else { return nil }
            return Origin(replica: sequences.replica, sequence: sequences.range.lowerBound)
        }
        set {
            sequences = newValue.map { Sequences($0.sequence...$0.sequence, of: $0.replica) }
        }
    }

    /// True if all events are wanted.
    var isEmpty: Bool {
        wantsType == nil && subject == nil && replica == nil && sequences == nil && since == nil
            && until == nil
    }

    /// True if events may be wanted that were accepted at one time; nil if they are pending.
    func mayWant(acceptedAt: Int64?) -> Bool {
        guard since != nil || until != nil else { return true }
        guard let acceptedAt else { return false }
        if let since, acceptedAt < since.milliseconds { return false }
        if let until, acceptedAt >= until.milliseconds { return false }
        return true
    }

    /// The types of a segment whose events may be wanted, by its index alone.
    func types(_ index: SegmentIndex) -> Set<Int> {
        if let accepted = index.acceptedAt {
            if let since, accepted.upperBound < since.milliseconds { return [] }
            if let until, accepted.lowerBound >= until.milliseconds { return [] }
        }
        if let replica, !index.replicas.contains(where: { $0.replica == replica }) { return [] }
        if let sequences, !index.holds(sequences.range, of: sequences.replica) { return [] }
        return Set(
            index.types.indices.filter { wantsType?(index.types[$0].entry.name) ?? true }
        )
    }

    /// Those of `types` that may have events with the wanted subject; reads at most their filters.
    func types(
        _ types: Set<Int>,
        withSubjectIn reader: inout SegmentReader
    ) throws(SegmentError) -> Set<Int> {
        guard let subject else { return types }
        let origin = Origin(text: String(decoding: subject, as: UTF8.self))
        let mayBeDerived = origin.flatMap { reader.index.find($0) } != nil
        var found: Set<Int> = []
        for type in types.sorted() {
            let eventType = try reader.eventType(type)
            let isOwnOrigin =
                mayBeDerived && eventType.subjectFieldIndex != nil
                && eventType.subjectFieldIndex == eventType.newIDFieldIndex
            if isOwnOrigin {
                found.insert(type)
            } else if try reader.mayContain(subject.span, type: type) {
                found.insert(type)
            }
        }
        return found
    }
}
