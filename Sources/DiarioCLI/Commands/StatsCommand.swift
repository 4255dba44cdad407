enum StatsCommand { static func run(_ call: Invocation) throws(Failure) {} }
