package import DiarioCore
package import DiarioCrypto
package import DiarioFormat
import DiarioFrames
package import DiarioSchema
package import DiarioStorage
import Synchronization

/// The logs of all spaces in one data directory, with one write-ahead log.
///
/// Safe to use from any thread, and from several processes at once: each commit takes the
/// directory's lock and first replays frames of other processes. Calls that write return when the
/// frame is durable.
package final class LogStore: Sendable {
    let shared: LogShared
    private let writer: FairLock<Writer>
    private let isClosed = Atomic(false)
    /// Does what is due while no call is running; nil where nothing may happen by itself.
    package let helper: (any LogHelper)?
    /// The granted access, which can be less than the requested one.
    package let access: Access
    /// Damage; what follows it was not read, and nothing is written.
    package var fault: Fault? { opened.fault ?? noted.withLock { $0 } }
    /// A frame that a crash tore, as opening found it.
    package var cut: TornEnd? { opened.cut }
    private let opened: RecoveryReport
    /// Held while writing; nil if nothing may be written.
    let lock: (any DirectoryLock)?
    /// Damage that was found later.
    private let noted = Mutex<Fault?>(nil)

    /// The access to a log.
    package enum Access: Hashable, Sendable {
        case readOnly
        case readWrite
    }

    /// Opens the log in `directory`, and recovers it from a crash if there was one.
    ///
    /// `types` are those whose schemas are in no pack that a space adopts, such as the engine's.
    /// With `isDraft` the directory is about to get another name.
    ///
    /// - Throws: `.notALog`, `.newerFormat` and `.beforeFirstRelease` if this is no directory of
    ///   ours, `.storage` if the disk refuses. Damage is no error here: it is in `fault`, the
    ///   events before it can be read, and appends throw `.corrupt`.
    package init(
        _ directory: any LogDirectory,
        access: Access,
        time: any TimeSource,
        entropy: any EntropySource,
        engine: EngineReader,
        types: [EventType] = [],
        sizes: LogSizes = .standard,
        helper: (any LogHelper)? = nil,
        isDraft: Bool = false
    ) throws(LogError) {
        Limits.check()
        sizes.check()
        try DirectoryFormat.check(directory)
        let mayWrite = access == .readWrite && !directory.isReadOnly
        self.access = mayWrite ? .readWrite : .readOnly
        shared = LogShared(
            directory: directory,
            time: time,
            entropy: entropy,
            engine: engine,
            types: types,
            sizes: sizes
        )
        self.helper = helper
        lock =
            try !mayWrite
            ? nil
            : storing { () throws(StorageError) in try directory.lock(LogPaths.lock) }
        var writer = Writer(store: shared, lock: lock) { helper?.hashSoon() }
        try writer.start(isDraft: isDraft)
        opened = writer.report
        self.writer = FairLock(writer)
        // What cannot be removed now, the next one that opens it removes.
        if mayWrite { try? blobs.removeRemains() }
        helper?.begin(self)
    }

    deinit { try? close() }

    /// The types that this log was opened with.
    package var broughtTypes: [EventType] { shared.types }

    /// The blobs of all spaces.
    package var blobs: BlobStore {
        BlobStore(
            in: shared.directory,
            entropy: shared.entropy,
            isReadOnly: access == .readOnly
        )
    }

    /// The time as this log knows it.
    package var now: Timestamp { shared.time.now }

    /// 64 bits that nobody can guess.
    package func chance() -> UInt64 { shared.entropy.next() }

    /// Makes an empty data directory; does nothing if it is one already.
    package static func create(in directory: any LogDirectory) throws(LogError) {
        try DirectoryFormat.create(in: directory)
    }

    /// The packs that spaces adopted.
    package var packs: KeptPacks { shared.packs }

    /// Keeps a pack's files; durable when it returns.
    ///
    /// Does nothing if they are there.
    package func keep(_ files: [PackFile], fingerprint: Hash32) throws(LogError) {
        // Under the lock, or two processes that adopt one pack would fill one folder, and each
        // would remove what the other put there.
        try withWriter { (_) throws(LogError) in
            try packs.keep(files, fingerprint: fingerprint)
        }
    }

    /// The facts that an authority recorded in a block with positions.
    package func facts(
        in block: [UInt8],
        _ head: BlockHead
    ) throws(LogError) -> EngineReader.Facts {
        do throws(FormatError) {
            return try shared.engine.facts(in: block.span, head.summary)
        } catch {
            throw .format(error)
        }
    }

    // MARK: Appending

    /// Appends: when this returns, the events survive a power cut.
    ///
    /// When it throws, nothing of `append` is in the log.
    package func append(_ append: Append) throws(LogError) -> AppendedBatches {
        let outcome = commit([append])[0]
        helper?.pace()
        return try outcome.get()
    }

    /// Appends several things in as few syncs as the limits allow, on this thread; each has its own
    /// outcome.
    package func commit(_ appends: [Append]) -> [Result<AppendedBatches, LogError>] {
        let outcomes = writer.withLock { writer in
            isClosed.load(ordering: .relaxed)
                ? Few(repeating: .failure(.closed), count: appends.count)
                : writer.commit(appends)
        }
        seeToRest()
        return Array(outcomes)
    }

    /// Sees to what a commit left to be done.
    private func seeToRest() {
        guard let helper else { return shared.hashes.hashQueue(in: shared) }
        if shared.sealing.takeCall() { helper.sealSoon() }
        if shared.hashes.isOverdue { shared.hashes.hashQueue(in: shared) }
    }

    /// Hashes what was committed and waits for that.
    package func hashDue() { shared.hashes.hashQueue(in: shared) }

    // MARK: The writer

    /// Writes with the directory's lock, after what other processes wrote was replayed.
    func withWriter<Value: Sendable>(
        _ body: (inout Writer) throws(LogError) -> Value
    ) throws(LogError) -> Value {
        try withoutLock { (writer) throws(LogError) in
            try writer.begin()
            defer { writer.end() }
            return try body(&writer)
        }
    }

    /// Does something with the writer when no other thread has it, whatever other processes do.
    private func withoutLock<Value: Sendable>(
        _ body: (inout Writer) throws(LogError) -> Value
    ) throws(LogError) -> Value {
        defer { seeToRest() }
        return try writer.withLock { (writer) throws(LogError) in
            guard !isClosed.load(ordering: .relaxed) else { throw .closed }
            return try body(&writer)
        }
    }

    /// Takes the log for damaged from now on: nothing is written to it.
    func note(_ fault: Fault) throws(LogError) {
        noted.withLock { $0 = fault }
        try withoutLock { (writer) throws(LogError) in writer.note(fault) }
    }

    /// For how long a commit has been under way at `now` without an end.
    #if !hasFeature(Embedded)
    package func standstill(at now: ContinuousClock.Instant) -> Duration { writer.held(at: now) }
    #endif

    /// Reads what other processes wrote since, under the lock: nothing is being written meanwhile.
    package func catchUp() throws(LogError) { try withWriter { (_) throws(LogError) in } }

    /// Replays what other processes wrote since; true if there was something.
    ///
    /// Needs no lock: what it shows is synced first.
    package func refresh() throws(LogError) -> Bool {
        try withoutLock { (writer) throws(LogError) in try writer.refresh() }
    }

    /// The same, but cheap where no other process wrote since this one did.
    package func refreshAfterOthers() throws(LogError) {
        guard lock?.isOurs != true else { return }
        _ = try refresh()
    }

    /// Ends the log, and leaves a mark of a clean stop.
    ///
    /// Later appends throw `.closed`.
    package func close() throws(LogError) {
        // Whoever closes a log may take its folder away, so nothing is written to it after this.
        // A segment that is being sealed is sealed to its end.
        shared.sealing.isEnding.store(true, ordering: .sequentiallyConsistent)
        helper?.end()
        try writer.withLock { (writer) throws(LogError) in
            guard !isClosed.exchange(true, ordering: .relaxed), access == .readWrite else {
                return
            }
            try writer.close()
        }
    }
}

/// Does what is due in a log while no call is running.
package protocol LogHelper: AnyObject, Sendable {
    /// Begins to help; called once, when the log is open.
    func begin(_ log: LogStore)
    /// Lets `hashDue` be called soon: events wait to be hashed, which costs least while a disk
    /// syncs.
    func hashSoon()
    /// Lets `sealDue` be called when `sealDelay` has passed.
    func sealSoon()
    /// Waits a moment if the log is written faster than sealed.
    func pace()
    /// Returns when nothing of it goes on any more.
    func end()
}
