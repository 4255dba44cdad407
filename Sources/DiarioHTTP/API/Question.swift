import DiarioCore
import DiarioServer

/// A request to a space by somebody who is known.
struct Question {
    let request: HTTPRequest
    let token: Token
    let space: NamedSpace
    let turn: Turn

    /// In whose place it runs if it may take long.
    var owner: ReadOwner { ReadOwner(space: space.name.text, token: token.id.text) }

    /// Refuses whoever has none of these rights.
    func require(_ rights: Caller.Rights) throws {
        guard token.rights.isDisjoint(with: rights.union(.admin)) else { return }
        let words = rights.words
        throw Problem(
            .forbidden,
            "The token does not give the right \(words.joined(separator: " or ")).",
            remedy: "Ask for a token with it: diario token create --rights \(words[0])"
        )
    }

    func text(_ name: String) throws -> String? { try request.text(name) }

    func number(_ name: String, in range: ClosedRange<UInt64>) throws -> UInt64? {
        guard let text = try text(name) else { return nil }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt64(text),
            range.contains(number)
        else {
            throw Problem(
                .malformed,
                "`\(name)` is not a whole number from \(range.lowerBound) to \(range.upperBound)."
            )
        }
        return number
    }

    func time(_ name: String) throws -> Timestamp? {
        guard let text = try text(name) else { return nil }
        guard let time = CivilTime.parseDateTime(Array(text.utf8).span) else {
            throw Problem(
                .malformed,
                "`\(name)` is no time.",
                remedy: "Give it as 2026-03-02T07:00:00Z."
            )
        }
        return time
    }

    /// Refuses parameters that nobody here knows: a mistyped one would be passed over in silence.
    func allow(_ names: [String]) throws {
        for parameter in request.query where !names.contains(parameter.name) {
            throw Problem(
                .malformed,
                "There is no parameter `\(parameter.name)` here."
                    + (names.isEmpty ? "" : " There is: \(names.joined(separator: ", ")).")
            )
        }
    }
}

extension HTTPRequest {
    /// The value of a parameter of the address; nil if it is not there.
    func text(_ name: String) throws -> String? {
        let found = query.filter { $0.name == name }
        guard found.count < 2 else { throw Problem(.malformed, "`\(name)` is there twice.") }
        guard let first = found.first else { return nil }
        guard let value = first.value else {
            throw Problem(.malformed, "`\(name)` has no value: give `\(name)=...`.")
        }
        return value
    }
}
