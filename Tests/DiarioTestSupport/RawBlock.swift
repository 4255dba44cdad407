import DiarioCore
import DiarioCrypto
import DiarioFormat

/// A block as its parts, written without any check: a second writer, and one that can lie.
package struct RawBlock {
    package var flags: UInt16 = 0
    /// Nil for the true one.
    package var eventCount: UInt32?
    package var highestClock: UInt64 = 0
    package var position: UInt64?
    package var times: [(count: UInt64, acceptedAt: Int64)] = []
    package var replicas: [UInt64] = []
    package var runs: [(replica: UInt64, first: UInt64, count: UInt64)] = []
    package var types: [(name: [UInt8], version: UInt64, fingerprint: [UInt8])] = []
    package var nodes:
        [(replica: UInt64, group: UInt64, level: UInt8, index: UInt64, value: [UInt8])]?
    package var rows: [Row] = []

    package struct Row {
        /// Nil for the true one.
        package var publicSize: UInt64?
        package var personalCode: UInt64 = 0
        package var typeIndex: UInt64 = 0
        package var publicPart: [UInt8]
        /// Behind the public part: the personal part or the commitment.
        package var personal: [UInt8] = []
    }

    package var body: [UInt8] {
        var body: [UInt8] = []
        body.append(littleEndian: highestClock)
        if let position {
            body.append(varint: position)
            body.append(varint: UInt64(times.count))
            var last: Int64 = 0
            for time in times {
                body.append(varint: time.count)
                body.append(zigzag: time.acceptedAt &- last)
                last = time.acceptedAt
            }
        }
        body.append(varint: UInt64(replicas.count))
        for replica in replicas { body.append(littleEndian: replica) }
        body.append(varint: UInt64(runs.count))
        for run in runs {
            body.append(varint: run.replica)
            body.append(varint: run.first)
            body.append(varint: run.count)
        }
        body.append(varint: UInt64(types.count))
        for type in types {
            body.append(varint: UInt64(type.name.count))
            body += type.name
            body.append(varint: type.version)
            body += type.fingerprint
        }
        if let nodes {
            body.append(varint: UInt64(nodes.count))
            for node in nodes {
                body.append(varint: node.replica)
                body.append(varint: node.group)
                body.append(node.level)
                body.append(varint: node.index)
                body += node.value
            }
        }
        for row in rows {
            body.append(varint: row.publicSize ?? UInt64(row.publicPart.count))
            body.append(varint: row.personalCode)
            body.append(varint: row.typeIndex)
            body += row.publicPart + row.personal
        }
        return body
    }

    package var bytes: [UInt8] {
        let body = body
        var bytes = Array("dblk".utf8) + [1, 0]
        bytes.append(littleEndian: flags)
        bytes.append(littleEndian: eventCount ?? UInt32(rows.count))
        bytes.append(littleEndian: UInt32(body.count))
        bytes.append(littleEndian: UInt32(body.count))
        bytes.append(littleEndian: UInt32(0))
        return (bytes + body).resealed()
    }

    /// The parts of a checked block.
    package init(_ block: [UInt8]) throws {
        let header = try BlockHeader.parse(block.span)
        let head = try BlockHead.parse(block.span, verifyChecksum: true)
        flags = header.flags.rawValue
        highestClock = head.summary.highestClock.rawValue
        position = head.summary.firstPosition
        times = head.times.map { (UInt64($0.count), $0.acceptedAt.milliseconds) }
        replicas = head.replicas.map(\.rawValue)
        func index(of replica: ReplicaID) -> UInt64 {
            UInt64(replicas.firstIndex(of: replica.rawValue) ?? -1)
        }
        runs = head.runs.map { (index(of: $0.replica), $0.firstSequence, $0.count) }
        types = head.types.map { ($0.name, UInt64($0.version), $0.fingerprint.bytes) }
        if head.summary.isSalted {
            nodes = head.saltNodes.map {
                var value: [UInt8] = []
                $0.value.write(into: &value)
                return (index(of: $0.replica), $0.group, UInt8($0.level), UInt64($0.index), value)
            }
        }
        var cursor = RowCursor(block.span, head.summary)
        while let row = try cursor.next() {
            var raw = Row(
                typeIndex: UInt64(row.typeIndex),
                publicPart: Array(block[row.publicPart])
            )
            switch row.personal {
            case .absent: break
            case .erased(let range):
                raw.personalCode = 1
                raw.personal = Array(block[range])
            case .present(let range):
                raw.personalCode = UInt64(range.count)
                raw.personal = Array(block[range])
            }
            rows.append(raw)
        }
    }
}

extension [UInt8] {
    /// The same block with a checksum that fits its bytes.
    package func resealed() -> [UInt8] {
        let checksum = BlockHeader.checksum(of: span.raw)
        var bytes = self
        for index in 0..<4 {
            bytes[20 + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * index))
        }
        return bytes
    }
}
