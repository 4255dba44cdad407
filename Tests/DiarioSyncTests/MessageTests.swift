import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioSync
import Testing

/// schema/format/sync.md, section 4.
struct MessageTests {
    private static let standing = Standing(
        lineage: Lineage(high: 7, low: 9),
        epoch: 2,
        size: 300,
        root: SHA256.hash([1].span)
    )

    private static let replica = ReplicaID(rawValue: 0x0123_4567_89ab_cdef)

    static func messages() throws -> [SyncMessage] {
        let replica = try #require(Self.replica)
        let block = [UInt8](repeating: 5, count: 40)
        let verdicts: [Verdict] = [
            Verdict(
                firstSequence: 4,
                count: 2,
                kind: .accepted(firstPosition: 90, acceptedAt: Timestamp(milliseconds: -5))
            ),
            Verdict(firstSequence: 6, count: 1000, kind: .refused(position: 92)),
            Verdict(firstSequence: 1006, count: 0, kind: .forked),
        ]
        let run = PromotedRun(
            replica: replica,
            firstSequence: 1,
            count: 8,
            firstPosition: 301,
            acceptedAt: Timestamp(milliseconds: 1_700_000_000_000)
        )
        return [
            .push(Push(standing: standing, replica: replica, blocks: [block, block])),
            .push(Push(standing: standing, replica: replica, blocks: [])),
            .verdicts(Verdicts(epoch: 2, head: 92, list: verdicts)),
            .verdicts(
                Verdicts(
                    epoch: 0,
                    head: 0,
                    list: [Verdict(firstSequence: 1, count: 0, kind: .gap)]
                )
            ),
            .pull(
                Pull(
                    standing: standing,
                    own: [Pull.Own(replica: replica, firstSequence: 17, count: 4)],
                    countMax: 10
                )
            ),
            .pull(Pull(standing: standing, own: [], hasContext: true)),
            .news(
                News(
                    epoch: 2,
                    head: 400,
                    end: 350,
                    root: standing.root,
                    pieces: [.own(run, standing.root), .block(block)]
                )
            ),
            .packWanted(PackWanted(standing: standing, fingerprint: standing.root)),
            .pack(PackFiles(files: [PackFiles.File(path: "pack.json", content: [1, 2])])),
            .refusal(
                Refusal(
                    .tooFast,
                    number: 30,
                    lineage: Lineage(high: 1, low: 2),
                    epoch: 3,
                    "Slower, please."
                )
            ),
            .compare(
                Compare(
                    lineage: standing.lineage,
                    points: [
                        Compare.Point(size: 5, root: standing.root),
                        Compare.Point(size: 300, root: standing.root),
                    ]
                )
            ),
            .common(Common(epoch: 3, head: 400, size: 300)),
        ] + relays(replica, block) + publishing
    }

    private static func relays(_ replica: ReplicaID, _ block: [UInt8]) -> [SyncMessage] {
        let push = Push(standing: standing, replica: replica, blocks: [block])
        let files = PackFiles(files: [PackFiles.File(path: "pack.json", content: [1])])
        let pack = NamedPack(fingerprint: standing.root, pack: files)
        return [.relay(Relay(push)), .relay(Relay(push, pack: pack))]
    }

    private static var publishing: [SyncMessage] {
        let attempt = AttemptID(high: 3, low: 4)
        let block = [UInt8](repeating: 6, count: 40)
        let pack = PackFiles(files: [PackFiles.File(path: "pack.json", content: [1, 2])])
        let wanted = [standing.root, SHA256.hash([2].span)]
        func publication(_ outcome: Publication.Outcome, _ text: String) -> SyncMessage {
            .publication(Publication(attempt: attempt, outcome: outcome, text))
        }
        return [
            .publish(
                Publish(
                    attempt: attempt,
                    standing: standing,
                    acceptedAt: Timestamp(milliseconds: -7)
                )
            ),
            .publish(
                Publish(
                    attempt: attempt,
                    standing: standing,
                    acceptedAt: Timestamp(milliseconds: 1_700_000_000_000),
                    before: 200,
                    blocks: [block, block],
                    pack: NamedPack(fingerprint: standing.root, pack: pack)
                )
            ),
            .abandon(Abandon(attempt: attempt, standing: standing)),
            .restore(
                Publish(
                    attempt: AttemptID(restoring: standing),
                    standing: standing,
                    acceptedAt: Timestamp(milliseconds: 1_700_000_000_000),
                    before: 200,
                    blocks: [block]
                )
            ),
            publication(.goesOn(taken: 250, wanted: wanted), ""),
            publication(.adopted, "The space is published."),
        ] + Publication.Reason.allCases.map { publication(.ended($0), "No.") }
    }

    @Test func aMessageComesBackAsItWas() throws {
        for message in try Self.messages() {
            let bytes = message.encoded()
            #expect(try SyncMessage(bytes.span) == message)
        }
    }

    @Test func cutAndPaddedMessagesAreRefused() throws {
        for message in try Self.messages() {
            let bytes = message.encoded()
            for count in 0..<bytes.count {
                let cut = Array(bytes[..<count])
                #expect(throws: FormatError.self) { _ = try SyncMessage(cut.span) }
            }
            let padded = bytes + [0]
            #expect(throws: FormatError.self) { _ = try SyncMessage(padded.span) }
        }
    }

    @Test func eachFlippedBitIsNoticed() throws {
        for message in try Self.messages() {
            let bytes = message.encoded()
            for bit in 0..<bytes.count * 8 {
                var flipped = bytes
                flipped[bit / 8] ^= 1 << UInt8(bit % 8)
                let changed = flipped
                #expect(throws: FormatError.self) { _ = try SyncMessage(changed.span) }
            }
        }
    }

    /// With a right checksum, whatever stands in the body is taken or refused, and never traps.
    @Test(arguments: 0..<20) func anyBodyIsTakenOrRefused(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        for message in try Self.messages() {
            for _ in 0..<50 {
                var bytes = message.encoded()
                let changes = 1 + random.below(4)
                for _ in 0..<changes where bytes.count > 16 {
                    bytes[16 + random.below(bytes.count - 16)] = UInt8(random.below(256))
                }
                let sealed = Self.seal(bytes)
                guard let read = try? SyncMessage(sealed.span) else { continue }
                let again = read.encoded()
                #expect(try SyncMessage(again.span) == read)
            }
        }
    }

    private static func seal(_ bytes: [UInt8]) -> [UInt8] {
        var sealed = bytes
        let header = Checksum.crc32c(bytes.span.raw.extracting(0..<12))
        let sum = Checksum.crc32c(
            bytes.span.raw.extracting(16..<bytes.count),
            continuing: header
        )
        for index in 0..<4 {
            sealed[12 + index] = UInt8(truncatingIfNeeded: sum >> UInt32(8 * index))
        }
        return sealed
    }

    @Test func anotherVersionIsTold() throws {
        var bytes = try Self.messages()[0].encoded()
        bytes[4] = SyncMessage.version + 1
        let newer = bytes
        #expect(throws: FormatError.unknownVersion(SyncMessage.version + 1, at: 4)) {
            _ = try SyncMessage(newer.span)
        }
    }

    /// What was accepted at such a time could not be written out.
    @Test(arguments: [
        .min, CivilTime.millisecondsMin - 1, CivilTime.millisecondsMax + 1, .max,
    ])
    func timesOutsideTheCalendarAreRefused(time: Int64) throws {
        let acceptedAt = Timestamp(milliseconds: time)
        let run = PromotedRun(
            replica: try #require(Self.replica),
            firstSequence: 1,
            count: 1,
            firstPosition: 1,
            acceptedAt: acceptedAt
        )
        let verdict = Verdict(
            firstSequence: 1,
            count: 1,
            kind: .accepted(firstPosition: 1, acceptedAt: acceptedAt)
        )
        let root = Self.standing.root
        let attempt = AttemptID(high: 3, low: 4)
        let messages: [SyncMessage] = [
            .verdicts(Verdicts(epoch: 0, head: 1, list: [verdict])),
            .news(News(epoch: 0, head: 1, end: 1, root: root, pieces: [.own(run, root)])),
            .publish(Publish(attempt: attempt, standing: Self.standing, acceptedAt: acceptedAt)),
        ]
        for message in messages {
            let bytes = message.encoded()
            let error = #expect(throws: FormatError.self) { _ = try SyncMessage(bytes.span) }
            guard case .malformed(.acceptedTimes, _) = error else {
                Issue.record("\(message.kind): \(String(describing: error))")
                continue
            }
        }
    }

    @Test func verdictsFollowOneAnother() throws {
        let list = [
            Verdict(firstSequence: 1, count: 2, kind: .refused(position: 5)),
            Verdict(firstSequence: 4, count: 2, kind: .refused(position: 6)),
        ]
        let bytes = SyncMessage.verdicts(Verdicts(epoch: 0, head: 6, list: list)).encoded()
        #expect(throws: FormatError.self) { _ = try SyncMessage(bytes.span) }
    }
}
