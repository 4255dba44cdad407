import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioProjection
import DiarioSync

// Reading of logs, to compare them.

extension SyncWorld {
    /// The events at some positions, in order.
    func readEntries(
        _ positions: ClosedRange<UInt64>,
        of space: SpaceID,
        in store: LogStore
    ) throws(LogError) -> [Ledger.Entry] {
        var entries: [Ledger.Entry] = []
        var cursor = try store.cursor(space, positions: positions, .canonical)
        while let events = try cursor.next() {
            for stored in events.rows {
                guard let position = stored.position, let acceptedAt = stored.acceptedAt,
                    position == positions.lowerBound + UInt64(entries.count)
                else { throw .outOfOrder(what: "a canonical event has no position of its own") }
                entries.append(
                    Ledger.Entry(
                        row: try row(stored, of: events),
                        acceptedAt: acceptedAt.milliseconds,
                        isAuthority: stored.isAuthority
                    )
                )
            }
        }
        return entries
    }

    private func row(
        _ stored: StoredRow,
        of events: StoredEvents
    ) throws(LogError) -> SyncKinds.Row {
        do throws(FormatError) {
            return try kinds.read(
                stored.row,
                of: events.bytes.span,
                type: events.types[stored.row.typeIndex]
            )
        } catch {
            throw .format(error)
        }
    }

    /// The pending events of a log, in order.
    func readLane(
        of device: Device,
        _ store: LogStore
    ) throws(LogError) -> [(token: Int64, row: SyncKinds.Row)] {
        var found: [(token: Int64, row: SyncKinds.Row)] = []
        var cursor = try store.cursor(device.space, .pending)
        while let events = try cursor.next() {
            for stored in events.rows {
                let row = try row(stored, of: events)
                guard case .event(let event) = row.content else {
                    throw .outOfOrder(what: "an event of the authority is pending")
                }
                found.append((event.token, row))
            }
        }
        return found
    }

    /// The events in a block, or in columns, of a message or of the inbox, in order.
    func readBlock(
        _ block: [UInt8],
        _ unpacker: inout BlockUnpacker
    ) throws(FormatError) -> [SyncKinds.Row] {
        var rows: [SyncKinds.Row] = []
        for (bytes, head) in try unpacker.unpackAll(block) {
            var cursor = RowCursor(bytes.span, head.summary)
            while let next = try cursor.next() {
                rows.append(try kinds.read(next, of: bytes.span, type: head.types[next.typeIndex]))
            }
        }
        return rows
    }

    /// The events in the inbox of a device.
    func readInbox(of device: Device, _ store: LogStore) throws -> [Origin: Int64] {
        let rows = try attempt("the inbox of \(device.name)") { () throws(LogError) in
            var rows: [SyncKinds.Row] = []
            for entry in try store[device.space].inbox.entries() {
                do throws(FormatError) {
                    var unpacker = BlockUnpacker()
                    rows += try readBlock(entry.block, &unpacker)
                } catch {
                    throw .format(error)
                }
            }
            return rows
        }
        var found: [Origin: Int64] = [:]
        for row in rows {
            guard case .event(let event) = row.content, book.isSame(event, as: event.token) else {
                throw Broken(
                    .content,
                    "nobody recorded what is in the inbox of \(device.name): \(row.content)"
                )
            }
            guard found.updateValue(event.token, forKey: row.envelope.origin) == nil else {
                throw Broken(.once, "an event is twice in the inbox of \(device.name)")
            }
        }
        return found
    }

    /// The events of others that a device keeps, and their origins.
    func readKept(of device: Device, _ store: LogStore) throws -> [Int64: Origin] {
        let rows = try attempt("what \(device.name) keeps") { () throws(LogError) in
            var rows: [SyncKinds.Row] = []
            for number in try store[device.space].kept.numbers() {
                for block in try store[device.space].kept.file(number)?.blocks ?? [] {
                    do throws(FormatError) {
                        var unpacker = BlockUnpacker()
                        rows += try readBlock(block.block, &unpacker)
                    } catch {
                        throw .format(error)
                    }
                }
            }
            return rows
        }
        var found: [Int64: Origin] = [:]
        for row in rows {
            guard case .event(let event) = row.content, book.isSame(event, as: event.token) else {
                throw Broken(
                    .content,
                    "nobody recorded what \(device.name) keeps: \(row.content)"
                )
            }
            found[event.token] = row.envelope.origin
        }
        return found
    }

    // MARK: The server's

    /// Adds new events of the authority to the ledger, and checks them.
    func readLedger() throws {
        guard let store = server.machine.store else { return }
        try readEpoch(store)
        let head = store[space].standing().head
        guard head >= ledger.head else {
            throw Broken(.positions, "the head of the server went from \(ledger.head) to \(head)")
        }
        guard head > ledger.head else { return }
        let new = try attempt("a read of the server") { () throws(LogError) in
            try readEntries(ledger.head + 1...head, of: space, in: store)
        }
        for entry in new {
            try ledger.add(entry, book)
            note(entry)
        }
        try checkIndex(of: server.machine)
    }

    /// The epoch grows when a server was restored, and only then.
    private func readEpoch(_ store: LogStore) throws {
        let epoch = try attempt("the status of the server") { () throws(LogError) in
            try store[space].status().manifest.epoch
        }
        // It says itself which one comes; it may have died while it took its new ids, and then it
        // takes some again.
        if server.isWaiting || server.hasNewEpoch, epoch > ledger.epoch { ledger.epoch = epoch }
        if !server.isWaiting { server.hasNewEpoch = false }
        guard epoch == ledger.epoch || server.isWaiting else {
            throw Broken(
                .positions,
                "the server is in epoch \(epoch), and was in \(ledger.epoch)"
            )
        }
    }

    /// The server came back: everything that a device may know must be as it was.
    func readLedgerAgain() throws {
        guard let store = server.machine.store else { return }
        let head = store[space].standing().head
        let old = ledger
        guard head >= server.shownHead else {
            throw Broken(
                .kept,
                "the server came back with \(head) of \(server.shownHead) positions"
            )
        }
        ledger = Ledger(fingerprints: kinds.plans.map(\.fingerprint))
        ledger.epoch = old.epoch
        if head > 0 {
            let all = try attempt("a read of the server") { () throws(LogError) in
                try readEntries(1...head, of: space, in: store)
            }
            for (index, entry) in all.enumerated() {
                if index < old.entries.count, index < server.shownHead,
                    old.entries[index] != entry
                {
                    throw Broken(.positions, "position \(index + 1) changed on the server")
                }
                try ledger.add(entry, book)
                note(entry)
            }
        }
        for entry in old.entries.dropFirst(ledger.entries.count) {
            guard case .event(let event) = entry.row.content, book[event.token]?.device == nil
            else { continue }
            guard server.isPutBack || book[event.token]?.fate != .synced else {
                throw Broken(.kept, "event \(event.token) of the server is gone")
            }
            // If a replica has it, it is owed; if it is still on its way, it may come to one.
            if !server.isPutBack { book.lose(event.token) }
        }
        if server.isPutBack {
            server.isPutBack = false
            ledger.epoch += 1
            server.hasNewEpoch = true
            abandonUnsecured()
        }
        try checkIndex(of: server.machine)
    }

    private func note(_ entry: Ledger.Entry) {
        switch entry.row.content {
        case .refused: counts.refusals += 1
        // Shown events are synced.
        case .event(let event) where book[event.token]?.device == nil:
            book.settleShown(event.token)
        case .event, .adopted: break
        }
    }

    // MARK: A replica's

    /// The ledger of the device's current epoch.
    private func history(of device: Device, _ store: LogStore) throws -> Ledger {
        let epoch = try attempt("the status of \(device.name)") { () throws(LogError) in
            try store[device.space].status().manifest.epoch
        }
        if device.seen.space != device.space {
            counts.renewals += 1
            trace.add("\(now) \(device.name) is rebuilt in epoch \(epoch)")
            device.models = nil
            device.seen.compared = 0
        }
        if device.seen.epoch != epoch {
            // A renewal that was cut continues, even if the next epoch has begun meanwhile.
            guard epoch == ledger.epoch || histories[epoch] != nil, device.seen.epoch < epoch
            else {
                throw Broken(
                    .positions,
                    "\(device.name) went from epoch \(device.seen.epoch) to \(epoch)"
                )
            }
            takeBack(device)
            device.seen.compared = 0
            device.seen.head = 0
        }
        device.seen.space = device.space
        device.seen.epoch = epoch
        guard let history = epoch == ledger.epoch ? ledger : histories[epoch] else {
            throw Broken(.positions, "\(device.name) is in epoch \(epoch)")
        }
        return history
    }

    /// Compares the events that a replica received since it was last read.
    func checkReplica(_ device: Device) throws {
        guard let store = device.machine.store else { return }
        try checkIndex(of: device.machine)
        let space = device.seen.space
        let history = try history(of: device, store)
        let head = store[device.space].standing().head
        guard head <= history.head else {
            throw Broken(
                .positions,
                "\(device.name) has \(head) positions and the server \(history.head)"
            )
        }
        guard head >= device.seen.compared else {
            throw Broken(.positions, "the head of \(device.name) went back to \(head)")
        }
        guard head > device.seen.compared || space != device.space else { return }
        let first = device.seen.compared + 1
        if first <= head {
            let new = try attempt("a read of \(device.name)") { () throws(LogError) in
                try readEntries(first...head, of: device.space, in: store)
            }
            for (index, entry) in new.enumerated()
            where entry != history[first + UInt64(index)] {
                throw Broken(
                    .equal,
                    "\(device.name) has something else at position \(first + UInt64(index))"
                )
            }
        }
        device.seen.compared = head
        device.seen.head = head
        try checkKept(device)
    }

    /// Checks each event of others that a device must keep since the server lost it.
    private func checkOthers(
        _ device: Device,
        _ store: LogStore,
        _ history: Ledger,
        pending: Set<Int64>
    ) throws {
        guard !device.others.isEmpty else { return }
        let kept = try readKept(of: device, store)
        let head = Int(store[device.space].standing().head)
        var inbox: Set<Int64>?
        for token in device.others.sorted() where kept[token] == nil && !pending.contains(token) {
            let isBack = history.entries.prefix(head).contains { entry in
                if case .event(let event) = entry.row.content {
                    event.token == token
                } else {
                    false
                }
            }
            let known = try inbox ?? Set(readInbox(of: device, store).values)
            inbox = known
            guard isBack || known.contains(token) else {
                throw Broken(.kept, "event \(token) of others is not on \(device.name) any more")
            }
            // As with an own event, it is looked after where it is now.
            device.others.remove(token)
        }
    }

    /// Checks each event of a device without a verdict there: it is in the lane, or has the place
    /// of its verdict.
    func checkKept(_ device: Device) throws {
        guard let store = device.machine.store else { return }
        let history = try history(of: device, store)
        let head = store[device.space].standing().head
        let pending = try checkLane(device, store, history)
        try checkOthers(device, store, history, pending: pending)
        var inbox: [Origin: Int64]?
        for (token, hold) in book.holds[device.number, default: [:]]
            .sorted(by: { $0.key < $1.key }) where !pending.contains(token)
        {
            if let origin = hold.origin, let position = history.positions[origin],
                position <= head
            {
                book.release(token, device.number)
                continue
            }
            guard let origin = hold.origin, let refusal = history.refusal(of: origin),
                refusal.position <= head
            else {
                // Events that are not synced are not shown, and may be missing after a crash.
                guard hold.certainty == .synced else { continue }
                throw Broken(.kept, "event \(token) is not on \(device.name) any more")
            }
            let known = try inbox ?? readInbox(of: device, store)
            inbox = known
            guard known[origin] == token else {
                throw Broken(
                    .kept,
                    "event \(token), refused at \(refusal.position), is not in the inbox of "
                        + device.name
                )
            }
            device.kept[origin] = token
            book.release(token, device.number)
        }
    }

    /// Checks the lane of a device, learns its origins, and gives its tokens.
    @discardableResult
    private func checkLane(
        _ device: Device,
        _ store: LogStore,
        _ history: Ledger
    ) throws -> Set<Int64> {
        let head = store[device.space].standing().head
        let lane = try attempt("a read of \(device.name)") { () throws(LogError) in
            try readLane(of: device, store)
        }
        // Ids that changed are known by the events that make them, wherever these are.
        for (token, row) in lane {
            guard case .event(let event) = row.content, book[token] != nil else { continue }
            book.learn(
                row.envelope.origin,
                Book.Known(token: token, event: event, base: row.envelope.base)
            )
        }
        var counts: [Int64: Int] = [:]
        for (token, row) in lane {
            let origin = row.envelope.origin
            guard case .event(let event) = row.content, book.isSame(event, as: token) else {
                throw Broken(
                    .content,
                    "nobody recorded what is pending on \(device.name): \(row.content), and not "
                        + "\(book[token].map { "\($0.event)" } ?? "anything")"
                )
            }
            guard book[token]?.fate != .lost else {
                throw Broken(.content, "event \(token) came back on \(device.name)")
            }
            counts[token, default: 0] += 1
            guard counts[token, default: 0] <= book.placeCountMax(token) else {
                throw Broken(.once, "an event is pending twice on \(device.name)")
            }
            if let verdict = history.verdict(of: origin), verdict <= head {
                throw Broken(
                    .once,
                    "event \(token) is pending on \(device.name), which has its verdict at "
                        + "\(verdict)"
                )
            }
            device.replicas.insert(origin.replica)
            // Events on a disk that was just restored were recorded there.
            if device.isPutBack { device.recorded.insert(token) }
            if device.recorded.contains(token) { book.hold(token, device.number, origin) }
        }
        return Set(counts.keys)
    }

    /// Finds out, after a program came back, which events it has.
    func resolve(_ device: Device) throws {
        guard let store = device.machine.store else { return }
        let history = try history(of: device, store)
        let pending = try checkLane(device, store, history)
        for (token, hold) in book.holds[device.number, default: [:]]
            .sorted(by: { $0.key < $1.key }) where !pending.contains(token)
        {
            guard hold.certainty == .unknown,
                // An earlier disk may have sent it; else a sent event is still there. Under its
                // origin another device may have sent another event.
                device.isPutBack || !history.hasVerdict(token)
                    || hold.origin.flatMap({ history.verdict(of: $0) }) == nil
            else { continue }
            trace.add("\(now) \(device.name) lost event \(token)")
            book.drop(token, device.number)
            device.recorded.remove(token)
        }
        device.isPutBack = false
        try checkReplica(device)
        try checkKept(device)
    }

    func checkIndex(of machine: Machine) throws(Broken) {
        if let problem = machine.store?.validate().first {
            throw Broken(.works, "the index of \(machine.name): \(problem)")
        }
    }
}
