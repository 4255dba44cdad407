enum ShowCommand { static func run(_ call: Invocation) throws(Failure) {} }
