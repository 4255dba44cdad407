/// The arguments of one benchmark: flags and options with values, each read once.
struct Arguments {
    private var rest: [String]

    init(_ arguments: [String]) { rest = arguments }

    /// The first of what is left.
    mutating func next() -> String? { rest.isEmpty ? nil : rest.removeFirst() }

    /// True if `name` is there.
    mutating func flag(_ name: String) -> Bool {
        guard let index = rest.firstIndex(of: name) else { return false }
        rest.remove(at: index)
        return true
    }

    /// The value after `name`, or in `name=value`; nil if it is not there.
    mutating func value(_ name: String) throws -> String? {
        if let index = rest.firstIndex(where: { $0.hasPrefix(name + "=") }) {
            return String(rest.remove(at: index).dropFirst(name.count + 1))
        }
        guard let index = rest.firstIndex(of: name) else { return nil }
        guard index + 1 < rest.count else {
            throw BenchError.usage("\(name) needs a value after it")
        }
        let value = rest[index + 1]
        rest.removeSubrange(index...index + 1)
        return value
    }

    /// A whole number, with or without `_` and `,` between its digits.
    mutating func count(_ name: String, _ range: ClosedRange<Int>) throws -> Int? {
        guard let text = try value(name) else { return nil }
        guard let number = Int(text.filter { $0 != "_" && $0 != "," }), range.contains(number)
        else {
            throw BenchError.usage(
                "\(name) takes a number from \(range.lowerBound) to \(range.upperBound), "
                    + "not \(text)"
            )
        }
        return number
    }

    mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String,
        _ choices: Choice.Type
    ) throws -> Choice? where Choice.RawValue == String {
        try self.choices(name, choices)?.first
    }

    /// Some of the choices, with commas between them; nil if the option is not there.
    mutating func choices<Choice: RawRepresentable & CaseIterable>(
        _ name: String,
        _ choices: Choice.Type
    ) throws -> [Choice]? where Choice.RawValue == String {
        guard let text = try value(name) else { return nil }
        var list: [Choice] = []
        for word in text.split(separator: ",").map(String.init) {
            guard let choice = Choice(rawValue: word) else {
                let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
                throw BenchError.usage("\(name) takes one of \(names), not \(word)")
            }
            list.append(choice)
        }
        return list
    }

    /// Makes sure that nothing is left that nobody asked for.
    func finish() throws {
        if let first = rest.first { throw BenchError.usage("\(first) means nothing here") }
    }
}
