import DiarioCore

extension SeededRandom {
    mutating func pick<Choice>(_ choices: [Choice]) -> Choice { choices[below(choices.count)] }

    /// One of several, each as often as its weight says.
    mutating func pick<Choice>(_ choices: [Choice], weight: (Choice) -> Int) -> Choice {
        var rest = below(choices.reduce(0) { $0 + weight($1) })
        for choice in choices {
            rest -= weight(choice)
            if rest < 0 { return choice }
        }
        preconditionFailure("a draw is below the sum of the weights")
    }

    mutating func letters(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(ascii: "a") + UInt8(below(26)) }
    }
}
