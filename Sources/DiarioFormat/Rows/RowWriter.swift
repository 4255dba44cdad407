import DiarioCore

/// The part of a row before its flags.
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

/// Writes rows from the bytes of a draft.
struct RowWriter: ~Escapable {
    private let source: RawSpan

    @_lifetime(copy source)
    init(source: RawSpan) { self.source = source }

    /// Writes the row of an event without references.
    private func write(
        _ event: DraftEvent,
        _ place: RowPlace,
        into output: inout OutputSpan<UInt8>
    ) {
        writeHead(
            publicSize: Int(event.personalStart - event.start),
            personalSize: Int(event.end - event.personalStart),
            place,
            into: &output
        )
        output.append(contentsOf: source.extracting(Int(event.start)..<Int(event.end)))
    }

    /// Writes the row of any event; the batch's first one has `firstOrigin`.
    func write(
        _ event: DraftEvent,
        _ place: RowPlace,
        of batch: DraftBatch,
        firstOrigin: Origin,
        into output: inout OutputSpan<UInt8>
    ) {
        guard event.referenceCount > 0 else { return write(event, place, into: &output) }
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
        writeHead(publicSize: publicSize, personalSize: personalSize, place, into: &output)
        var start = Int(event.start)
        for reference in references {
            let origin = Origin(
                replica: firstOrigin.replica,
                sequence: firstOrigin.sequence + UInt64(reference.target)
            )
            output.append(contentsOf: source.extracting(start..<Int(reference.offset)))
            output.append(varint: UInt64(OriginText.size(origin.sequence)))
            output.append(textOf: origin)
            start = Int(reference.offset)
        }
        output.append(contentsOf: source.extracting(start..<Int(event.end)))
    }

    private func writeHead(
        publicSize: Int,
        personalSize: Int,
        _ place: RowPlace,
        into output: inout OutputSpan<UInt8>
    ) {
        let atOffset = Varint.zigzag(place.atOffset)
        let prefixSize =
            Varint.size(place.batchOffset) + Varint.size(place.batchCount) + 8
            + Varint.size(atOffset) + Varint.size(place.base)
        output.append(varint: UInt64(prefixSize + publicSize))
        output.append(varint: UInt64(personalSize))
        output.append(varint: place.typeIndex)
        output.append(varint: place.batchOffset)
        output.append(varint: place.batchCount)
        output.append(littleEndian: place.clock)
        output.append(varint: atOffset)
        output.append(varint: place.base)
    }
}
