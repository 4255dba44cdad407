import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioSync
import DiarioTestSupport
import Testing

/// The messages of schema/vectors, of which the second implementation makes the same bytes.
struct MessageVectorTests {
    private struct Vectors: Decodable {
        var cases: [Case]
    }

    private struct Case: Decodable {
        var bytes: String
        var fields: MessageFields
    }

    @Test func theMessagesAreWhatTheyWere() throws {
        let vectors: Vectors = try VectorFile.read("messages-1.json")
        #expect(Set(vectors.cases.map(\.fields.kind)) == Set(1...14))
        for vector in vectors.cases {
            let bytes = try Hex.bytes(vector.bytes)
            let message = try SyncMessage(bytes.span)
            #expect(MessageFields(message) == vector.fields)
            #expect(message.encoded() == bytes)
        }
    }
}

/// What a message says, for other programs.
private struct MessageFields: Decodable, Equatable {
    var kind: Int
    var lineage: String?
    var epoch: String?
    var size: String?
    var root: String?
    var replica: String?
    var blocks: [String]?
    var head: String?
    var end: String?
    var countMax: String?
    var context: Int?
    var own: [[String]]?
    /// Tag, first sequence, count, and what follows.
    var verdicts: [[String]]?
    /// Tag, and what follows.
    var pieces: [[String]]?
    var fingerprint: String?
    var points: [[String]]?
    var files: [[String]]?
    var reason: Int?
    var number: String?
    var text: String?
    var attempt: String?
    var acceptedAt: String?
    var before: String?
    /// Fingerprint, then path and content of each file.
    var pack: [[String]]?
    var outcome: Int?
    var taken: String?
    var wanted: [String]?

    init(_ message: SyncMessage) {
        kind = Int(message.kind.rawValue)
        switch message {
        case .push(let push): take(push)
        case .relay(let relay):
            take(relay.push)
            take(relay.pack)
        case .verdicts(let answer):
            (epoch, head) = ("\(answer.epoch)", "\(answer.head)")
            verdicts = answer.list.map { Self.texts($0) }
        case .pull(let pull):
            take(pull.standing)
            own = pull.own.map { [$0.replica.text, "\($0.firstSequence)", "\($0.count)"] }
            countMax = "\(pull.countMax)"
            context = pull.hasContext ? 1 : 0
        case .news(let news):
            (epoch, head, end) = ("\(news.epoch)", "\(news.head)", "\(news.end)")
            root = news.root.text
            pieces = news.pieces.map { Self.texts($0) }
        case .packWanted(let wanted):
            take(wanted.standing)
            fingerprint = wanted.fingerprint.text
        case .pack(let pack): files = pack.files.map { [$0.path, Hex.text($0.content)] }
        case .refusal(let refusal):
            reason = Int(refusal.reason.rawValue)
            (number, epoch) = ("\(refusal.number)", "\(refusal.epoch)")
            (lineage, text) = (refusal.lineage.text, refusal.message)
        case .compare(let compare):
            lineage = compare.lineage.text
            points = compare.points.map { ["\($0.size)", $0.root.text] }
        case .common(let common):
            (epoch, head, size) = ("\(common.epoch)", "\(common.head)", "\(common.size)")
        case .publish(let publish), .restore(let publish): take(publish)
        case .abandon(let abandon):
            take(abandon.standing)
            attempt = abandon.attempt.text
        case .publication(let publication): take(publication)
        }
    }

    private mutating func take(_ publish: Publish) {
        take(publish.standing)
        attempt = publish.attempt.text
        acceptedAt = "\(publish.acceptedAt.milliseconds)"
        before = "\(publish.before)"
        blocks = publish.blocks.map { Hex.text($0) }
        take(publish.pack)
    }

    private mutating func take(_ push: Push) {
        take(push.standing)
        replica = push.replica.text
        blocks = push.blocks.map { Hex.text($0) }
    }

    private mutating func take(_ named: NamedPack?) {
        pack = named.map { named in
            [[named.fingerprint.text]] + named.pack.files.map { [$0.path, Hex.text($0.content)] }
        }
    }

    private mutating func take(_ publication: Publication) {
        attempt = publication.attempt.text
        text = publication.message
        (outcome, reason, taken, wanted) = (2, 0, "0", [])
        switch publication.outcome {
        case .goesOn(let there, let missing):
            (outcome, taken, wanted) = (1, "\(there)", missing.map(\.text))
        case .adopted: break
        case .ended(let why): (outcome, reason) = (3, Int(why.rawValue))
        }
    }

    private mutating func take(_ standing: Standing) {
        (lineage, epoch) = (standing.lineage.text, "\(standing.epoch)")
        (size, root) = ("\(standing.size)", standing.root.text)
    }

    private static func texts(_ verdict: Verdict) -> [String] {
        let own = ["\(verdict.firstSequence)", "\(verdict.count)"]
        return switch verdict.kind {
        case .accepted(let position, let acceptedAt):
            ["1"] + own + ["\(position)", "\(acceptedAt.milliseconds)"]
        case .refused(let position): ["2"] + own + ["\(position)"]
        case .gap: ["3"] + own
        case .forked: ["4"] + own
        }
    }

    private static func texts(_ piece: News.Piece) -> [String] {
        switch piece {
        case .block(let block): ["1", Hex.text(block)]
        case .own(let run, let hash):
            [
                "2", run.replica.text, "\(run.firstSequence)", "\(run.count)",
                "\(run.firstPosition)", "\(run.acceptedAt.milliseconds)",
                hash.text,
            ]
        }
    }
}
