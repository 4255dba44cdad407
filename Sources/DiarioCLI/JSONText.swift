import DiarioSchema

/// As the commands call it.
typealias JSONText = JSONObjectWriter

extension Output {
    /// Adds an object as a line.
    func json(_ body: (inout JSONText) -> Void) throws(Failure) {
        let object = JSONText.object(body)
        try append {
            $0 += object
            $0.append(0x0a)
        }
    }
}
