extension ReadModels {
    /// Does a part of what `update` does for all packs, until `isOver`; false once all is done.
    ///
    /// A transaction may stay open after it, of which readers see nothing, and which the next call
    /// of whatever changes read models ends.
    package func updateStep(isOver: () -> Bool) throws(DiarioError) -> Bool {
        guard !place.isReadOnly else { return false }
        repeat {
            // After a failure it begins where the files are.
            if let part = part.take() {
                self.part = try part.step(in: self)
            } else {
                part = try UpdatePart.next(of: self)
                if part == nil { return false }
            }
        } while !isOver()
        return true
    }

    /// Commits what a step left open.
    package func endPart() throws(DiarioError) { try part.take()?.end() }
}
