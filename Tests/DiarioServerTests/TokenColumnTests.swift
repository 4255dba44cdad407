import DiarioCore
import DiarioLog
import DiarioSQLite
import DiarioServer
import DiarioTestSupport
import Testing

/// Roles, and tokens for queries, on disk: schema/format/control.md, section 5.
struct TokenColumnTests {
    private static let now = Timestamp(milliseconds: 1_700_000_000_000)

    private let folder: TemporaryFolder
    private let entropy = SeededEntropy(seed: 3)
    private let control: ControlFile

    init() throws {
        folder = try TemporaryFolder()
        control = try ControlFile(folder: folder.path, .create)
    }

    private func make(
        _ rights: Caller.Rights = [.read, .append],
        replacing old: TokenID? = nil,
        _ change: (inout TokenDraft) -> Void = { _ in }
    ) throws -> Token {
        var draft = TokenDraft(space: try #require(SpaceName("home")), rights: rights)
        change(&draft)
        if try control.space(draft.space) == nil {
            try control.name(SpaceID(drawnFrom: entropy), draft.space, at: Self.now)
        }
        return try control.makeToken(draft, replacing: old, drawnFrom: entropy, at: Self.now).token
    }

    @Test func aTokenHasRolesAndKeepsThemWhenItIsReplaced() throws {
        let old = try make { $0.roles = ["fish.researcher", "fish.curator", "fish.curator"] }
        #expect(old.roles == ["fish.curator", "fish.researcher"])
        #expect(Caller(old).roles == old.roles)
        let same = try make(replacing: old.id)
        #expect(same.roles == old.roles)
        let other = try make(replacing: same.id) { $0.roles = ["fish.curator"] }
        #expect(try control.tokens().last == other)
        #expect(other.roles == ["fish.curator"])
        for role in ["curator", "fish.", ".curator", "Fish.curator", "fish.a b", "fish.*", "a.b.c"]
        {
            #expect(throws: ControlError.self) { try make { $0.roles = [role] } }
        }
        #expect(throws: ControlError.self) {
            try make { $0.roles = (0...64).map { "fish.r\($0)" } }
        }
    }

    @Test func aTokenForQueriesIsForNothingElse() throws {
        let patterns = try ["fish.public-*", "fish.map", "meals.*"].map {
            try #require(QueryPattern($0))
        }
        let token = try make(.ask) { $0.queries = patterns }
        #expect(token.queries.map(\.text) == ["fish.map", "fish.public-*", "meals.*"])
        #expect(token.rights.words == ["ask"])
        #expect(throws: ControlError.self) { try make(.ask) }
        #expect(throws: ControlError.self) { try make(.read) { $0.queries = patterns } }
        #expect(throws: ControlError.self) {
            try make([.read, .ask]) { $0.queries = patterns }
        }
        let plain = try Connection(path: folder.path + "/" + ControlFile.name, .readWrite)
        for change in [
            "rights = 17", "rights = 32", "queries = NULL", "queries = 'x'", "roles = ''",
        ] {
            try plain.execute("UPDATE token SET \(change)")
            #expect(throws: ControlError.damaged(what: "a row of `token` is none")) {
                try control.tokens()
            }
            try plain.execute("UPDATE token SET rights = 16, queries = 'fish.map', roles = NULL")
        }
    }

    @Test func aPatternIsAQueryOrTheBeginningOfOne() throws {
        for (text, names, others) in [
            ("fish.map", ["fish.map"], ["fish.maps", "meals.map"]),
            (
                "fish.public-*", ["fish.public-", "fish.public-map"],
                ["fish.publi", "fishy.public-"]
            ),
            ("fish.*", ["fish.map"], ["fishy.map", "fish"]),
        ] {
            let pattern = try #require(QueryPattern(text))
            #expect(names.allSatisfy { pattern.matches($0) })
            #expect(!others.contains { pattern.matches($0) })
        }
        for text in [
            "", "*", "fish", "fish.", "*.map", "fish.a*b", "fish.**", "fish.m p", "Fish.map",
        ] {
            #expect(QueryPattern(text) == nil)
        }
    }
}
