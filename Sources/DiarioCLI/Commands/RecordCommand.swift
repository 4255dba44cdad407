enum RecordCommand { static func run(_ call: Invocation) throws(Failure) {} }
