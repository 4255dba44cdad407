extension SegmentRows {
    /// Leaves out rows of other types than these from now on, and never reads their blocks.
    ///
    /// Comes before the first row is read.
    package mutating func want(types: Set<Int>) {
        precondition(
            nextEvent == reader.wanted.lowerBound,
            "what was left out cannot be taken up again"
        )
        window.wantedTypes = reader.index.types.indices.map { types.contains($0) }
    }

    /// Goes to an event; no block of fields is read for that.
    mutating func seek(_ event: Int) throws(SegmentError) {
        for type in types.indices { types[type].isBehind = true }
        window.nextActor = envelope.actors.place(of: event)
        window.nextSubject = envelope.subjects.place(of: event)
        window.nextErasure = erasures.firstIndex { $0.event >= event } ?? erasures.count
        nextEvent = event
        hasStarted = true
    }

    /// Goes to the first row of a type that is that of an event from this one on.
    mutating func seek(_ event: Int, type: Int) throws(SegmentError) {
        types[type].isBehind = false
        let row = try reader.events(ofType: type).firstPlace(notBefore: event)
        let blocks = types[type].blocks
        guard
            let next = blocks.firstIndex(where: { reader.index.blocks[$0].rows.upperBound > row })
        else { return }
        let block = reader.index.blocks[blocks[next]]
        let place = row - block.firstRow
        let personalRows = try reader.personalRows(inBlock: blocks[next])
        let personalRow = personalRows.firstPlace(notBefore: place)
        types[type].seek(next, row: place, personalRow: personalRow)
    }
}

extension EnvelopeTexts {
    /// Where the first text among `values` is that of an event from this one on.
    fileprivate func place(of event: Int) -> Int {
        (present?.firstPlace(notBefore: event) ?? event) - firstValue
    }
}
