public import DiarioCore
import DiarioEngine
public import DiarioSchema

/// What came of a command.
public struct CommandAnswer<Result: NestedValues>: Sendable {
    /// What the command answers.
    public let result: Result
    /// The origins of its events, in order: recorded now, or before if it was the same call again.
    public let origins: [Origin]
    /// True if something was recorded.
    public let isNew: Bool
}

extension Diary {
    /// Calls a command or a view of a pack.
    ///
    /// ```swift
    /// let judge = Fish.Judge(speciesId: "sardina", lengthUm: 115_000, on: day)
    /// let answer = try await diary.call(judge).result
    /// ```
    ///
    /// A command checks the rules of its domain and records what follows, all or nothing, in one
    /// step: what others record meanwhile makes it run again. What it recorded survives a power cut
    /// when this returns; when it throws, nothing is recorded.
    ///
    /// - Parameters:
    ///   - input: The input, of a type that stands for the command itself.
    ///   - at: When it happens; now if nil.
    ///   - actor: Who does it: an opaque id; if nil, the one that is kept for this replica.
    ///   - language: That of messages; if nil, the one that the actor prefers, else English.
    ///   - isDryRun: Whether to compute everything and record nothing.
    /// - Returns: What the command or the view answers, and what was recorded.
    /// - Throws: ``DiarioError``, of the kind ``DiarioError/Kind/rule`` if a rule of the domain
    ///   forbids it.
    public func call<Input: CommandInput>(
        _ input: Input,
        at: Timestamp? = nil,
        actor: String? = nil,
        language: Language? = nil,
        isDryRun: Bool = false
    ) async throws -> CommandAnswer<Input.Result> {
        var call = Call(Input.declaration.name, input.values.json)
        call.at = at
        if let language { call.language = language } else { call.isLanguageUsual = true }
        call.isDryRun = isDryRun
        try refresh()
        call.actor = try actor ?? space.defaultActor()
        let answer = try models().call(call, of: [Input.domain])
        if answer.isNew { changes.raise() }
        let result: Input.Result
        do {
            result = try Input.Result(from: CommandValues(JSON.parse(answer.result).value))
        } catch let error as SchemaError {
            throw DiarioError(error)
        }
        return CommandAnswer(
            result: result,
            origins: answer.events.compactMap(\.origin),
            isNew: answer.isNew
        )
    }

    /// Who acts on this replica where nobody is named; nil if nobody said so.
    public func defaultActor() throws -> String? { try space.defaultActor() }

    /// Remembers who acts on this replica, beside it and not in the log, or forgets them.
    public func setDefaultActor(_ actor: String?) throws { try space.setDefaultActor(actor) }
}
