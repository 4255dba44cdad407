import DiarioCore

/// What a row says in front of its flags.
struct RowPlace {
    var typeIndex: UInt64
    var batchOffset: UInt64
    var batchCount: UInt64
    var clock: UInt64
    var atOffset: Int64
    var base: UInt64
}

/// Upper bounds of the bytes that a row takes in a block.
enum RowSize {
    /// The three numbers in front: two sizes of an event, and the index of a type.
    static let headMax = 3 + 3 + 3

    static func max(of event: DraftEvent) -> Int {
        headMax + PublicPart.prefixSizeMax + event.size
            + Int(event.referenceCount) * DraftReference.sizeMax
    }
}

/// Writes rows of drafts to memory that has room for them.
@unsafe struct RowWriter: ~Escapable {
    private var writer: WireWriter
    private let source: RawSpan

    @_lifetime(copy source)
    init(_ writer: WireWriter, source: RawSpan) {
        unsafe self.writer = unsafe writer
        unsafe self.source = source
    }

    var offset: Int { unsafe writer.offset }

    /// Writes the row of an event without references.
    @_lifetime(self: copy self)
    mutating func write(_ event: DraftEvent, _ place: RowPlace) {
        unsafe writeHead(
            publicSize: Int(event.personalStart - event.start),
            personalSize: Int(event.end - event.personalStart),
            place
        )
        unsafe copy(Int(event.start), Int(event.end))
    }

    /// Writes the row of any event; the batch's first one has `firstOrigin`.
    @_lifetime(self: copy self)
    mutating func write(
        _ event: DraftEvent,
        _ place: RowPlace,
        of batch: DraftBatch,
        firstOrigin: Origin
    ) {
        var publicSize = Int(event.personalStart - event.start)
        var personalSize = Int(event.end - event.personalStart)
        let references = batch.references(of: event)
        for reference in references {
            let size = OriginText.size(firstOrigin.sequence + UInt64(reference.target)) + 1
            // A personal part starts with its bitmap, so at its start the public part ends.
            if reference.offset <= event.personalStart {
                publicSize += size
            } else {
                personalSize += size
            }
        }
        unsafe writeHead(publicSize: publicSize, personalSize: personalSize, place)
        var start = Int(event.start)
        for reference in references {
            unsafe copy(start, Int(reference.offset))
            start = Int(reference.offset)
            unsafe writer.text(
                of: Origin(
                    replica: firstOrigin.replica,
                    sequence: firstOrigin.sequence + UInt64(reference.target)
                )
            )
        }
        unsafe copy(start, Int(event.end))
    }

    @_lifetime(self: copy self)
    private mutating func writeHead(publicSize: Int, personalSize: Int, _ place: RowPlace) {
        let atOffset = Varint.zigzag(place.atOffset)
        let prefixSize =
            Varint.size(place.batchOffset) + Varint.size(place.batchCount) + 8
            + Varint.size(atOffset) + Varint.size(place.base)
        unsafe writer.varint(UInt64(prefixSize + publicSize))
        unsafe writer.varint(UInt64(personalSize))
        unsafe writer.varint(place.typeIndex)
        unsafe writer.varint(place.batchOffset)
        unsafe writer.varint(place.batchCount)
        unsafe writer.fixed(place.clock)
        unsafe writer.varint(atOffset)
        unsafe writer.varint(place.base)
    }

    @_lifetime(self: copy self)
    private mutating func copy(_ start: Int, _ end: Int) {
        unsafe writer.bytes(source.extracting(start..<end))
    }
}
