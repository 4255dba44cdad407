package import DiarioCore

/// One event as a line of JSON tells it; made to be used again for the next line.
package struct EventLine: Sendable {
    package var type: EventType
    package var payload = Payload()
    /// The bytes of `subject`, `actor` and `batch`.
    package var arena: [UInt8] = []
    /// Only where the type has no subject field.
    ///
    /// A part of `arena`.
    package var subject: Range<Int>?
    /// A part of `arena`.
    package var actor: Range<Int>?
    /// Lines that follow one another with an equal batch are one batch.
    ///
    /// A part of `arena`.
    package var batch: Range<Int>?
    package var at: Timestamp?
    /// True if the event must be refused when another replica has written to its subject.
    package var ifUnchanged = false
    /// True if the line gives the version of its type.
    package var givesVersion = false

    // Only exports have these.
    package var origin: Origin?
    package var position: UInt64?
    package var base: UInt64?
    package var clock: HybridTime?
    package var acceptedAt: Timestamp?

    package init(type: EventType = .blank) { self.type = type }

    /// Starts over: every optional key is absent; type and payload stay until they are replaced.
    package mutating func reset() {
        if !arena.isEmpty { arena.removeAll(keepingCapacity: true) }
        subject = nil
        actor = nil
        batch = nil
        at = nil
        ifUnchanged = false
        origin = nil
        position = nil
        base = nil
        clock = nil
        acceptedAt = nil
    }

    /// Appends `bytes` to the arena, for `subject`, `actor` or `batch`.
    package mutating func keep(_ bytes: Span<UInt8>) -> Range<Int> {
        let start = arena.count
        JSONWriter.append(bytes, to: &arena)
        return start..<arena.count
    }
}
