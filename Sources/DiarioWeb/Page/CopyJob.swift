import DiarioCore
import DiarioEngine
import DiarioLog
import DiarioSchema
import DiarioStorage
import DiarioSync

/// The first copy of a space of a server, of which the page fetches the parts.
///
/// Each step tells what is to be done next: `list`, `fetch`, `send`, or nothing but the next step.
final class CopyJob: PageJob {
    private let store: LogStore
    private var copy: FirstCopy
    private var message: [UInt8] = []
    /// What the server lets this replica do, as it said last.
    private var permission: Permission?

    /// Bytes between two looks at the clock.
    private static let size = 32 * 1024

    /// With the listing of the server's segments; goes on with a copy that was interrupted.
    init(
        _ listing: [UInt8],
        in directory: any LogDirectory,
        _ surroundings: Surroundings,
        seed: UInt64
    ) throws(DiarioError) {
        let listing = try Self.listing(listing)
        do throws(LogError) {
            try LogStore.create(in: directory)
        } catch {
            throw DiarioError(error)
        }
        store = try Space.openStore(directory, access: .readWrite, surroundings)
        copy = try FirstCopy(into: store, listing, seed: seed)
    }

    private static func listing(_ bytes: [UInt8]) throws(DiarioError) -> SegmentListing {
        let json = try? JSON.parse(bytes).value
        guard let listing = json.flatMap({ SegmentListing($0) }) else {
            throw DiarioError(
                .incompatible,
                "The server does not list its segments as it should. Reload this page."
            )
        }
        return listing
    }

    func step(_ isOver: () -> Bool) throws(DiarioError) -> PageStep {
        repeat {
            switch try copy.step(Self.size, at: store.now) {
            case .step: break
            case .list: return .more(Self.told("list") { _ in })
            case .fetch(let file, let range):
                return .more(
                    Self.told("fetch") { json in
                        json.add("name", file.name)
                        json.add("size", file.size)
                        json.add("first", range.lowerBound)
                        json.add("last", range.upperBound - 1)
                    }
                )
            case .send(let bytes):
                message = bytes
                return .more(Self.told("send") { _ in })
            case .stop(let refusal):
                throw DiarioError(refusal)
            case .end(let space):
                do throws(LogError) {
                    if let permission {
                        try store[space].setPermission(PermissionFile(permission))
                    }
                    try store[space].noteSync(head: store[space].standing().head)
                    try store[space].show()
                    try store.close()
                } catch {
                    throw DiarioError(error)
                }
                return .end([])
            }
        } while !isOver()
        let progress = copy.progress
        return .more(
            Self.told("step") { json in
                switch progress {
                case .bytes(let done, let total):
                    json.add("bytes", done)
                    json.add("of", total)
                case .events(let done, let total):
                    json.add("events", done)
                    json.add("of", total)
                }
            }
        )
    }

    private static func told(
        _ action: String,
        _ more: (inout JSONObjectWriter) -> Void
    ) -> [UInt8] {
        JSONObjectWriter.object { json in
            json.add("action", action)
            more(&json)
        }
    }

    /// Gives what is to be sent, or takes what was asked for.
    func call(_ name: String, _ bytes: [UInt8]) throws(DiarioError) -> [UInt8] {
        switch name {
        case "copy.request": return message
        case "copy.listing": try copy.receive(Self.listing(bytes))
        case "copy.part": try copy.receive(part: bytes)
        case "copy.answer":
            let reply = try PageInput.reply(bytes)
            permission = reply.permission ?? permission
            let message =
                reply.isMessage ? reply.body : SyncMessage.refusal(try reply.refusal()).encoded()
            try copy.receive(message, at: store.now)
        default: copy.skip()
        }
        return []
    }
}
