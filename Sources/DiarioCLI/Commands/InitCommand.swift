enum InitCommand { static func run(_ call: Invocation) throws(Failure) {} }
