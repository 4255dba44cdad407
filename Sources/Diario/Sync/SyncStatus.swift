public import DiarioCore

/// The state of the sync of a diary.
public struct SyncStatus: Hashable, Sendable {
    /// The phase of a sync.
    @nonexhaustive
    public enum Phase: Hashable, Sendable {
        /// No sync is under way.
        case offline
        /// It sends events.
        case pushing
        /// It fetches what others recorded.
        case pulling
        /// It looks for the part of the history that the authority has as well.
        case comparing
        /// Nothing is left to do for now.
        case upToDate
        /// It tries again at ``SyncStatus/nextTry``.
        case backingOff
        /// It waits for a person; ``SyncStatus/lastError`` says what to do.
        case paused
    }

    public var phase = Phase.offline
    /// Events recorded here that have no position yet.
    public var pending = 0
    /// The last position here.
    public var head: UInt64 = 0
    /// Events that the authority had more than this diary when it last answered.
    public var lag: UInt64 = 0
    /// The last error, in a sentence; nil after a success.
    public var lastError: String?
    /// When it is tried again, if it has to wait.
    public var nextTry: Timestamp?

    public init() {}
}

/// The result of one sync.
public struct SyncReport: Hashable, Sendable {
    /// Own events that the authority gave an answer about.
    public var pushed: UInt64 = 0
    /// Events that got positions here, own ones among them.
    public var pulled: UInt64 = 0
    /// Own events that were refused; they are in the inbox.
    public var rejected: UInt64 = 0
    /// Events without a position.
    public var pending = 0
    /// The last position here.
    public var head: UInt64 = 0
    public var requests = 0
    /// Bytes of messages; over HTTP of all that went over the wire, headers among them.
    public var bytesSent = 0
    public var bytesReceived = 0
    /// Own events that were recorded again under a new id, because this device was copied.
    public var recordedAgain: UInt64 = 0
    /// Own events that lost their positions with the server's log: they were pending again, and
    /// were sent again unless they still are.
    public var pendingAgain: UInt64 = 0
    /// Events of others that lost their positions in the same way, and that are kept here.
    ///
    /// Until ``Diary/sendKept(with:)`` has sent them, or ``Diary/dropKept()`` gave them up.
    public var kept = 0
    /// Of how many replicas these are.
    public var keptReplicas = 0
    /// Kept events of others that the server has again, and those that it refused: these are in the
    /// inbox.
    public var relayed: UInt64 = 0
    public var relayRejected: UInt64 = 0
    /// True if the server waited and got the events that it lacked.
    public var hasRestored = false
    /// The blobs that were exchanged afterwards, if the transport carries them.
    public var blobs = BlobReport()
}
