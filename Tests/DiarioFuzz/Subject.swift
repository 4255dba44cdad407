import DiarioCore

/// A parser that bytes from outside reach: it must return or throw, whatever they are.
enum Subject: String, CaseIterable {
    case origin

    /// Runs the parser once, and checks what it says about bytes that it takes.
    func run(_ bytes: [UInt8]) {
        switch self {
        case .origin: Self.origin(bytes)
        }
    }

    /// An origin is taken only in the one form in which it is shown.
    private static func origin(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let origin = Origin(text: text) else { return }
        precondition(origin.text == text, "an origin has one form")
    }
}
