import DiarioCore

/// All events that were ever recorded in a world, by their tokens, and what was promised of them.
struct Book {
    /// What holds of an event, as far as its author was told.
    enum Promise: Hashable {
        /// It is on the medium: it may never be lost.
        case synced
        /// It survives the end of the process; a power cut may take it.
        case written
        /// The answer got lost: it may be there or not.
        case unknown
        /// It was not there when its machine came back.
        case lost
        /// Its device was put back to what it was before; it may be anywhere or nowhere.
        case abandoned
    }

    struct Entry {
        let event: SyncEvent
        /// The device that recorded it; nil for the server.
        let device: Int?
        /// Its batch, and those who record alone have one of their own.
        let batch: Int
        /// Whether its author may not name its actor.
        let isWrongActor: Bool
        /// The head of its device when it was recorded.
        let base: UInt64
        var promise: Promise
        var origin: Origin?
    }

    private(set) var entries: [Int64: Entry] = [:]
    private(set) var batches: [Int: [Int64]] = [:]
    /// Tokens of each device, in order, that are neither lost nor known to have a verdict.
    private(set) var open: [Int: [Int64]] = [:]
    private(set) var byOrigin: [Origin: Int64] = [:]
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

    mutating func add(_ entry: Entry) {
        let token = entry.event.token
        entries[token] = entry
        batches[entry.batch, default: []].append(token)
        if let device = entry.device { open[device, default: []].append(token) }
        if let origin = entry.origin { byOrigin[origin] = token }
    }

    /// All that a device was told is written is synced by now.
    mutating func settle(_ device: Int) {
        for token in open[device, default: []] where entries[token]?.promise == .written {
            entries[token]?.promise = .synced
        }
    }

    /// Not even what was acknowledged as written is certain any more.
    mutating func doubt(_ device: Int) {
        for token in open[device, default: []] where entries[token]?.promise == .written {
            entries[token]?.promise = .unknown
        }
    }

    /// The event is there, under this origin.
    mutating func find(_ token: Int64, _ origin: Origin) {
        if let entry = entries[token], entry.promise == .abandoned, let device = entry.device {
            open[device, default: []].append(token)
        }
        entries[token]?.promise = .synced
        entries[token]?.origin = origin
        byOrigin[origin] = token
    }

    /// The event was not there after a crash.
    mutating func lose(_ token: Int64) {
        guard let entry = entries[token] else { return }
        entries[token]?.promise = .lost
        if let origin = entry.origin, byOrigin[origin] == token { byOrigin[origin] = nil }
        if let device = entry.device { open[device]?.removeAll { $0 == token } }
    }

    /// A device was put back to what it was at some time: what it recorded may be anywhere, unless
    /// it has a position.
    mutating func abandon(_ device: Int, _ ledger: Ledger) {
        for (token, entry) in entries
        where entry.device == device && entry.promise != .lost && ledger.tokens[token] == nil {
            entries[token]?.promise = .abandoned
        }
        open[device] = []
    }

    /// The event has a verdict that its device knows, and needs no more looking after.
    mutating func close(_ token: Int64) {
        guard let device = entries[token]?.device else { return }
        open[device]?.removeAll { $0 == token }
    }
}
