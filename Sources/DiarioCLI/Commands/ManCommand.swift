/// The command `diario man`.
enum ManCommand {
    static func run(_ call: Invocation) throws(Failure) {
        try call.output.append { $0 += ManualPage.text().utf8 }
    }
}
