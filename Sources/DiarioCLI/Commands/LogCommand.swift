enum LogCommand { static func run(_ call: Invocation) throws(Failure) {} }
