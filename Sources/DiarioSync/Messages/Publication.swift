package import DiarioCore
package import DiarioCrypto
import DiarioFormat

/// The outcome of an attempt to publish a space: schema/format/sync.md, section 10.
package struct Publication: Equatable, Sendable {
    package enum Outcome: Equatable, Sendable {
        /// So many events are there, and these packs are not.
        case goesOn(taken: UInt64, wanted: [Hash32])
        case adopted
        /// It will never be adopted.
        case ended(Reason)
    }

    /// Why an attempt is ended.
    package enum Reason: UInt8, Hashable, Sendable, CaseIterable {
        case abandoned = 1
        case taken = 2
        case diverged = 3
        case aheadOfTime = 4
        case root = 5
        case malformed = 6
    }

    package var attempt: AttemptID
    package var outcome: Outcome
    /// What happened and what to do, in a sentence or two.
    package var message: String

    package init(attempt: AttemptID, outcome: Outcome, _ message: String) {
        self.attempt = attempt
        self.outcome = outcome
        self.message = message
    }
}

extension Publication {
    /// Bytes of a text that are read at most.
    private static let messageSizeMax = 4096

    init(_ reader: inout ByteReader) throws(FormatError) {
        attempt = try reader.nextAttempt()
        let start = reader.offset
        let tag = try reader.next(UInt8.self)
        let code = try reader.nextVarint()
        let taken = try reader.nextNumber(.position)
        let count = try reader.nextCount(entrySizeMin: Hash32.size, .message)
        guard count <= Limits.wantedPackCountMax else { throw .malformed(.message, at: start) }
        var wanted: [Hash32] = []
        for _ in 0..<count { wanted.append(try reader.nextHash()) }
        let isEmpty = taken == 0 && wanted.isEmpty
        switch (tag, UInt8(exactly: code).flatMap(Reason.init(rawValue:))) {
        case (1, nil) where code == 0: outcome = .goesOn(taken: taken, wanted: wanted)
        case (2, nil) where code == 0 && isEmpty: outcome = .adopted
        case (3, let reason?) where isEmpty: outcome = .ended(reason)
        default: throw .malformed(.message, at: start)
        }
        let text = try reader.nextText()
        guard text.count <= Self.messageSizeMax else {
            throw .tooLarge(.message, size: UInt64(text.count), max: Self.messageSizeMax)
        }
        message = String(decoding: reader.copy(text), as: UTF8.self)
    }

    func write(into output: inout [UInt8]) {
        var (tag, code, taken, wanted): (UInt8, UInt8, UInt64, [Hash32]) = (2, 0, 0, [])
        switch outcome {
        case .goesOn(let there, let missing): (tag, taken, wanted) = (1, there, missing)
        case .adopted: break
        case .ended(let reason): (tag, code) = (3, reason.rawValue)
        }
        output.append(attempt)
        output.append(tag)
        output.append(varint: UInt64(code))
        output.append(varint: taken)
        output.append(varint: UInt64(wanted.count))
        for fingerprint in wanted { output.append(fingerprint) }
        output.append(text: message)
    }
}
