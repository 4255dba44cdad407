import DiarioCore
import DiarioServer

/// All events ever recorded in a world, by token, and the devices that must have them.
struct Book {
    /// What must hold of an event in all of the world.
    enum Fate: Hashable {
        /// It may be there or not: the answer got lost.
        case open
        /// It is on a medium: it may never be lost.
        case synced
        /// It was not there when its machine came back, and may never appear.
        case lost
        /// The disks that had it were restored; it may be anywhere or nowhere.
        case abandoned
    }

    struct Entry {
        let event: SyncEvent
        /// The device that recorded it; nil for the server.
        let device: Int?
        /// The batch; each event recorded alone has its own.
        let batch: Int
        /// True if its author may not name this actor.
        let isWrongActor: Bool
        var fate: Fate
        /// True if a disk was copied while the event was perhaps not on it.
        var isCopied = false
    }

    /// An event under one of its origins: it gets another one when it is recorded again.
    struct Known: Hashable {
        let token: Int64
        let event: SyncEvent
        let base: UInt64
    }

    /// A push, as it was judged.
    struct Pushed {
        let caller: Caller
        /// Its events in order, each with the first sequence of its batch.
        var events: [(origin: Origin, batchFirst: UInt64, event: SyncEvent)] = []
    }

    private(set) var entries: [Int64: Entry] = [:]
    /// All events that any device recorded under an origin.
    private(set) var known: [Origin: [Known]] = [:]
    /// The events that were pushed under an origin before it had a verdict, the latest last.
    private var pushed: [Origin: [Known]] = [:]
    /// All pushes, and the last that brought an event before it had a verdict: the one that was
    /// decided.
    private var pushes: [Pushed] = []
    private var pushNumbers: [Origin: Int] = [:]
    /// The number of copies made of a device's disk and of its copies.
    private var copyCounts: [Int: Int] = [:]
    /// The device whose disk a device began with.
    private var families: [Int: Int] = [:]
    private var lastToken: Int64 = 0
    private var lastBatch = 0

    subscript(token: Int64) -> Entry? { entries[token] }

    mutating func nextToken() -> Int64 {
        lastToken += 1
        return lastToken
    }

    mutating func nextBatch() -> Int {
        lastBatch += 1
        return lastBatch
    }

    // MARK: Recording

    /// Adds an event that was recorded; without its origin if the answer got lost.
    mutating func add(_ entry: Entry, base: UInt64, _ origin: Origin?) {
        let token = entry.event.token
        entries[token] = entry
        if let origin {
            learn(origin, Known(token: token, event: entry.event, base: base))
        }
    }

    /// Some device has this event under this origin.
    mutating func learn(_ origin: Origin, _ what: Known) {
        if known[origin]?.contains(what) != true { known[origin, default: []].append(what) }
    }

    /// True if an event is the one of its token, apart from ids that changed because events were
    /// recorded again.
    func isSame(_ event: SyncEvent, as token: Int64) -> Bool {
        guard let entry = entries[token] else { return false }
        var expected = entry.event
        if event.subject != expected.subject, isSameThing(event.subject, expected.subject) {
            expected.subject = event.subject
        }
        if event.id != expected.id, isSameThing(event.id, expected.id) { expected.id = event.id }
        return event == expected
    }

    private func isSameThing(_ left: [UInt8]?, _ right: [UInt8]?) -> Bool {
        func tokens(_ id: [UInt8]?) -> Set<Int64> {
            guard let id, let origin = Origin(text: String(decoding: id, as: UTF8.self)) else {
                return []
            }
            return Set(known[origin, default: []].map(\.token))
        }
        return !tokens(left).isDisjoint(with: tokens(right))
    }

    /// A push brought this under an origin.
    mutating func notePushed(_ origin: Origin, _ what: Known) {
        pushed[origin, default: []].removeAll { $0 == what }
        pushed[origin, default: []].append(what)
    }

    /// A push was read; `open` are those of its events that have no verdict.
    mutating func notePush(_ push: Pushed, open: [Origin]) {
        guard !open.isEmpty else { return }
        pushes.append(push)
        for origin in open { pushNumbers[origin] = pushes.count - 1 }
    }

    /// The push by which an event got its verdict; nil for an event of the server.
    func push(of origin: Origin) -> Pushed? { pushNumbers[origin].map { pushes[$0] } }

    /// The batches that were pushed under these origins, the latest last; nil if none was.
    func pushedBatches(_ origins: [Origin]) -> [[Known]]? {
        guard let first = origins.first, let starts = pushed[first] else { return nil }
        return starts.compactMap { start in
            guard let batch = entries[start.token]?.batch else { return nil }
            let events = origins.compactMap { origin in
                pushed[origin]?.last { entries[$0.token]?.batch == batch }
            }
            return events.count == origins.count ? events : nil
        }
    }

    // MARK: Fates

    /// The event is on a medium: it may not be lost any more.
    mutating func settle(_ token: Int64) { entries[token]?.fate = .synced }

    /// A device does not have the event after a crash, and never was sure to have it.
    mutating func drop(_ token: Int64) {
        guard let entry = entries[token], entry.fate == .open else { return }
        entries[token]?.fate = entry.isCopied ? .abandoned : .lost
    }

    mutating func lose(_ token: Int64) { entries[token]?.fate = .lost }

    mutating func abandon(_ token: Int64) { entries[token]?.fate = .abandoned }

    /// The origins and tokens of rows that somebody recorded; throws if nobody did.
    func recorded(_ rows: [SyncKinds.Row], _ place: String) throws -> [(Origin, Int64)] {
        try rows.map { row in
            guard case .event(let event) = row.content, isSame(event, as: event.token) else {
                throw Broken(.content, "nobody recorded what is \(place): \(row.content)")
            }
            return (row.envelope.origin, event.token)
        }
    }

    // MARK: Copies

    /// The number of places an event may have: each disk that had it may record it again.
    func placeCountMax(_ token: Int64) -> Int {
        guard let device = entries[token]?.device else { return 1 }
        return 1 + copyCounts[family(of: device), default: 0]
    }

    private func family(of device: Int) -> Int { families[device] ?? device }

    /// A disk is copied, to be used by the same device or by another one.
    mutating func copy(_ device: Device, to other: Int? = nil) {
        let family = family(of: device.number)
        copyCounts[family, default: 0] += 1
        if let other { families[other] = family }
        for token in device.contents.unsecured { entries[token]?.isCopied = true }
    }
}
