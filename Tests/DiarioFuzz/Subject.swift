import DiarioCore
import DiarioFormat
import DiarioFrames
import DiarioLog
import DiarioSchema

/// A parser that bytes from outside reach: it must return or throw, whatever they are.
enum Subject: String, CaseIterable {
    case origin
    case json
    case schema
    case pattern
    case line
    case row
    case block
    case frame
    case log
    case segment
    case sidecar
    case index
    case header
    case manifest
    case replica
    case mark
    case state
    case blob
    case tileMark = "tile-mark"
    case tile
    case proof
    case pack
    case reference
    case lines
    case cloudEvents = "cloudevents"
    case message
    case inbox
    case inboxNote = "inbox-note"
    case importNote = "import-note"
    case remote
    case lastSync = "last-sync"
    case address
    case reply
    case listing
    case request
    case picture
    case fishReports = "fish-reports"
    case fishForm = "fish-form"
    case fishInput = "fish-input"
    case calls

    /// Runs the parser once, and checks what it says about bytes that it takes.
    func run(_ bytes: [UInt8]) {
        switch self {
        case .origin: Self.origin(bytes)
        case .json: Self.json(bytes)
        case .schema: _ = Self.type(bytes)
        case .pattern: Self.pattern(bytes)
        case .line: Self.line(bytes)
        case .row: Self.row(bytes)
        case .block: Self.block(bytes)
        case .frame: Self.frame(bytes)
        case .log: LogSubject.run(bytes)
        case .segment: SegmentSubject.run(bytes, .segment)
        case .sidecar: SegmentSubject.run(bytes, .sidecar)
        case .index: SegmentSubject.runIndex(bytes)
        case .header: FileSubject.header(bytes)
        case .manifest: FileSubject.manifest(bytes)
        case .replica: FileSubject.replica(bytes)
        case .mark: FileSubject.mark(bytes)
        case .state: FileSubject.state(bytes)
        case .blob: FileSubject.blob(bytes)
        case .tileMark: FileSubject.tileMark(bytes)
        case .tile: ProofSubject.tile(bytes)
        case .proof: ProofSubject.proof(bytes)
        case .pack: PackSubject.run(bytes, as: "pack.json")
        case .reference: PackSubject.run(bytes, as: "reference/b.1.csv")
        case .lines: InputSubject.lines(bytes)
        case .cloudEvents: InputSubject.cloudEvents(bytes)
        case .message: SyncSubject.message(bytes)
        case .inbox: SyncSubject.inbox(bytes)
        case .inboxNote: SyncSubject.note(bytes)
        case .importNote: SyncSubject.importNote(bytes)
        case .remote: FileSubject.remote(bytes)
        case .lastSync: FileSubject.lastSync(bytes)
        case .address: ReplySubject.address(bytes)
        case .reply: ReplySubject.reply(bytes)
        case .listing: ReplySubject.listing(bytes)
        case .request: RequestSubject.run(bytes)
        case .picture: PictureSubject.run(bytes)
        case .fishReports: FishSubject.reports(bytes)
        case .fishForm: FishSubject.form(bytes)
        case .fishInput: FishSubject.input(bytes)
        case .calls: CallSubject.run(bytes)
        }
    }

    /// An origin is taken only in the one form in which it is shown.
    private static func origin(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let origin = Origin(text: text) else { return }
        precondition(origin.text == text, "an origin has one form")
    }

    /// What is written in canonical form is read again, and written as the same bytes.
    private static func json(_ bytes: [UInt8]) {
        guard let item = try? JSON.parse(bytes) else { return }
        var first: [UInt8] = []
        item.value.appendCanonical(to: &first)
        guard let again = try? JSON.parse(first) else {
            preconditionFailure("canonical JSON is JSON")
        }
        var second: [UInt8] = []
        again.value.appendCanonical(to: &second)
        precondition(first == second, "a value has one canonical form")
    }

    /// The bytes up to the first line feed are a pattern, the rest a text.
    private static func pattern(_ bytes: [UInt8]) {
        let parts = bytes.split(separator: 0x0a, maxSplits: 1, omittingEmptySubsequences: false)
        guard let source = parts.first, source.count <= 256,
            let pattern = try? Pattern(String(decoding: source, as: UTF8.self))
        else { return }
        let text = Array(String(decoding: parts.dropFirst().first ?? [], as: UTF8.self).utf8)
        precondition(
            pattern.matches(text.span) == pattern.simulate(text.span),
            "the automaton and the simulation agree"
        )
    }

    private static func type(_ schema: [UInt8]) -> EventType? {
        var budget = PatternBudget()
        return try? EventType(schema: schema, file: "events/b.1.json", budget: &budget)
    }

    static let catalog: TypeCatalog? = {
        let schema = #"""
            {"title":"a.b","x-diario-version":1,"type":"object","additionalProperties":false,
             "properties":{"id":{"type":"string","maxLength":64,"x-diario-id":"new"},
              "n":{"type":"integer"},"x":{"type":"number"},"d":{"type":"string","format":"date"},
              "u":{"type":"string","format":"uuid"},"e":{"enum":["p","q"]},
              "s":{"type":"string","pattern":"^[a-z]+$","x-diario-personal":true},
              "o":{"type":"array","items":{"type":"string"}}}}
            """#
        guard let type = type(Array(schema.utf8)) else { return nil }
        return try? TypeCatalog([type])
    }()

    /// What a line tells is written as a line that tells the same.
    private static func line(_ bytes: [UInt8]) {
        guard let catalog else { preconditionFailure("the schema above is valid") }
        var reader = EventLineReader(catalog: catalog, options: [.exportKeys])
        var line = EventLine()
        guard (try? reader.read(bytes.span, into: &line)) != nil else { return }
        var first: [UInt8] = []
        EventLineWriter.append(line, to: &first)
        guard (try? reader.read(first.span, into: &line)) != nil else {
            preconditionFailure("what is written is read")
        }
        var second: [UInt8] = []
        EventLineWriter.append(line, to: &second)
        precondition(first == second, "an event has one line")
    }

    private static func row(_ bytes: [UInt8]) {
        guard let replica = ReplicaID(rawValue: 7) else { return }
        _ = try? PublicPart.parse(
            bytes.span,
            0..<bytes.count,
            origin: Origin(replica: replica, sequence: 9),
            personalSize: 0
        )
    }

    private static func block(_ bytes: [UInt8]) {
        guard let summary = try? BlockSummary.parse(bytes.span, verifyChecksum: false) else {
            return
        }
        _ = try? BlockHead(bytes.span, summary)
        var cursor = RowCursor(bytes.span, summary)
        while let row = try? cursor.next() { _ = try? PublicPart.parse(bytes.span, row) }
        _ = try? Block.check(bytes.span)
    }

    /// The generation is the one that the bytes state, or no frame would ever be found.
    private static func frame(_ bytes: [UInt8]) {
        var generation: UInt64 = 0
        for (index, byte) in bytes.dropFirst(8).prefix(8).enumerated() {
            generation |= UInt64(byte) << UInt64(8 * index)
        }
        guard
            case .frame(let header) = FrameHeader.read(bytes.span, at: 0, generation: generation)
        else { return }
        precondition(header.frameSize <= bytes.count, "a frame lies in its bytes")
    }
}
