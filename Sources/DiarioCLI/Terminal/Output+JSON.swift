import DiarioSchema

extension Output {
    /// Adds an object as a line.
    func json(_ body: (inout JSONObjectWriter) -> Void) throws(Failure) {
        let object = JSONObjectWriter.object(body)
        try append {
            $0 += object
            $0.append(0x0a)
        }
    }
}
