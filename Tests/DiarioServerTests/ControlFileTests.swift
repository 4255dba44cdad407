import DiarioCore
import DiarioCrypto
import DiarioLog
import DiarioSQLite
import DiarioServer
import DiarioStorage
import DiarioTestSupport
import Testing

/// Names, tokens and quotas on disk: schema/format/control.md.
struct ControlFileTests {
    private static let now = Timestamp(milliseconds: 1_700_000_000_000)
    private static let later = Timestamp(milliseconds: 1_700_000_360_000)

    private let folder: TemporaryFolder
    private let entropy = SeededEntropy(seed: 3)
    private let control: ControlFile

    init() throws {
        folder = try TemporaryFolder()
        control = try ControlFile(folder: folder.path, .create)
    }

    private func name(_ text: String) throws -> SpaceName { try #require(SpaceName(text)) }

    private func make(
        _ space: String = "home",
        _ rights: Caller.Rights = [.read, .append],
        replacing old: TokenID? = nil,
        _ change: (inout TokenDraft) -> Void = { _ in }
    ) throws -> (key: TokenKey, token: Token) {
        var draft = TokenDraft(space: try name(space), rights: rights)
        change(&draft)
        if try control.space(draft.space) == nil {
            try control.name(SpaceID(drawnFrom: entropy), draft.space, at: Self.now)
        }
        return try control.makeToken(
            draft,
            replacing: old,
            drawnFrom: entropy,
            at: Self.now
        )
    }

    @Test(arguments: ["a", "home", "0", "a.b-c_d", String(repeating: "x", count: 64)])
    func whatIsAName(text: String) { #expect(SpaceName(text)?.text == text) }

    @Test(arguments: [
        "", ".", "..", ".hidden", "-x", "_x", "Home", "a/b", "a b", "a%20", "\u{e9}", "a\u{0}",
        String(repeating: "x", count: 65),
    ])
    func whatIsNoName(text: String) { #expect(SpaceName(text) == nil) }

    @Test func aKeyIsReadAsItIsWritten() throws {
        let key = TokenKey(drawnFrom: entropy)
        let again = try #require(TokenKey(text: key.text))
        #expect(again.text == key.text)
        #expect(again.id == key.id)
        #expect(key.text.hasPrefix("diario_"))
        #expect(key.text.utf8.count == 73)
    }

    @Test func noOtherTextIsAKey() {
        let text = Array(TokenKey(drawnFrom: entropy).text.utf8)
        for index in text.indices {
            for byte: UInt8 in [0x41, 0x75, 0x5f, 0x20, 0xc3] where text[index] != byte {
                var other = text
                other[index] = byte
                #expect(TokenKey(text: String(decoding: other, as: UTF8.self)) == nil)
            }
            #expect(TokenKey(text: String(decoding: text[..<index], as: UTF8.self)) == nil)
        }
        #expect(TokenKey(text: String(decoding: text + [0x30], as: UTF8.self)) == nil)
    }

    @Test func theSecretIsNotPrinted() {
        let key = TokenKey(drawnFrom: entropy)
        let secret = key.text.suffix(52)
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped] {
            #expect(!text.contains(secret))
            #expect(text.contains(key.id.text))
        }
    }

    @Test func theSecretIsNotKept() throws {
        let (key, _) = try make()
        let bytes = try Files.contents(
            of: ControlFile.name,
            in: folder.directory(),
            sizeMax: 1 << 20
        )
        let log = try Files.contents(
            of: ControlFile.name + "-wal",
            in: folder.directory(),
            sizeMax: 1 << 20
        )
        let secret = Array(key.text.utf8.suffix(52))
        for kept in [bytes, log] {
            #expect(!kept.indices.contains { kept[$0...].starts(with: secret) })
        }
    }

    @Test func aTokenIsKnownByItsWholeTextOnly() throws {
        let (key, token) = try make()
        let (other, _) = try make()
        #expect(try control.token(key.text, at: Self.now)?.id == token.id)
        // The id of one and the secret of the other.
        let mixed = key.text.prefix(21) + other.text.suffix(52)
        #expect(try control.token(mixed, at: Self.now) == nil)
        #expect(try control.token("", at: Self.now) == nil)
        let stranger = TokenKey(drawnFrom: entropy)
        #expect(try control.token(stranger.text, at: Self.now) == nil)
    }

    @Test func whatAnotherProcessWritesIsSeenAtOnce() throws {
        let other = try ControlFile(folder: folder.path, .readWrite)
        let (key, token) = try make()
        #expect(try other.token(key.text, at: Self.now) != nil)
        #expect(try control.revokeToken(token.id, at: Self.now))
        #expect(try other.token(key.text, at: Self.now) == nil)
        #expect(try !other.revokeToken(token.id, at: Self.later))
        #expect(try other.tokens().first?.revoked == Self.now)
        try control.setQuota(of: try name("home"), SpaceQuota(eventsMax: 7))
        #expect(try other.space(try name("home"))?.quota == SpaceQuota(eventsMax: 7))
    }

    @Test func aTokenEnds() throws {
        let (key, _) = try make { $0.expires = Self.later }
        #expect(try control.token(key.text, at: Self.now) != nil)
        #expect(try control.token(key.text, at: Self.later) == nil)
    }

    @Test func whatATokenSaysIsKept() throws {
        let (_, made) = try make("home", [.read, .relay]) {
            $0.actor = "alice"
            $0.label = "phone"
            $0.requestsPerSecond = 5
        }
        let listed = try control.tokens(of: try name("home"))
        #expect(listed == [made])
        #expect(made.rights.words == ["read", "relay"])
        #expect(made.actor == "alice")
        #expect(made.label == "phone")
        #expect(made.rates.requestsPerSecond == 5)
        #expect(made.rates.eventsPerSecond == Limits.tokenEventRateMax)
        #expect(made.holder == .actor("alice"))
        #expect(try control.tokens(of: try name("other")) == [])
    }

    @Test func useIsNotedToTheHour() throws {
        let (key, _) = try make()
        var token = try #require(try control.token(key.text, at: Self.now))
        try control.noteUse(of: token, at: Self.now)
        token = try #require(try control.token(key.text, at: Self.now))
        #expect(token.used?.milliseconds == 1_699_999_200_000)
        try control.noteUse(of: token, at: Self.later)
        #expect(try control.tokens().first?.used == token.used)
    }

    @Test func aSpaceIsMadeOnce() throws {
        _ = try make("home")
        _ = try make("home")
        _ = try make("work")
        #expect(try control.spaces().map(\.name.text) == ["home", "work"])
        let id = try #require(try control.space(try name("home"))).id
        #expect(throws: ControlError.self) {
            try control.name(id, try name("again"), at: Self.now)
        }
        #expect(throws: ControlError.self) {
            try control.name(try #require(SpaceID(rawValue: 9)), try name("work"), at: Self.now)
        }
        #expect(throws: ControlError.unknownSpace("nowhere")) {
            try control.setQuota(of: try name("nowhere"), SpaceQuota())
        }
    }

    @Test func aSpaceKeepsWhatItHasUnderANewName() throws {
        let (key, token) = try make("hme") { $0.actor = "alice" }
        let replica = try #require(ReplicaID(rawValue: 5))
        let (old, new) = (try name("hme"), try name("home"))
        _ = try control.bind(replica, in: old, to: token.holder, at: Self.now)
        try control.setQuota(of: old, SpaceQuota(eventsMax: 7))
        let before = try #require(try control.space(old))
        _ = try make("work")
        #expect(throws: ControlError.self) { try control.rename(old, to: try name("work")) }
        #expect(throws: ControlError.unknownSpace("home")) { try control.rename(new, to: old) }
        try control.rename(old, to: new)
        #expect(try control.space(old) == nil)
        let after = try #require(try control.space(new))
        #expect((after.id, after.created) == (before.id, before.created))
        #expect(after.quota == before.quota)
        let bearer = try #require(try control.bearer(of: key.text, at: Self.now))
        #expect(bearer.token.space == new)
        #expect(bearer.space == after)
        #expect(try control.holder(of: replica, in: new) == .actor("alice"))
        #expect(try control.replicas(of: old) == [])
    }

    @Test func aSpaceIsForgottenWithItsTokens() throws {
        let (key, token) = try make()
        let (other, _) = try make("work")
        let home = try name("home")
        let replica = try #require(ReplicaID(rawValue: 5))
        _ = try control.bind(replica, in: home, to: token.holder, at: Self.now)
        try control.note([Contact(space: home, replica: replica, seen: Self.now)])
        #expect(try control.removeSpace(home) == [])
        #expect(try control.spaces().map(\.name.text) == ["work"])
        #expect(try control.bearer(of: key.text, at: Self.now) == nil)
        #expect(try control.bearer(of: other.text, at: Self.now) != nil)
        #expect(try control.replicas(of: home) == [])
        #expect(throws: ControlError.unknownSpace("home")) { try control.removeSpace(home) }
    }

    @Test func aTokenThatTakesThePlaceOfAnother() throws {
        let replica = try #require(ReplicaID(rawValue: 5))
        let (key, old) = try make()
        let home = try name("home")
        #expect(try control.bind(replica, in: home, to: old.holder, at: Self.now) == old.holder)
        let (_, new) = try make("home", replacing: old.id) { $0.actor = "alice" }
        #expect(try control.holder(of: replica, in: home) == .actor("alice"))
        #expect(try control.token(key.text, at: Self.now) == nil)
        // One of an actor cannot be handed to another actor, and nothing of it is done.
        #expect(throws: ControlError.self) {
            try make("home", replacing: new.id) { $0.actor = "bob" }
        }
        #expect(throws: ControlError.unknownToken(new.id.text)) {
            try make("work", replacing: new.id) { $0.actor = "alice" }
        }
        #expect(try control.tokens().count == 2)
    }

    @Test func aReplicaBelongsToWhoBoundItFirst() throws {
        let replica = try #require(ReplicaID(rawValue: 5))
        let home = try name("home")
        _ = try make()
        #expect(try control.holder(of: replica, in: home) == nil)
        let alice = Holder.actor("alice")
        #expect(try control.bind(replica, in: home, to: alice, at: Self.now) == alice)
        #expect(try control.bind(replica, in: home, to: .actor("bob"), at: Self.now) == alice)
        let other = try ControlFile(folder: folder.path, .readWrite)
        #expect(try other.holder(of: replica, in: home) == alice)
    }

    @Test func wrongWishesAreRefused() throws {
        #expect(throws: ControlError.self) { try make("home", []) }
        #expect(throws: ControlError.self) {
            try make { $0.actor = String(repeating: "x", count: Limits.actorSizeMax + 1) }
        }
        #expect(throws: ControlError.self) {
            try make { $0.label = String(repeating: "x", count: Limits.tokenLabelSizeMax + 1) }
        }
        #expect(throws: ControlError.self) { try make { $0.eventsPerSecond = 0 } }
        #expect(throws: ControlError.self) { try make { $0.expires = Self.now } }
        #expect(throws: ControlError.unknownSpace("typo")) {
            let draft = TokenDraft(space: try name("typo"), rights: [.read])
            _ = try control.makeToken(draft, drawnFrom: entropy, at: Self.now)
        }
        #expect(try control.tokens() == [])
        #expect(try control.space(try name("typo")) == nil)
        #expect(Caller.Rights(text: "read,append")?.words == ["read", "append"])
        for text in ["", "read,", "write", "read append", "READ"] {
            #expect(Caller.Rights(text: text) == nil)
        }
    }

    @Test func aFileOfANewerProgramIsLeftAlone() throws {
        let path = folder.path + "/" + ControlFile.name
        let plain = try Connection(path: path, .readWrite)
        try plain.execute("PRAGMA user_version = 4")
        #expect(throws: ControlError.newer(version: 4)) {
            try ControlFile(folder: folder.path, .create)
        }
    }

    /// A file from before blobs, or roles, is read as it is, and gets what it lacks when it is
    /// opened to write.
    @Test(arguments: [1, 2]) func aFileOfAnOlderVersionGetsWhatItLacks(version: Int) throws {
        let (_, token) = try make { $0.label = "old" }
        let path = folder.path + "/" + ControlFile.name
        let plain = try Connection(path: path, .readWrite)
        try plain.execute(
            """
            ALTER TABLE token DROP COLUMN roles; ALTER TABLE token DROP COLUMN queries;
            ALTER TABLE space DROP COLUMN publicQueries; PRAGMA user_version = \(version)
            """
        )
        if version == 1 {
            try plain.execute(
                """
                DROP TABLE blob; ALTER TABLE space DROP COLUMN blobBytesMax;
                ALTER TABLE token DROP COLUMN blobBytesMax
                """
            )
        }
        #expect(try control.tokens() == [token])
        #expect(try control.spaces().first?.quota == SpaceQuota())
        let newer = try ControlFile(folder: folder.path, .readWrite)
        #expect(try newer.tokens() == [token])
        var quota = SpaceQuota()
        quota.blobBytesMax = 7
        try newer.setQuota(of: try name("home"), quota)
        #expect(try newer.spaces().first?.quota == quota)
        #expect(try newer.sentBlobs(among: [.zero], to: try name("home")).isEmpty)
        let queries = [try #require(QueryPattern("fish.public-*"))]
        try newer.setPublicQueries(of: try name("home"), queries)
        #expect(try newer.spaces().first?.publicQueries == queries)
    }

    @Test func whenAReplicaWasHeardOfIsKept() throws {
        let space = try name("home")
        _ = try make()
        let first = try #require(ReplicaID(rawValue: 7))
        let second = try #require(ReplicaID(rawValue: 8))
        let bound = try control.bind(first, in: space, to: .actor("alice"), at: Self.now)
        #expect(bound == .actor("alice"))
        try control.note([
            Contact(space: space, replica: second, seen: Self.now),
            Contact(space: space, replica: second, seen: Self.later),
            Contact(space: space, replica: second, seen: Self.now),
        ])
        let replicas = try control.replicas(of: space)
        #expect(replicas.map(\.id) == [second, first])
        #expect(replicas.map(\.seen) == [Self.later, nil])
        #expect(replicas.map(\.holder) == [nil, .actor("alice")])
    }

    @Test func anotherDatabaseIsLeftAlone() throws {
        let other = try TemporaryFolder()
        let path = other.path + "/" + ControlFile.name
        let plain = try Connection(path: path, .create)
        try plain.execute("CREATE TABLE t (x)")
        #expect(throws: ControlError.foreign) { try ControlFile(folder: other.path, .create) }
        #expect(throws: ControlError.missing) {
            try ControlFile(folder: other.path + "/none", .readWrite)
        }
        let text = try TemporaryFolder()
        let file = try text.directory().open(ControlFile.name, .create)
        try file.write(Array(repeating: UInt8(0x41), count: 4096).span, at: 0)
        #expect(throws: ControlError.foreign) { try ControlFile(folder: text.path, .create) }
    }

    @Test func aRowThatNobodyWroteIsDamage() throws {
        _ = try make()
        let plain = try Connection(path: folder.path + "/" + ControlFile.name, .readWrite)
        try plain.execute("UPDATE token SET hash = x'00'")
        #expect(throws: ControlError.damaged(what: "a row of `token` is none")) {
            try control.tokens()
        }
    }

    /// Verify said nothing, a server began, and a backup took the damage over.
    @Test(arguments: [2, 3, 5, 7]) func aDamagedPageIsFound(page: Int) throws {
        for number in 0..<200 { _ = try make("s\(number)") }
        let lying = try TemporaryFolder()
        let inside = try lying.directory()
        #expect(try ControlFile.copy(of: folder.directory(), to: inside))
        #expect(try ControlFile.fault(folder: lying.path) == nil)
        let junk = (0..<4096).map { UInt8(truncatingIfNeeded: 151 &* $0 &+ 7) }
        try inside.open(ControlFile.name, .readWrite).write(junk.span, at: Int64(4096 * (page - 1)))
        let fault = try #require(try ControlFile.fault(folder: lying.path))
        #expect(fault.file == ControlFile.name)
        let target = try TemporaryFolder()
        #expect {
            _ = try ControlFile.copy(of: inside, to: target.directory())
        } throws: {
            ($0 as? ControlError)?.fault != nil
        }
    }

    /// An emptied file, one that is gone, and one that was made anew took the place of the names.
    @Test func aCopyHasTheNamesOfTheOneBefore() throws {
        _ = try make("s1")
        let backup = try TemporaryFolder()
        #expect(try ControlFile.copy(of: folder.directory(), to: backup.directory()))
        let older = backup.path + "/" + ControlFile.name
        let target = try TemporaryFolder()
        func copy(_ source: borrowing TemporaryFolder) throws -> Bool {
            try ControlFile.copy(of: source.directory(), to: target.directory(), older: older)
        }
        _ = try make("s2")
        #expect(try copy(folder))
        let other = try TemporaryFolder()
        #expect(throws: ControlError.self) { try copy(other) }
        #expect(throws: ControlError.self) {
            try Files.replace(ControlFile.name, with: [], in: other.directory())
            _ = try copy(other)
        }
        try other.directory().remove(ControlFile.name)
        _ = try ControlFile(folder: other.path, .create)
        #expect {
            try copy(other)
        } throws: {
            ($0 as? ControlError)?.fault?.what.contains("it lacks the name s1,") == true
        }
    }

    @Test func aFileThatIsNotThereIsNoDamage() throws {
        #expect(try ControlFile.fault(folder: folder.path + "/none") == nil)
    }

    /// Verify called a folder whole whose names and tokens were a folder.
    @Test func aFolderInThePlaceOfTheFileIsDamage() throws {
        let lying = try TemporaryFolder()
        try lying.directory().makeDirectory(ControlFile.name)
        let fault = try #require(try ControlFile.fault(folder: lying.path))
        #expect(fault.what.hasPrefix("the file is damaged (what is there is no file); "))
        #expect(throws: ControlError.damaged(what: "what is there is no file")) {
            try ControlFile(folder: lying.path, .create)
        }
    }

    @Test func theMessageOfDamageHasThePath() throws {
        let message = ControlError.damaged(what: "a row").message(in: "served")
        #expect(message.hasPrefix("served/.diario/control.sqlite: the file is damaged (a row); "))
    }

    /// As on a medium that can only be read: nothing can be made beside the file.
    @Test func whatMayOnlyBeReadIsRead() throws {
        let (_, token) = try make()
        let still = try TemporaryFolder()
        #expect(try ControlFile.copy(of: folder.directory(), to: still.directory()))
        _ = try ControlFile(folder: still.path, .readWrite)
        // A link that leads nowhere keeps SQLite from making its file there.
        try still.directory().setLink(ControlFile.name + "-shm", to: "nowhere/at-all")
        let reader = try ControlFile(reading: still.path)
        #expect(try reader.tokens().map(\.id) == [token.id])
        #expect(throws: ControlError.self) { try ControlFile(folder: still.path, .readWrite) }
    }

    @Test func theMessageOfAMediumHasThePath() throws {
        let path = folder.path + "/" + ControlFile.name
        let reader = try Connection(path: path, .readOnly)
        let error = try #require(
            #expect(throws: SQLiteError.self) { try reader.execute("DELETE FROM token") }
        )
        let message = ControlError.sqlite(error).message(in: "served")
        #expect(message.hasPrefix("served/.diario/control.sqlite may not be written"))
    }
}
