package import DiarioCore
package import DiarioCrypto
import DiarioFormat
package import DiarioLog
package import DiarioSync

/// The exchange of the blobs of one replica with its server, after that of its events:
/// schema/format/http.md, section 10.
///
/// Knows no network, as `ReplicaSession` does not. It sends what is here and not there, and fetches
/// what is there and not here, small ones first, each in parts. Whatever was transferred is kept if
/// it ends early.
package struct BlobSession {
    private let blobs: BlobStore
    private let space: SpaceID
    private var notes: BlobNotes
    /// Not asked about yet.
    private var unasked: [Hash32]
    /// Those of the request that is in flight.
    private var asked: [Hash32] = []
    /// The largest first, since it is taken from the end.
    private var queue: [Transfer] = []
    private var isSorted = true
    /// The blob that comes now.
    private var arrival: BlobArrival?
    private var current: Transfer?
    /// False if the token may only read: then it is not asked what is missing there.
    private var maySend = true
    /// Those whose bytes came from the server.
    private var fetched: Set<Hash32> = []
    /// Those that the server had, and that it removes when it is asked about them.
    private var leaving: Set<Hash32> = []
    /// The most bytes of a request.
    package var partSize = Limits.blobPartSizeMax
    package private(set) var report = Report()

    /// What came of it.
    package struct Report: Hashable, Sendable {
        package var sent = 0
        package var fetched = 0
        /// Those that the server did not take.
        package var refused = 0
        /// Those that are neither here nor there, or could not be fetched.
        package var missing = 0
        /// Bytes that were transferred, and of all that is known to be left.
        package var bytesDone: Int64 = 0
        package var bytesTotal: Int64 = 0

        package init() {}
    }

    private struct Transfer {
        let id: Hash32
        /// Of all stored bytes; nil if only the server knows.
        var size: Int64?
        var offset: Int64
        let isUpload: Bool
        /// How often it began again, after bytes that were not those of the id.
        var attempts = 0
    }

    /// The next step for the driver.
    package enum Action: Sendable {
        case send(BlobRequest)
        /// Nothing is left, or nothing that can be done.
        case end
    }

    /// The blobs that an exchange is about.
    package struct Scope {
        /// Those that are exchanged, with the sizes that events say.
        package var wanted: [(id: Hash32, size: Int64?)]
        /// Those that stay on the devices that recorded them, of which this is none.
        package var leaving: [Hash32] = []
        /// Those that stay here.
        package var staying: [Hash32] = []
        /// True if other blobs of the space may be wanted as well.
        package var isPart = false

        package init(_ wanted: [(id: Hash32, size: Int64?)] = []) { self.wanted = wanted }

        package var isEmpty: Bool { wanted.isEmpty && leaving.isEmpty && staying.isEmpty }
    }

    /// Exchanges the blobs of `scope`; removes those that may not be here any more, and lets the
    /// server remove those that it may not have.
    ///
    /// `losses` is what the server sent last for what it lost.
    package init(
        _ blobs: BlobStore,
        _ space: SpaceID,
        _ scope: Scope,
        knowing known: BlobNotes?,
        of server: String,
        epoch: UInt64,
        losses: String?,
        at now: Timestamp
    ) throws(LogError) {
        self.blobs = blobs
        self.space = space
        let isUsable = known.map {
            $0.server == server && $0.epoch == epoch && $0.losses == losses
                && abs(now.milliseconds - $0.asked.milliseconds) < Self.noteMillisecondsMax
        }
        var asked = now
        var unasked: [Hash32] = []
        if let known, isUsable == true { asked = known.asked }
        var notes = BlobNotes(server: server, epoch: epoch, asked: asked, losses: losses)
        if scope.isPart, isUsable == true { notes.notes = known?.notes ?? [:] }
        for (id, size) in scope.wanted {
            let isHere = try blobs.find(id, sized: size) != nil
            let note = known?.notes[id]
            if isHere, note?.isOfServer == true {
                fetched.insert(id)
                notes.notes[id] = .fetched
            } else if isUsable == true, isHere, note == .sent {
                notes.notes[id] = .sent
            }
            if isUsable != true || notes.notes[id] == nil { unasked.append(id) }
        }
        for id in scope.leaving where known?.notes[id]?.isOfServer == true {
            _ = try blobs.drop(id)
        }
        leaving = Set(scope.staying.filter { known?.notes[$0] == .sent })
        unasked += leaving
        self.notes = notes
        self.unasked = unasked
        guard !scope.isPart else { return }
        let wanted = Set(scope.wanted.map { $0.id })
        for part in try blobs.parts() where part.space == space && !wanted.contains(part.id) {
            try blobs.drop(part)
        }
    }

    /// Notes are believed for a day: the server may have lost something.
    private static let noteMillisecondsMax: Int64 = 86_400_000
    /// How often a blob is begun again whose bytes were not those of its id.
    private static let attemptCountMax = 2

    /// What is to be kept of what is known now.
    package var currentNotes: BlobNotes { notes }

    /// True if nothing was left to ask or to transfer from the beginning.
    package var isIdle: Bool { unasked.isEmpty && queue.isEmpty && current == nil }

    // MARK: Requests

    /// The next action; a request that was not answered is made again.
    package mutating func next() throws(LogError) -> Action {
        if !asked.isEmpty {
            unasked += asked
            asked = []
        }
        if !unasked.isEmpty, maySend {
            asked = Array(unasked.suffix(Limits.blobWantCountMax))
            unasked.removeLast(asked.count)
            return .send(.want(asked))
        }
        while true {
            if current == nil { current = try takeNext() }
            guard let transfer = current else { return .end }
            if let request = try request(for: transfer) { return .send(request) }
            current = nil
        }
    }

    private mutating func takeNext() throws(LogError) -> Transfer? {
        if !maySend, !unasked.isEmpty {
            for id in unasked where try !blobs.contains(id) {
                notes.notes[id] = .coming
                queue.append(Transfer(id: id, size: nil, offset: 0, isUpload: false))
            }
            unasked = []
            isSorted = false
        }
        if !isSorted { queue.sort { ($1.size ?? 0, $1.id.text) < ($0.size ?? 0, $0.id.text) } }
        isSorted = true
        return queue.popLast()
    }

    /// Nil if there is nothing to do about it any more.
    private mutating func request(for transfer: Transfer) throws(LogError) -> BlobRequest? {
        let part = Int64(partSize)
        guard transfer.isUpload else {
            // Somebody else may have brought it meanwhile.
            guard try !blobs.contains(transfer.id) else { return nil }
            if let size = transfer.size, arrival?.id != transfer.id {
                arrival = try blobs.arrival(of: transfer.id, size: size, in: space)
            }
            // A crash came between the last byte and the name, or there is no byte at all.
            if let whole = arrival, whole.id == transfer.id, whole.offset == whole.size {
                let none: [UInt8] = []
                arrival = nil
                if try whole.write(none.span) == .whole {
                    noteFetched(transfer)
                    return nil
                }
                guard whole.size > 0 else {
                    report.missing += 1
                    return nil
                }
                return try request(for: transfer)
            }
            let offset = arrival?.id == transfer.id ? arrival?.offset ?? 0 : 0
            return .fetch(transfer.id, offset..<min(offset + part, transfer.size ?? part))
        }
        guard let stored = try blobs.find(transfer.id), transfer.offset <= stored.size else {
            return nil
        }
        let end = min(transfer.offset + part, stored.size)
        var bytes: [UInt8] = []
        try stored.read(transfer.offset..<end, into: &bytes)
        return .send(transfer.id, offset: transfer.offset, size: stored.size, bytes: bytes)
    }

    /// There was no answer: the next request is smaller, as a slow line may need it.
    package mutating func failed() { partSize = max(Self.partSizeMin, partSize / 4) }

    private static let partSizeMin = 64 * 1024

    // MARK: Answers

    /// Takes the answer to the last request.
    package mutating func receive(_ reply: BlobReply) throws(LogError) {
        if !asked.isEmpty { return try receiveWanted(reply) }
        guard let transfer = current else { return }
        current = nil
        switch reply {
        case .taken(let offset) where transfer.isUpload: try taken(offset, transfer)
        case .wrong where transfer.isUpload: try beginAgain(transfer)
        case .part(let bytes, let size) where !transfer.isUpload:
            try received(bytes, size, transfer)
        case .missing:
            notes.notes[transfer.id] = nil
            report.missing += 1
        case .refused(let reason), .forbidden(let reason): refuse(transfer, reason)
        default: refuse(transfer, "The server's answer is none to this request.")
        }
    }

    private mutating func receiveWanted(_ reply: BlobReply) throws(LogError) {
        let ids = asked
        asked = []
        guard case .wanted(let missing, let here) = reply else {
            maySend = false
            unasked += ids
            return
        }
        for id in ids where !leaving.contains(id) {
            let stored = try blobs.find(id)
            switch (stored?.size, missing[id], here[id]) {
            case (_?, _, _?): noteSent(id)
            case (let size?, let offset?, nil):
                let start = 0...size ~= offset ? offset : 0
                add(Transfer(id: id, size: size, offset: start, isUpload: true))
            case (nil, _, let size?) where 0...BlobStore.storedSizeMax ~= size:
                notes.notes[id] = .coming
                add(Transfer(id: id, size: size, offset: 0, isUpload: false))
            case (nil, _, _): report.missing += 1
            // Erased at the server: nobody needs it.
            case (_?, nil, nil): break
            }
        }
    }

    private mutating func add(_ transfer: Transfer) {
        queue.append(transfer)
        isSorted = false
        report.bytesTotal += (transfer.size ?? 0) - transfer.offset
    }

    private mutating func taken(_ offset: Int64, _ transfer: Transfer) throws(LogError) {
        guard let size = transfer.size, 0...size ~= offset else {
            return refuse(transfer, "The server has more bytes than there are.")
        }
        report.bytesDone += max(0, offset - transfer.offset)
        if offset == size {
            noteSent(transfer.id)
            report.sent += 1
            return
        }
        var rest = transfer
        // Another device sends it too, or the server lost what it had.
        if offset <= transfer.offset { rest.attempts += 1 }
        guard rest.attempts <= Self.attemptCountMax else { return }
        rest.offset = offset
        current = rest
    }

    private mutating func received(
        _ bytes: [UInt8],
        _ size: Int64,
        _ transfer: Transfer
    ) throws(LogError) {
        guard 0...BlobStore.storedSizeMax ~= size else {
            report.missing += 1
            return
        }
        if arrival?.id != transfer.id || arrival?.size != size {
            arrival = try blobs.arrival(of: transfer.id, size: size, in: space)
            // What is asked for next begins where it ended; these bytes may be others.
            if arrival?.offset != 0 { return goOn(transfer, size) }
        }
        guard let arrival, Int64(bytes.count) <= size - arrival.offset,
            !bytes.isEmpty || size == arrival.offset
        else {
            self.arrival = nil
            report.missing += 1
            return
        }
        let step: BlobArrival.Step
        do throws(LogError) { step = try arrival.write(bytes.span) } catch {
            self.arrival = nil
            throw error
        }
        report.bytesDone += Int64(bytes.count)
        if step == .more { return goOn(transfer, size) }
        self.arrival = nil
        if step == .whole { return noteFetched(transfer) }
        var again = transfer
        again.attempts += 1
        guard again.attempts < Self.attemptCountMax else {
            report.missing += 1
            return
        }
        goOn(again, size)
    }

    private mutating func noteFetched(_ transfer: Transfer) {
        notes.notes[transfer.id] = .fetched
        report.fetched += 1
    }

    private mutating func noteSent(_ id: Hash32) {
        notes.notes[id] = fetched.contains(id) ? .fetched : .sent
    }

    /// Goes on with a blob, unless it is larger than was known: then small ones come first.
    private mutating func goOn(_ transfer: Transfer, _ size: Int64) {
        var rest = transfer
        guard transfer.size == nil else {
            rest.size = size
            current = rest
            return
        }
        rest.size = size
        add(rest)
        arrival = nil
    }

    /// What the server had of it may have been damaged by a crash, or the bytes here are.
    private mutating func beginAgain(_ transfer: Transfer) throws(LogError) {
        guard try blobs.findWhole(transfer.id) != nil else {
            report.missing += 1
            return
        }
        var again = transfer
        again.attempts += 1
        again.offset = 0
        guard again.attempts < Self.attemptCountMax else {
            return refuse(transfer, "The bytes are changed on their way: try another network.")
        }
        current = again
    }

    private mutating func refuse(_ transfer: Transfer, _ reason: String) {
        guard transfer.isUpload else {
            report.missing += 1
            return
        }
        notes.notes[transfer.id] = .refused(reason)
        report.refused += 1
    }
}
