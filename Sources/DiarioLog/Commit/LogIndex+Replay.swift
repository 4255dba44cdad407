import DiarioCore
import DiarioFormat
import DiarioFrames
import DiarioStorage

// What frames say is noted in the index.

extension LogIndex {
    /// Replays the frames of a piece, which are on disk.
    mutating func replay(_ piece: FramePiece, _ engine: EngineReader) throws(FrameError) {
        let bytes = piece.bytes.span
        var stretch: PlainStretch?
        for frame in piece.frames {
            let place = piece.place(of: frame)
            note(place)
            let own = OwnRows(frame, bytes)
            if let own, stretch?.extend(by: own, at: place) == true { continue }
            if let stretch { apply(stretch) }
            stretch = own.flatMap { PlainStretch($0, at: place) }
            if stretch == nil { try replay(bytes, frame.body, of: place, engine) }
        }
        if let stretch { apply(stretch) }
    }

    /// Replays the records of one frame, which lie in `body` of bytes from `place` on or earlier.
    mutating func replay(
        _ bytes: Span<UInt8>,
        _ body: Range<Int>,
        of place: FramePlace,
        _ engine: EngineReader
    ) throws(FrameError) {
        note(place)
        // Where the file's byte that `bytes` counts as its first one lies.
        let origin = place.offset + FrameHeader.size - body.lowerBound
        var offset = body.lowerBound
        while offset < body.upperBound {
            guard let record = Record.read(bytes, at: offset, end: body.upperBound) else {
                throw .damaged(fault(place, offset + origin, "a record does not verify"))
            }
            do throws(FormatError) {
                guard try replay(record, bytes, of: place, origin: origin, engine) else {
                    throw FormatError.malformed(.row, at: record.content.lowerBound)
                }
            } catch {
                throw .damaged(fault(place, offset + origin, error.message))
            }
            offset = record.content.upperBound
        }
    }

    /// Replays plain rows of a frame.
    mutating func replay(_ own: OwnRows, of place: FramePlace) {
        note(place)
        let block = BlockPlace(
            file: place.file,
            offset: place.offset + own.offset,
            size: own.size
        )
        apply(own.rows, of: own.space, at: block)
    }

    /// Replays one record; false if its content is not what its kind demands.
    private mutating func replay(
        _ record: Record,
        _ bytes: Span<UInt8>,
        of place: FramePlace,
        origin: Int,
        _ engine: EngineReader
    ) throws(FormatError) -> Bool {
        let content = bytes.extracting(record.content)
        switch record.kind {
        case .rows:
            let summary = try BlockSummary.parse(content, verifyChecksum: false)
            let facts = try engine.facts(in: content, summary)
            try apply(
                content,
                summary,
                of: record.space,
                at: BlockPlace(
                    file: place.file,
                    offset: record.content.lowerBound + origin,
                    size: record.content.count
                ),
                facts: facts
            )
        case .seed:
            var reader = ByteReader(content.raw)
            guard let replica = ReplicaID(rawValue: try reader.next(UInt64.self)) else {
                return false
            }
            let group = try reader.next(UInt64.self)
            apply(
                SaltSeed(replica: replica, group: group, root: try Salt(&reader)),
                of: record.space,
                file: place.file
            )
        case .promotion:
            guard let runs = PromotedRun.read(content) else { return false }
            apply(runs, of: record.space)
        case .state:
            guard let state = SpaceState(content) else { return false }
            apply(state, of: record.space, file: place.file, size: record.size)
        case .sealed:
            guard let rows = SealedRows(content) else { return false }
            apply(rows, of: record.space, file: place.file)
        case .dropped:
            guard record.content.isEmpty else { return false }
            drop(record.space)
        }
        return true
    }

    private func fault(_ place: FramePlace, _ offset: Int, _ what: String) -> Fault {
        Fault(file: FramePaths.file(place.file), offset: offset, what: what)
    }
}
