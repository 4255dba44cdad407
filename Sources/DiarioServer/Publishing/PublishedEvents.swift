import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSync

/// The blocks of a publish, taken apart and checked as far as that can be without the log.
struct PublishedEvents {
    let contents: [Append.Content]
    let count: UInt64

    init(_ publish: Publish) throws(FormatError) {
        var unpacker = BlockUnpacker()
        var contents: [Append.Content] = []
        var (count, size) = (0, 0)
        var next = publish.before + 1
        for packed in publish.blocks {
            for (bytes, head) in try unpacker.unpackAll(packed) {
                count += head.summary.eventCount
                size += bytes.count
                guard count <= Limits.exchangeCountMax, size <= Limits.exchangeSizeMax else {
                    throw .tooLarge(.message, size: UInt64(size), max: Limits.exchangeSizeMax)
                }
                guard head.summary.firstPosition == next else {
                    throw .malformed(.position, at: BlockHeader.size)
                }
                next += UInt64(head.summary.eventCount)
                contents.append(.received(ReceivedRows(bytes, head)))
            }
        }
        guard next - 1 <= publish.standing.size else {
            throw .malformed(.position, at: BlockHeader.size)
        }
        self.contents = contents
        self.count = UInt64(count)
    }
}
