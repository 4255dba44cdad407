enum SchemaCommand {
    static func check(_ call: Invocation) throws(Failure) {}
    static func list(_ call: Invocation) throws(Failure) {}
    static func adopt(_ call: Invocation) throws(Failure) {}
}
