package import DiarioCore
import DiarioFormat

/// The authority's answer to a run of pushed events.
package struct Verdict: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The first of them has this position, and the others follow.
        case accepted(firstPosition: UInt64, acceptedAt: Timestamp)
        /// The event at this position says why.
        case refused(position: UInt64)
        /// The authority has not seen the events before those that were pushed.
        case gap
        /// Another event is known under the first of these origins.
        case forked
    }

    package var firstSequence: UInt64
    package var count: UInt64
    package var kind: Kind

    package init(firstSequence: UInt64, count: UInt64, kind: Kind) {
        self.firstSequence = firstSequence
        self.count = count
        self.kind = kind
    }
}

/// The answer to a push.
package struct Verdicts: Equatable, Sendable {
    package var epoch: UInt64
    /// Of the authority, after the push.
    package var head: UInt64
    /// In order of sequence.
    package var list: [Verdict]

    package init(epoch: UInt64, head: UInt64, list: [Verdict]) {
        self.epoch = epoch
        self.head = head
        self.list = list
    }
}

extension Verdicts {
    init(_ reader: inout ByteReader) throws(FormatError) {
        epoch = try reader.nextVarint()
        head = try reader.nextNumber(.position)
        let count = try reader.nextCount(entrySizeMin: 3, .verdict)
        list = []
        for _ in 0..<count {
            let start = reader.offset
            let verdict = try Verdict(&reader)
            // Each begins where the one before ends, and nothing follows a gap or a fork.
            if let last = list.last {
                guard last.count > 0, verdict.isEnd || verdict.firstSequence == last.end else {
                    throw .malformed(.verdict, at: start)
                }
            }
            list.append(verdict)
        }
    }

    func write(into output: inout [UInt8]) {
        output.append(varint: epoch)
        output.append(varint: head)
        output.append(varint: UInt64(list.count))
        for verdict in list { verdict.write(into: &output) }
    }
}

extension Verdict {
    var end: UInt64 { firstSequence + count }

    /// True if nothing after it was judged.
    package var isEnd: Bool {
        switch kind {
        case .accepted, .refused: false
        case .gap, .forked: true
        }
    }

    fileprivate init(_ reader: inout ByteReader) throws(FormatError) {
        let start = reader.offset
        let tag = try reader.next(UInt8.self)
        firstSequence = try reader.nextNumber(.sequence)
        count = try reader.nextNumber(.verdict)
        switch tag {
        case 1:
            kind = .accepted(
                firstPosition: try reader.nextNumber(.position),
                acceptedAt: try reader.nextTime()
            )
        case 2: kind = .refused(position: try reader.nextNumber(.position))
        case 3: kind = .gap
        case 4: kind = .forked
        default: throw .malformed(.verdict, at: start)
        }
        guard firstSequence > 0, (count == 0) == isEnd else {
            throw .malformed(.verdict, at: start)
        }
    }

    fileprivate func write(into output: inout [UInt8]) {
        let tag: UInt8 =
            switch kind {
            case .accepted: 1
            case .refused: 2
            case .gap: 3
            case .forked: 4
            }
        output.append(tag)
        output.append(varint: firstSequence)
        output.append(varint: count)
        switch kind {
        case .accepted(let firstPosition, let acceptedAt):
            output.append(varint: firstPosition)
            output.append(zigzag: acceptedAt.milliseconds)
        case .refused(let position): output.append(varint: position)
        case .gap, .forked: break
        }
    }
}
