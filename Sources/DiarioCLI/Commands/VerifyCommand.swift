enum VerifyCommand { static func run(_ call: Invocation) throws(Failure) {} }
