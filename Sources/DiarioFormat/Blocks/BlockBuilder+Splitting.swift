import DiarioCore

extension BlockBuilder {
    /// Gives the block of the rows before one, and continues with the others alone.
    ///
    /// For a batch with a schema that the block cannot list beside those before: this is known
    /// only at that event, and batches stay whole. Arguments are those of `write`; `times` becomes
    /// those of the rest.
    package mutating func split(
        before event: Int,
        position: UInt64?,
        times: inout [AcceptedRun],
        isAuthority: Bool
    ) throws(FormatError) -> [UInt8] {
        precondition(event > 0 && event < eventCount, "there are rows on both sides")
        var all: [UInt8] = []
        write(into: &all, position: position, times: times, isAuthority: isAuthority)
        let bytes = all.span
        let head = try BlockHead.parse(bytes, verifyChecksum: false)
        let nodes = SaltNodes(head.saltNodes)
        var front = BlockBuilder()
        var salts: Set<SaltNode> = []
        removeAll()
        var cursor = RowCursor(bytes, head.summary)
        while let row = try cursor.next() {
            let isFront = row.index < event
            if row.index == event { salts.removeAll() }
            let type = head.types[row.typeIndex]
            var node: SaltNode?
            if case .present = row.personal {
                node = nodes.node(of: row.replica, sequence: row.sequence)
            }
            if let known = node, !salts.insert(known).inserted { node = nil }
            if isFront {
                try front.append(row, of: bytes, type: type)
                if let node { front.append(node) }
            } else {
                try append(row, of: bytes, type: type)
                if let node { append(node) }
            }
        }
        let frontTimes = AcceptedRun.cut(event, from: &times)
        var block: [UInt8] = []
        front.write(
            into: &block,
            position: position,
            times: frontTimes,
            isAuthority: isAuthority
        )
        return block
    }
}

extension AcceptedRun {
    /// Takes the times of the first `count` events away; nothing if there are none.
    fileprivate static func cut(_ count: Int, from times: inout [AcceptedRun]) -> [AcceptedRun] {
        var (front, rest): ([AcceptedRun], [AcceptedRun]) = ([], [])
        var left = count
        for time in times {
            let taken = min(left, time.count)
            left -= taken
            if taken > 0 {
                front.append(AcceptedRun(count: taken, acceptedAt: time.acceptedAt))
            }
            if taken < time.count {
                rest.append(AcceptedRun(count: time.count - taken, acceptedAt: time.acceptedAt))
            }
        }
        times = rest
        return front
    }
}
