import DiarioCore
import DiarioCrypto
import DiarioEngine
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioStorage
import DiarioSync

/// The blobs of a page: their stored bytes, and their exchange with the server.
///
/// Encrypting and decrypting is for the page, which has what the browser offers for it.
final class PageBlobs {
    private let models: ReadModels
    private var space: Space { models.space }
    /// The blob whose stored bytes come.
    private var putting: BlobPut?
    private var exchange: Exchange?
    /// What was exchanged to the end, and what the server said then of its losses.
    private var done: (standing: SpaceStanding, losses: String?)?

    private struct Exchange {
        var session: BlobSession
        let known: BlobNotes?
        let lock: any DirectoryLock
        let standing: SpaceStanding
        let losses: String?
        let isPart: Bool
        var request: BlobRequest?
        var isNoted = false
        var isWhole = false
    }

    /// Bytes that are read at once.
    private static let readSizeMax: UInt64 = 1024 * 1024

    init(_ models: ReadModels) { self.models = models }

    deinit { exchange?.lock.release() }

    func call(_ name: String, _ input: [UInt8]) throws(DiarioError) -> [UInt8] {
        do throws(LogError) {
            switch name {
            case "blobs.begin":
                putting = nil
                // They are stored as they come.
                putting = try space.store.blobs.put(
                    isPublic: true,
                    sizeMax: BlobStore.storedSizeMax
                )
                return []
            case "blobs.write":
                guard let putting else { break }
                try putting.write(input.span)
                return []
            case "blobs.finish":
                guard let put = putting else { break }
                putting = nil
                done = nil
                let blob = try put.finish()
                return JSONObjectWriter.object { $0.add("id", TextEncodings.base64(blob.id.bytes)) }
            default: break
            }
        } catch {
            throw DiarioError(error)
        }
        switch name {
        case "blobs.undo":
            putting = nil
            return []
        case "blobs.reference": return try reference(PageInput(input).blobID())
        case "blobs.read": return try read(PageInput(input))
        case "blobs.damaged":
            _ = try space.setAside(PageInput(input).blobID())
            return []
        case "blobs.list": return try list()
        case "blobs.exchange": return try begin(PageInput(input))
        case "blobs.next": return try next()
        case "blobs.body": return exchange?.request?.body ?? []
        case "blobs.answer": return try take(PageInput.reply(input))
        case "blobs.failed":
            exchange?.session.failed()
            return []
        case "blobs.end": return try end()
        default: throw DiarioError(.invalid, "A page has no call \(name), or not now.")
        }
    }

    // MARK: Reading

    /// How an event refers to a blob, and how many bytes are stored of it here.
    private func reference(_ id: Hash32) throws(DiarioError) -> [UInt8] {
        let (reference, stored) = (try models.reference(to: id), try space.storedBlobSize(id))
        return JSONObjectWriter.object { json in
            if let stored { json.add("stored", stored) }
            guard let reference else { return }
            json.add("size", reference.size)
            json.add("type", reference.type)
            json.add("public", reference.isPublic)
            if let key = reference.key { json.add("key", TextEncodings.base64(key)) }
        }
    }

    /// Stored bytes from `first` on; fewer than were asked for only at the end.
    private func read(_ input: PageInput) throws(DiarioError) -> [UInt8] {
        let (id, first) = (try input.blobID(), try input.number("first") ?? 0)
        let count = min(try input.number("count") ?? Self.readSizeMax, Self.readSizeMax)
        var bytes: [UInt8] = []
        do throws(LogError) {
            guard let stored = try space.store.blobs.find(id), first < stored.size else {
                return []
            }
            let last = min(Int64(first) + Int64(count), stored.size)
            try stored.read(Int64(first)..<last, into: &bytes)
        } catch {
            throw DiarioError(error)
        }
        return bytes
    }

    /// The blobs to which events refer, and where their bytes are.
    private func list() throws(DiarioError) -> [UInt8] {
        let lookup = space.blobLookup
        var rows: [[UInt8]] = []
        for blob in try models.referredBlobs() {
            let stored = try space.storedBlobSize(blob.id)
            let state = blob.isErased ? BlobState.erased : try lookup.state(of: blob.id)
            let refusal = try lookup.refusal(of: blob.id)
            rows.append(
                JSONObjectWriter.object { json in
                    json.add("id", TextEncodings.base64(blob.id.bytes))
                    json.add("state", state.rawValue)
                    if let stored { json.add("stored", stored) }
                    json.add("events", blob.count)
                    json.add("stays", blob.stays)
                    json.add("isRecordedHere", blob.isRecordedHere)
                    if let refusal { json.add("message", refusal) }
                }
            )
        }
        return JSONObjectWriter.object { $0.add("blobs", list: rows) }
    }

    // MARK: The exchange

    /// Begins to exchange all blobs, or one; says whether there is anything to do.
    private func begin(_ input: PageInput) throws(DiarioError) -> [UInt8] {
        let (server, losses) = (try input.text("server"), try input.optionalText("losses"))
        let standing = space.store[space.id].standing()
        let isPart = try input.optionalText("id") != nil
        let isDone = done.map { $0.standing == standing && $0.losses == losses } ?? false
        guard exchange == nil, isPart || !isDone else { return Self.told("rest") }
        let scope =
            isPart
            ? try BlobSession.Scope(of: models, only: input.blobID())
            : try BlobSession.Scope(of: models, takesOthers: input.isTrue("takesOthers"))
        do throws(LogError) {
            let log = space.store[space.id]
            guard !scope.isEmpty, let lock = try log.exchangingBlobs() else {
                done = (standing, losses)
                return Self.told("rest")
            }
            do throws(LogError) {
                let known = try log.blobNotes()
                let session = try BlobSession(
                    space.store.blobs,
                    space.id,
                    scope,
                    knowing: known,
                    of: server,
                    epoch: log.status().manifest.epoch,
                    losses: losses,
                    at: space.now
                )
                exchange = Exchange(
                    session: session,
                    known: known,
                    lock: lock,
                    standing: standing,
                    losses: losses,
                    isPart: isPart
                )
            } catch {
                lock.release()
                throw error
            }
        } catch {
            throw DiarioError(error)
        }
        return Self.told("begin")
    }

    private static func told(_ action: String) -> [UInt8] {
        JSONObjectWriter.object { $0.add("action", action) }
    }

    /// The request that comes next.
    private func next() throws(DiarioError) -> [UInt8] {
        guard var current = exchange.take() else { return Self.told("end") }
        defer { exchange = current }
        let action: BlobSession.Action
        do throws(LogError) {
            action = try current.session.next()
            if case .send(.fetch) = action, !current.isNoted {
                // After a crash it is known still that what is here came from the server.
                try space.store[space.id].setBlobNotes(current.session.currentNotes)
                current.isNoted = true
            }
        } catch {
            throw DiarioError(error)
        }
        guard case .send(let request) = action else {
            current.isWhole = true
            return Self.told("end")
        }
        current.request = request
        return JSONObjectWriter.object { json in
            json.add("action", "send")
            json.add("method", request.method)
            json.add("path", request.path)
            json.add(
                "headers",
                json: JSONObjectWriter.object { json in
                    for header in request.headers { json.add(header.name, header.value) }
                }
            )
        }
    }

    private func take(_ reply: ServerReply) throws(DiarioError) -> [UInt8] {
        guard var current = exchange.take(), let request = current.request else {
            throw DiarioError(.invalid, "Nothing was asked about blobs.")
        }
        defer { exchange = current }
        let answer = try request.answer(reply)
        current.request = nil
        do { try current.session.receive(answer) } catch { throw DiarioError(error) }
        return []
    }

    /// Keeps what is known now, for the next time.
    private func end() throws(DiarioError) -> [UInt8] {
        guard let current = exchange.take() else { return [] }
        defer { current.lock.release() }
        let (notes, report) = (current.session.currentNotes, current.session.report)
        if notes != current.known {
            do { try space.store[space.id].setBlobNotes(notes) } catch { throw DiarioError(error) }
        }
        // What is missing may come to the server without an event.
        if current.isWhole, !current.isPart, report.missing == 0 {
            done = (current.standing, current.losses)
        }
        return JSONObjectWriter.object { json in
            json.add("sent", report.sent)
            json.add("fetched", report.fetched)
            json.add("refused", report.refused)
            json.add("missing", report.missing)
        }
    }
}

extension PageInput {
    /// The id of a blob, as events have it or in hexadecimal.
    fileprivate func blobID() throws(DiarioError) -> Hash32 {
        let text = try text("id")
        if let id = Hash32(text: text) { return id }
        if let bytes = TextEncodings.base64Decoded(text), let id = Hash32(bytes.span) { return id }
        throw DiarioError(.invalid, "\(text) is no id of a blob: 44 characters of base64.")
    }
}
