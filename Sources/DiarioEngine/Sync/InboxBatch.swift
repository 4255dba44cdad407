public import DiarioCore
package import DiarioCrypto
import DiarioLog
package import DiarioSchema

/// A batch in the inbox: own events that the authority refused, or that another copy of this
/// replica got ahead of.
public struct InboxBatch: Sendable {
    /// Why the authority refused a batch.
    public struct Refusal: Hashable, Sendable {
        /// The position of the refusal in the log.
        public let position: UInt64
        /// When the authority said so.
        public let refusedAt: Timestamp
        /// The rule that one of the events broke, such as `changed`.
        public let rule: String
        /// The reason, with a remedy.
        public let message: String
        /// The event that broke the rule.
        public let origin: Origin?
        /// The position of the event that got in between, if there is one.
        public let conflict: UInt64?
    }

    /// The replica that recorded the events.
    public let replica: ReplicaID
    /// Their sequences.
    public let sequences: ClosedRange<UInt64>
    /// When they were put into the inbox.
    public let keptAt: Timestamp
    /// Why they were refused; nil if the log does not say that they were.
    public let refusal: Refusal?
    /// The events as an export tells them.
    package let lines: [EventLine]
    /// The events as they were recorded, without positions.
    public let events: [RecordedEvent]
    /// The first of the new events, if these were recorded again already and only the removal of
    /// this batch is missing.
    public let recordedAgain: Origin?

    /// The origin of the first event, which names the batch.
    public var origin: Origin { Origin(replica: replica, sequence: sequences.lowerBound) }

    /// The blobs to which its events refer.
    package var blobs: [Hash32] {
        lines.flatMap { line in
            line.type.blobs.compactMap { blob in
                line.payload.bytes(at: blob.idIndex).flatMap { Hash32(Array($0).span) }
            }
        }
    }

    /// True if the log says that the authority refused them.
    ///
    /// If it does not, another copy of this replica recorded other events under the same origins.
    public var isRefusalKnown: Bool { refusal != nil }
}

/// The result of recording a batch again.
public struct InboxRetry: Hashable, Sendable {
    /// The first event of the batch as it was in the inbox.
    public let old: Origin
    /// The first of the new events.
    public let new: Origin
    /// The number of events.
    public let count: Int
    /// True if they had been recorded before, and a crash had kept the batch in the inbox.
    public let wasRecorded: Bool
}
