import DiarioCore
import DiarioEngine
import DiarioFish
import DiarioProjection
import DiarioSchema
import Foundation
import DiarioTestSupport
import Testing

/// What the queries of a pack answer, what they say that they answer, and what rules read of it.
@Suite struct QueryContractTests {
    private static func fish() throws -> Pack {
        try #require(try PackSource.builtIn().first { $0.name == "fish" })
    }

    /// The pack, with `change` made to the text of the file of one query.
    private static func pack(
        _ pack: Pack,
        changing query: PackQuery,
        _ change: (String) -> String
    ) throws -> Pack {
        try Pack(
            files: pack.files.map { file in
                guard file.path == query.file else { return file }
                let text = change(String(decoding: file.bytes, as: UTF8.self))
                return PackFile(path: file.path, bytes: Array(text.utf8))
            }
        )
    }

    /// The statement with one of its columns under another name, or without it.
    private static func wrapped(
        _ query: PackQuery,
        _ column: String,
        as name: String?
    ) -> String {
        let columns = (query.columns ?? []).compactMap { known in
            known.name == column ? name.map { "\"\(column)\" AS \"\($0)\"" } : "\"\(known.name)\""
        }
        return "SELECT \(columns.joined(separator: ", ")) FROM (\(query.statement.text));"
    }

    private static let isLong = ProcessInfo.processInfo.environment["DIARIO_LONG"] == "1"

    private static func asked() throws -> [PackQuery] {
        let queries = try fish().sql.queries.filter { $0.columns != nil }
        #expect(queries.count == 43)
        return queries
    }

    @Test(arguments: [nil, "other"])
    func aColumnThatTheSelectLacksIsTold(name: String?) throws {
        let fish = try Self.fish()
        for query in try Self.asked() {
            let columns = Array((query.columns ?? []).enumerated())
            // tools/nightly tries all.
            for (index, column) in columns
            where (columns.count != 1 || name != nil) && (Self.isLong || index % 4 == 0) {
                let changed = try Self.pack(fish, changing: query) { text in
                    text.replacing(
                        query.statement.text + ";",
                        with: Self.wrapped(query, column.name, as: name)
                    )
                }
                let problems = PackCheck.problems(of: changed).filter { $0.file == query.file }
                let isTold = problems.contains {
                    $0.rule == "query-answers" && $0.line == column.line
                        && $0.message.contains(column.name)
                }
                #expect(isTold, "\(query.name) \(column.name): \(problems)")
            }
        }
    }

    /// The same in both places: rules that were built with the column find it missing, and say so.
    @Test func aColumnThatRulesReadIsNeeded() throws {
        for query in try Self.asked() {
            let columns = (query.columns ?? []).map(\.name)
            let asked = AskedQuery(query.name, columns)
            for (index, column) in columns.enumerated() {
                var fewer = columns
                fewer[index] = "other"
                let fault = #expect(throws: RowFault.self) {
                    try RowValues.places(of: asked, in: fewer)
                }
                #expect(fault?.query == query.name && fault?.column == column)
            }
            // More columns, and others before them, are no matter.
            let places = try RowValues.places(of: asked, in: ["other"] + columns.reversed())
            #expect(places == Array((1...columns.count).reversed()))
        }
    }
}
