/// Swift source, put together line by line.
struct SwiftText {
    private(set) var text = ""
    private var depth = 0

    private static let width = 100

    /// Adds a line; an empty one has no blanks.
    mutating func line(_ line: String = "") {
        text += line.isEmpty ? "\n" : String(repeating: "    ", count: depth) + line + "\n"
    }

    /// Adds a call on one line, or on one for each argument if it is too long for one.
    mutating func call(_ head: String, _ arguments: [String]) {
        let one = "\(head)(\(arguments.joined(separator: ", ")))"
        guard 4 * depth + one.count > Self.width else { return line(one) }
        line(head + "(")
        indented { text in
            for (index, argument) in arguments.enumerated() {
                text.line(argument + (index + 1 < arguments.count ? "," : ""))
            }
        }
        line(")")
    }

    /// Adds `head` and, between braces, everything that `body` adds.
    mutating func block(_ head: String, _ body: (inout SwiftText) -> Void) {
        line(head + " {")
        indented(body)
        line("}")
    }

    /// Adds what `body` adds, one step further to the right.
    mutating func indented(_ body: (inout SwiftText) -> Void) {
        depth += 1
        body(&self)
        depth -= 1
    }

    /// A parameter of a function.
    typealias Parameter = (name: String, type: String, mayBeLeftOut: Bool)

    /// Adds parameters, each on a line.
    mutating func parameters(_ parameters: [Parameter]) {
        for (index, parameter) in parameters.enumerated() {
            let absent = parameter.mayBeLeftOut ? " = nil" : ""
            let comma = index + 1 < parameters.count ? "," : ""
            line("\(parameter.name): \(parameter.type)\(absent)\(comma)")
        }
    }

    /// Adds an initializer that takes a value for each member.
    mutating func initializer(_ access: String, _ members: [Parameter]) {
        guard !members.isEmpty else { return line("\(access) init() {}") }
        line("\(access) init(")
        indented { $0.parameters(members) }
        line(") {")
        indented { text in
            for member in members { text.line("self.\(member.name) = \(member.name)") }
        }
        line("}")
    }

    /// Adds paragraphs as a documentation comment.
    mutating func comment(_ paragraphs: [String]) {
        for (index, paragraph) in paragraphs.enumerated() {
            if index > 0 { line("///") }
            let room = Self.width - 4 * depth - 4
            var current = ""
            for word in paragraph.split(whereSeparator: \.isWhitespace) {
                if !current.isEmpty, current.count + 1 + word.count > room {
                    line("/// " + current)
                    current = ""
                }
                current += (current.isEmpty ? "" : " ") + word
            }
            if !current.isEmpty { line("/// " + current) }
        }
    }

    /// Adds a literal of several lines, after `head` if there is one.
    mutating func literal(_ content: String, after head: String = "") {
        let isAlone = head.isEmpty
        let room = Self.width - 4 * (depth + (isAlone ? 0 : 1))
        let (fence, lines) = Literal.block(content, width: room)
        line("\(head)\(fence)\"\"\"")
        if !isAlone { depth += 1 }
        for part in lines { line(part) }
        line("\"\"\"\(fence)")
        if !isAlone { depth -= 1 }
    }
}
