package import DiarioCore
import DiarioFormat

/// Why the authority does nothing about a whole request.
package struct Refusal: Error, Hashable, Sendable {
    /// The table of schema/format/sync.md, section 7.
    package enum Reason: UInt8, Hashable, Sendable, CaseIterable {
        case malformed = 1
        case version = 2
        case unauthorized = 3
        case forbidden = 4
        case unknownSpace = 5
        case lineage = 6
        case epoch = 7
        case ahead = 8
        case diverged = 9
        case tooLarge = 10
        case tooFast = 11
        case full = 12
        case unavailable = 13
        case noPack = 14
        case waiting = 15
    }

    package var reason: Reason
    /// Its meaning depends on the reason.
    package var number: UInt64
    /// Of the space as the authority knows it; zero if it knows none.
    package var lineage: Lineage
    package var epoch: UInt64
    /// What is wrong and what to do, in a sentence or two.
    package var message: String

    package init(
        _ reason: Reason,
        number: UInt64 = 0,
        lineage: Lineage = Lineage(high: 0, low: 0),
        epoch: UInt64 = 0,
        _ message: String
    ) {
        self.reason = reason
        self.number = number
        self.lineage = lineage
        self.epoch = epoch
        self.message = message
    }
}

extension Refusal {
    /// Bytes of a message that are read at most.
    private static let messageSizeMax = 4096

    init(_ reader: inout ByteReader) throws(FormatError) {
        let start = reader.offset
        let code = try reader.nextVarint()
        guard let reason = UInt8(exactly: code).flatMap(Reason.init(rawValue:)) else {
            throw .malformed(.message, at: start)
        }
        self.reason = reason
        number = try reader.nextVarint()
        lineage = try reader.nextLineage()
        epoch = try reader.nextVarint()
        let text = try reader.nextText()
        guard text.count <= Self.messageSizeMax else {
            throw .tooLarge(.message, size: UInt64(text.count), max: Self.messageSizeMax)
        }
        message = String(decoding: reader.copy(text), as: UTF8.self)
    }

    func write(into output: inout [UInt8]) {
        output.append(varint: UInt64(reason.rawValue))
        output.append(varint: number)
        output.append(lineage)
        output.append(varint: epoch)
        output.append(text: message)
    }
}
