extension SegmentRows {
    /// Leaves out rows of other types than these from now on, and never reads their blocks.
    ///
    /// Comes before the first row is read.
    package mutating func want(types: Set<Int>) {
        precondition(nextEvent == 0, "what was left out cannot be taken up again")
        window.wantedTypes = reader.index.types.indices.map { types.contains($0) }
    }

    /// Goes to an event; no block is read for that.
    mutating func seek(_ event: Int) {
        var places = SeekPlaces(
            firstRows: types.map { type in
                type.blocks.map { reader.index.blocks[$0].firstRow }
            }
        )
        var (actor, subject, erasure) = (0, 0, 0)
        for event in 0..<event {
            let flags = RowFlags(rawValue: UInt8(truncatingIfNeeded: envelope.flags[event]) & 31)
            if flags.contains(.actor) { actor += 1 }
            if flags.contains(.subject) { subject += 1 }
            let isErased = erasure < erasures.count && erasures[erasure].event == event
            if isErased { erasure += 1 }
            places.take(
                Int(envelope.types[event]),
                isPersonal: flags.contains(.personal) && !isErased
            )
        }
        for type in types.indices where !types[type].blocks.isEmpty {
            let place = places.places[type]
            types[type].seek(place.block, row: place.row, personalRow: place.personalRow)
        }
        window.nextActor = actor
        window.nextSubject = subject
        window.nextErasure = erasure
        nextEvent = event
    }
}

/// How many rows of each type come before an event, counted by block.
private struct SeekPlaces {
    struct Place {
        /// The place among the blocks of the type.
        var block = 0
        /// From the first row of the block.
        var row = 0
        /// The same, of rows with a personal part.
        var personalRow = 0
    }

    private let firstRows: [[Int]]
    private(set) var places: [Place]

    init(firstRows: [[Int]]) {
        self.firstRows = firstRows
        places = [Place](repeating: Place(), count: firstRows.count)
    }

    mutating func take(_ type: Int, isPersonal: Bool) {
        places[type].row += 1
        if isPersonal { places[type].personalRow += 1 }
        let block = places[type].block
        guard block + 1 < firstRows[type].count,
            firstRows[type][block] + places[type].row == firstRows[type][block + 1]
        else { return }
        places[type] = Place(block: block + 1)
    }
}
