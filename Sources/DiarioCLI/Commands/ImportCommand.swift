enum ImportCommand { static func run(_ call: Invocation) throws(Failure) {} }
