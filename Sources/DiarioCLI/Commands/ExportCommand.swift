enum ExportCommand { static func run(_ call: Invocation) throws(Failure) {} }
