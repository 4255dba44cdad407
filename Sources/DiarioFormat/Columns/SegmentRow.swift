/// One event as it comes out of a segment.
package struct SegmentRow: Equatable, Sendable {
    /// Its number in the segment, from 0.
    package var index: Int
    /// The index of its type in the segment.
    package var typeIndex: Int
    /// Nil while the event is pending.
    package var position: UInt64?
    /// Where its parts lie in `SegmentRows.bytes`, and the rest of it.
    package var event: SegmentEvent
}
