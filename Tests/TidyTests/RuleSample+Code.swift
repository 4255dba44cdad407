// Good and bad samples for the rules on one file of code.

extension RuleSample {
    private static func function(lineCount: Int, head: String = "func f() {") -> String {
        "\n" + head + "\n" + String(repeating: "    g()\n", count: lineCount - 2) + "}\n"
    }

    static let sizes = [
        RuleSample(
            "files",
            SizeRules.longFiles,
            good: String(repeating: "a\n", count: 500),
            bad: String(repeating: "a\n", count: 501),
            line: 501
        ),
        RuleSample(
            "scripts",
            SizeRules.longFiles,
            path: "tools/check",
            good: String(repeating: "a\n", count: 500),
            bad: String(repeating: "a\n", count: 501),
            line: 501
        ),
        RuleSample(
            "functions",
            SizeRules.longFunctions,
            good: function(lineCount: 70),
            bad: function(lineCount: 71),
            line: 2
        ),
        RuleSample(
            "initializers",
            SizeRules.longFunctions,
            good: function(lineCount: 90, head: "enum Init {"),
            bad: function(lineCount: 71, head: "init(a: () -> Void = {}) throws(E) {"),
            line: 2
        ),
        RuleSample(
            "requirements",
            SizeRules.longFunctions,
            good: "protocol P {\n func f()\n var v: Int { get }\n}\n" + function(lineCount: 70),
            bad: "protocol P {\n func f() }\n struct S {" + function(lineCount: 71),
            line: 4
        ),
        RuleSample(
            "functions of C",
            SizeRules.longFunctions,
            path: "Sources/CX/x.c",
            good: "struct x {\n" + String(repeating: "  int a(b);\n", count: 80) + "};\n",
            bad: function(lineCount: 71, head: "int f(void) {"),
            line: 2
        ),
        RuleSample(
            "lines",
            SizeRules.longLines,
            good: String(repeating: "a", count: 100),
            bad: "b\n" + String(repeating: "a", count: 101),
            line: 2
        ),
        RuleSample(
            "lines of JSON",
            SizeRules.longLines,
            path: "schema/a/pack.json",
            good: String(repeating: "\u{e9}", count: 100),
            bad: String(repeating: "\u{e9}", count: 101)
        ),
    ]

    static let words = [
        RuleSample(
            "testable",
            WordRules.bannedWords,
            good: "package import A",
            bad: "@testable import A"
        ),
        RuleSample("forced cast", WordRules.bannedWords, good: "a as? B", bad: "a as! B"),
        RuleSample(
            "fatal errors",
            WordRules.bannedWords,
            good: #"preconditionFailure("fatalError(")"#,
            bad: "fatalError()"
        ),
        RuleSample(
            "printing",
            WordRules.bannedWords,
            good: "fingerprint(a); a.print(b); print = 1 /* print( */",
            bad: #"let a = "\(print("x"))""#
        ),
        RuleSample(
            "printing by its module",
            WordRules.bannedWords,
            good: "a.print(b)",
            bad: "Swift.print(b)"
        ),
        RuleSample(
            "the date",
            WordRules.bannedWords,
            good: "Date(timeIntervalSince1970: 0)",
            bad: "let now = Date()"
        ),
        RuleSample("identifiers", WordRules.bannedWords, good: "UUID(a)", bad: "UUID()"),
        RuleSample(
            "chance",
            WordRules.bannedWords,
            good: "random.below(6)",
            bad: "Int.random(in: 1...6)"
        ),
        RuleSample("shuffling", WordRules.bannedWords, good: "shuffled", bad: "a.shuffled()"),
        RuleSample(
            "tasks",
            WordRules.bannedWords,
            good: "group.addTask { a() }",
            bad: "Task { a() }"
        ),
        RuleSample(
            "named tasks",
            WordRules.bannedWords,
            good: "Task<Void, Never>.self",
            bad: "Task(name: \"a\") { b() }"
        ),
        RuleSample(
            "detached tasks",
            WordRules.bannedWords,
            good: "Task.yield()",
            bad: "Task.detached { a() }"
        ),
        RuleSample(
            "foreign characters",
            WordRules.foreignCharacters,
            good: #"let a = "\u{e9}""#,
            bad: "a\n// \u{e9}",
            line: 2
        ),
    ]

    static let safety = [
        RuleSample(
            "unsafe",
            SafetyRules.unprovenUnsafe,
            good: """
                // Safe: it stays inside.
                let a = unsafe b()
                let c = unsafe d()

                // Safe: so does this.
                return f {
                    unsafe g($0)
                }
                unsafe h()  // Safe: a constant.
                @unsafe struct S {}
                // unsafe in words
                nonisolated(unsafe) var x = 1
                """,
            bad: "// Safe: one.\nlet a = unsafe b()\n\nlet c = d()\nlet e = unsafe f()",
            line: 5
        ),
        RuleSample(
            "unsafe below documentation",
            SafetyRules.unprovenUnsafe,
            good: "/// Does.\n// Safe: so.\nvar a: Int { unsafe b }",
            bad: "/// Does.\nvar a: Int { unsafe b }",
            line: 2
        ),
        RuleSample(
            "unsafe below a blank line",
            SafetyRules.unprovenUnsafe,
            good: "// Safe: so.\nguard a,\n    let b = unsafe c()\nelse { return }",
            bad: "// Safe: so.\n\nunsafe a()",
            line: 3
        ),
        RuleSample(
            "unchecked",
            SafetyRules.uncheckedSendable,
            good:
                "// Sendable because the mutex\n// guards it.\nclass A: @unchecked Sendable {}",
            bad: "// It is.\nclass A: @unchecked Sendable {}",
            line: 2
        ),
        RuleSample(
            "nonisolated",
            SafetyRules.uncheckedSendable,
            good: "// Sendable because never written.\nnonisolated(unsafe) let a = b",
            bad: "nonisolated(unsafe) var a = b"
        ),
    ]
}
