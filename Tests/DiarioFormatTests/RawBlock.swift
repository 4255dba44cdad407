import DiarioCore
import DiarioCrypto
import DiarioFormat

/// A block as its parts, written without any check: a second writer, and one that can lie.
struct RawBlock {
    var magic = Array("DBLK".utf8)
    var version: UInt8 = 1
    var compression: UInt8 = 0
    var flags: UInt16 = 0
    /// Nil for what is true of the rest.
    var eventCount: UInt32?
    var bodySize: UInt32?
    var storedSize: UInt32?
    var checksum: UInt32?

    var highestClock: UInt64 = 0
    var position: UInt64?
    var times: [(count: UInt64, acceptedAt: Int64)] = []
    var replicas: [UInt64] = []
    var runs: [(replica: UInt64, first: UInt64, count: UInt64)] = []
    var types: [(name: [UInt8], version: UInt64, fingerprint: [UInt8])] = []
    var nodes: [(replica: UInt64, group: UInt64, level: UInt8, index: UInt64, value: [UInt8])]?
    var rows: [Row] = []
    /// Bytes behind the last row, inside the body.
    var rest: [UInt8] = []

    struct Row {
        /// Nil for the true one.
        var publicSize: UInt64?
        var personalCode: UInt64 = 0
        var typeIndex: UInt64 = 0
        var publicPart: [UInt8]
        /// Behind the public part: the personal part or the commitment.
        var personal: [UInt8] = []
    }

    var body: [UInt8] {
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
        return body + rest
    }

    var bytes: [UInt8] { bytes(storedBody: body) }

    func bytes(storedBody: [UInt8]) -> [UInt8] {
        var bytes = magic
        bytes.append(version)
        bytes.append(compression)
        bytes.append(littleEndian: flags)
        bytes.append(littleEndian: eventCount ?? UInt32(rows.count))
        bytes.append(littleEndian: bodySize ?? UInt32(body.count))
        bytes.append(littleEndian: storedSize ?? UInt32(storedBody.count))
        bytes.append(littleEndian: UInt32(0))
        bytes += storedBody
        let sealed = bytes.resealed()
        guard let checksum else { return sealed }
        var lie: [UInt8] = []
        lie.append(littleEndian: checksum)
        return Array(sealed[..<20]) + lie + sealed[24...]
    }

    /// The parts of a checked block.
    init(_ block: [UInt8]) throws {
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
                (
                    index(of: $0.replica), $0.group, UInt8($0.level), UInt64($0.index),
                    $0.value.bytes
                )
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
