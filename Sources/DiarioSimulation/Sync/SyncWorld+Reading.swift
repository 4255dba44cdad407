import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioProjection
import DiarioSync

// What logs hold, read to be compared.

extension SyncWorld {
    /// The events at some positions, in order.
    func readEntries(
        _ positions: ClosedRange<UInt64>,
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

    /// What is pending in a log, in order.
    func readLane(in store: LogStore) throws(LogError) -> [(token: Int64, row: SyncKinds.Row)] {
        var found: [(token: Int64, row: SyncKinds.Row)] = []
        var cursor = try store.cursor(space, .pending)
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

    /// What is in the inbox of a log, in order.
    func readInbox(in store: LogStore) throws(LogError) -> [(token: Int64, row: SyncKinds.Row)] {
        var found: [(token: Int64, row: SyncKinds.Row)] = []
        for entry in try store.inbox(of: space) {
            do throws(FormatError) {
                var unpacker = BlockUnpacker()
                let (bytes, head) = try unpacker.unpack(entry.block)
                var cursor = RowCursor(bytes.span, head.summary)
                while let next = try cursor.next() {
                    let row = try kinds.read(
                        next,
                        of: bytes.span,
                        type: head.types[next.typeIndex]
                    )
                    guard case .event(let event) = row.content else {
                        throw .malformed(.inbox, at: 0)
                    }
                    found.append((event.token, row))
                }
            } catch {
                throw .format(error)
            }
        }
        return found
    }

    // MARK: The server's

    /// Adds what the authority wrote since to the ledger, and checks it.
    func readLedger() throws {
        guard let store = server.machine.store else { return }
        let head = store.standing(of: space).head
        guard head >= ledger.head else {
            throw Broken(.positions, "the head of the server went from \(ledger.head) to \(head)")
        }
        guard head > ledger.head else { return }
        let new = try attempt("a read of the server") { () throws(LogError) in
            try readEntries(ledger.head + 1...head, in: store)
        }
        for entry in new {
            try ledger.add(entry, book)
            note(entry)
        }
        try checkIndex(of: server.machine)
    }

    /// The server came back: what anybody may know of must be as it was.
    func readLedgerAgain() throws {
        guard let store = server.machine.store else { return }
        let head = store.standing(of: space).head
        let old = ledger
        guard head >= server.shownHead else {
            throw Broken(
                .kept,
                "the server came back with \(head) of \(server.shownHead) positions"
            )
        }
        ledger = Ledger(fingerprints: kinds.plans.map(\.fingerprint))
        if head > 0 {
            let all = try attempt("a read of the server") { () throws(LogError) in
                try readEntries(1...head, in: store)
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
            guard book[event.token]?.promise != .synced else {
                throw Broken(.kept, "event \(event.token) of the server is gone")
            }
            book.lose(event.token)
        }
        try checkIndex(of: server.machine)
    }

    private func note(_ entry: Ledger.Entry) {
        switch entry.row.content {
        case .refused: counts.refusals += 1
        // What is shown is synced.
        case .event(let event) where book[event.token]?.device == nil:
            book.find(event.token, entry.row.envelope.origin)
        case .event, .adopted: break
        }
    }

    // MARK: A replica's

    /// Compares what a replica took up since it was last looked at.
    func checkReplica(_ device: Device) throws {
        guard let store = device.machine.store else { return }
        try checkIndex(of: device.machine)
        let head = store.standing(of: space).head
        guard head <= ledger.head else {
            throw Broken(
                .positions,
                "\(device.name) has \(head) positions and the server \(ledger.head)"
            )
        }
        guard head >= device.seenHead else {
            throw Broken(.positions, "the head of \(device.name) went back to \(head)")
        }
        guard head > device.seenHead else { return }
        let first = device.seenHead + 1
        let new = try attempt("a read of \(device.name)") { () throws(LogError) in
            try readEntries(first...head, in: store)
        }
        for (index, entry) in new.enumerated() where entry != ledger[first + UInt64(index)] {
            throw Broken(
                .equal,
                "\(device.name) has something else at position \(first + UInt64(index))"
            )
        }
        device.seenHead = head
        try checkKept(device)
    }

    /// Looks for each event of a device that has no verdict there: it is in the lane, or where its
    /// verdict says.
    func checkKept(_ device: Device) throws {
        guard let store = device.machine.store else { return }
        let head = store.standing(of: space).head
        let lane = try attempt("a read of \(device.name)") { () throws(LogError) in
            try readLane(in: store)
        }
        let pending = Dictionary(
            lane.map { ($0.token, $0.row) },
            uniquingKeysWith: { first, _ in first }
        )
        guard pending.count == lane.count else {
            throw Broken(.once, "an event is pending twice on \(device.name)")
        }
        for (token, row) in lane {
            guard let entry = book[token], row.content == .event(entry.event) else {
                throw Broken(.content, "nobody recorded what is pending on \(device.name)")
            }
            let verdict = ledger.tokens[token] ?? ledger.refusedTokens[token]
            if let verdict, verdict <= head {
                throw Broken(
                    .once,
                    "event \(token) is pending on \(device.name), which has its verdict at "
                        + "\(verdict)"
                )
            }
        }
        var kept: Set<Int64>?
        for token in book.open[device.number, default: []] where pending[token] == nil {
            if let position = ledger.tokens[token], position <= head {
                book.close(token)
                continue
            }
            guard let position = ledger.refusedTokens[token], position <= head else {
                // What is not synced is not shown, and after a crash may not be there.
                guard book[token]?.promise == .synced else { continue }
                throw Broken(.kept, "event \(token) is not on \(device.name) any more")
            }
            if kept == nil { kept = try inboxTokens(device, store) }
            guard kept?.contains(token) == true else {
                throw Broken(
                    .kept,
                    "event \(token), refused at \(position), is not in the inbox of \(device.name)"
                )
            }
            book.close(token)
        }
    }

    private func inboxTokens(_ device: Device, _ store: LogStore) throws -> Set<Int64> {
        let inbox = try attempt("the inbox of \(device.name)") { () throws(LogError) in
            try readInbox(in: store)
        }
        for (token, row) in inbox {
            guard let entry = book[token], row.content == .event(entry.event) else {
                throw Broken(
                    .content,
                    "nobody recorded what is in the inbox of \(device.name): \(row.content), "
                        + "and not \(book[token].map { "\($0.event)" } ?? "anything")"
                )
            }
        }
        return Set(inbox.map(\.token))
    }

    /// Finds out, after a program came back, which events it has.
    func resolve(_ device: Device) throws {
        guard let store = device.machine.store else { return }
        let lane = try attempt("a read of \(device.name)") { () throws(LogError) in
            try readLane(in: store)
        }
        for (token, row) in lane where book[token] != nil {
            guard book[token]?.promise != .lost else {
                throw Broken(.content, "event \(token) came back on \(device.name)")
            }
            book.find(token, row.envelope.origin)
        }
        let pending = Set(lane.map(\.token))
        for token in book.open[device.number, default: []] where !pending.contains(token) {
            guard book[token]?.promise == .unknown, ledger.tokens[token] == nil,
                ledger.refusedTokens[token] == nil
            else { continue }
            trace.add("\(now) \(device.name) lost event \(token)")
            book.lose(token)
        }
        try checkReplica(device)
        try checkKept(device)
    }

    func checkIndex(of machine: Machine) throws(Broken) {
        if let problem = machine.store?.validate().first {
            throw Broken(.works, "the index of \(machine.name): \(problem)")
        }
    }
}
