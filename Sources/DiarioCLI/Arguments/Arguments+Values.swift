package import DiarioCore

// The values of options, each read in one way for all commands.
extension Arguments {
    /// A whole number of at least `minimum`.
    package func count(_ name: String, from minimum: UInt64) throws -> UInt64? {
        guard let text = value(name) else { return nil }
        guard let number = UInt64(text), number >= minimum, number <= UInt64(Int64.max) else {
            throw invalid(name, text, "a whole number from \(minimum)")
        }
        return number
    }

    /// A moment: RFC 3339, milliseconds since 1970, or a date, of which it is the first moment.
    package func time(_ name: String) throws -> Timestamp? {
        guard let text = value(name) else { return nil }
        guard let time = Self.time(text) else {
            throw invalid(
                name,
                text,
                "a time such as 2026-05-04T07:30:00Z, a date, or milliseconds since 1970"
            )
        }
        return time
    }

    package func replica(_ name: String) throws -> ReplicaID? {
        guard let text = value(name) else { return nil }
        guard let replica = ReplicaID(text: text) else {
            throw invalid(name, text, "13 characters such as 7zk3m9q2c1f4a")
        }
        return replica
    }

    /// One of the words that the value of an option may be.
    package func choice<Choice>(
        _ name: String,
        _ choices: [(word: String, value: Choice)]
    ) throws -> Choice? {
        guard let text = value(name) else { return nil }
        guard let found = choices.first(where: { $0.word == text }) else {
            throw invalid(name, text, choices.map(\.word).joined(separator: " or "))
        }
        return found.value
    }

    private static func time(_ text: String) -> Timestamp? {
        let bytes = Array(text.utf8)
        if let days = CivilTime.parseDate(bytes.span) {
            return Timestamp(milliseconds: days * 86_400_000)
        }
        if let time = CivilTime.parseDateTime(bytes.span) { return time }
        // 2026 means the year, and not two seconds after 1970 began.
        guard let milliseconds = Int64(text), !(1900...2199).contains(milliseconds) else {
            return nil
        }
        let time = Timestamp(milliseconds: milliseconds)
        return CivilTime.contains(time) ? time : nil
    }

    private func invalid(_ name: String, _ text: String, _ wanted: String) -> Failure {
        .usage("--\(name) \(CellText.oneLine(text)) is not right; give \(wanted)", in: command)
    }
}
