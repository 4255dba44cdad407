public import DiarioCore
public import DiarioEngine

extension Diary {
    /// The batches in the inbox, in order of replica and sequence.
    ///
    /// - Throws: ``DiarioError`` if the disk refuses, or a file of the inbox is damaged.
    public func inbox() throws -> [InboxBatch] { try SpaceInbox(space).batches() }

    /// Concurrent events of others about the subjects of a batch: after its base, and before its
    /// refusal.
    ///
    /// - Parameters:
    ///   - batch: A batch of the inbox.
    ///   - limit: The most events, of which the last ones are returned.
    /// - Returns: The events in order of position.
    /// - Throws: ``DiarioError`` if the disk refuses, or the log is damaged.
    public func concurrentEvents(
        with batch: InboxBatch,
        limit: Int = 100
    ) throws -> [RecordedEvent] {
        try SpaceInbox(space).concurrentLines(with: batch, limit: limit).compactMap {
            RecordedEvent($0)
        }
    }

    /// Records the events of a batch in the inbox once more, as new events, and takes the batch out
    /// of the inbox.
    ///
    /// The new events have the same types, payloads, times, actors and subjects, and the head as
    /// their base. Ids that the events make are new; the batch, and those that are retried later,
    /// then refer to the new ones. When this returns, the events are on disk. When it throws, the
    /// batch is still in the inbox. If a crash comes in between, it is there and says that it was
    /// recorded; retrying it again only removes it.
    ///
    /// - Parameters:
    ///   - origin: An event of the batch.
    ///   - evenIfChanged: Whether to leave out that an event is to be refused if another replica
    ///     wrote to its subject. A batch of which no refusal is known needs it, since a sync may
    ///     record such events again by itself.
    /// - Returns: What became of it.
    /// - Throws: ``DiarioError`` if no batch in the inbox has this event, if it refers to another
    ///   one in the inbox, if an event does not fit its schema, or if the disk refuses.
    @discardableResult
    public func retry(_ origin: Origin, evenIfChanged: Bool = false) throws -> InboxRetry {
        let retried = try SpaceInbox(space).retry(origin, evenIfChanged: evenIfChanged)
        changes.raise()
        return retried
    }

    /// Removes a batch from the inbox for good: nothing of its events is anywhere then.
    ///
    /// - Parameter origin: An event of the batch.
    /// - Throws: ``DiarioError`` if no batch in the inbox has this event, or if the disk refuses.
    public func drop(_ origin: Origin) throws { _ = try SpaceInbox(space).drop(origin) }
}
