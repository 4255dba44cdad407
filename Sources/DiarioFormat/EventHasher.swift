package import DiarioCore
package import DiarioCrypto

// The hashes of schema/format/log.md, section 5. The first byte of what is hashed keeps leaves (0)
// and salts (2) apart from the rest. Rows and nodes both start with 1; they need nothing more,
// because the hash of a row is never a node of the tree: it enters the tree inside a leaf.

/// Hashes rows, leaves, nodes and salts with one context and one buffer.
package struct EventHasher: ~Copyable {
    private var buffer: [UInt8] = []
    private var path = SaltPath()

    package init() { buffer.reserveCapacity(1024) }

    /// The hash of a canonical row.
    package mutating func eventHash(
        typeName: Span<UInt8>,
        version: Int,
        replica: ReplicaID,
        sequence: UInt64,
        publicPart: RawSpan,
        commitment: Hash32?
    ) -> Hash32 {
        buffer.removeAll(keepingCapacity: true)
        CanonicalRow.append(
            to: &buffer,
            typeName: typeName,
            version: version,
            replica: replica,
            sequence: sequence,
            publicPart: publicPart,
            commitment: commitment
        )
        return SHA256.hash(buffer.span)
    }

    /// What stands for a personal part in the row.
    package mutating func commitment(_ personalPart: RawSpan, salt: Salt) -> Hash32 {
        buffer.removeAll(keepingCapacity: true)
        salt.write(into: &buffer)
        buffer.append(contentsOf: personalPart)
        return SHA256.hash(buffer.span)
    }

    /// The salt of a sequence, whose index in its group is `index`.
    package mutating func salt(_ seed: SaltSeed, index: Int) -> Salt {
        salt(seed.node, index: index)
    }

    /// The salt of an index that `node` covers.
    ///
    /// Consecutive indices cost two hashes on average, since the path to the last one is kept.
    package mutating func salt(_ node: SaltNode, index: Int) -> Salt {
        precondition(node.covers(index), "a node gives the salts below it")
        var level = path.start(node, index: index)
        while level < SaltNode.levelMax {
            let bit = UInt8(index >> (SaltNode.levelMax - 1 - level) & 1)
            let child = child(path.values[level], bit)
            level += 1
            path.values[level] = child
        }
        return path.values[SaltNode.levelMax]
    }

    /// The child `bit` of a node in a group's tree.
    package mutating func child(_ node: Salt, _ bit: UInt8) -> Salt {
        buffer.removeAll(keepingCapacity: true)
        buffer.append(2)
        buffer.append(bit)
        node.write(into: &buffer)
        let hash = SHA256.hash(buffer.span)
        return Salt(first: hash.words.0, second: hash.words.1)
    }

    /// The leaf of an event that was accepted at a time, in milliseconds.
    package mutating func leaf(_ eventHash: Hash32, acceptedAt: Int64) -> Hash32 {
        buffer.removeAll(keepingCapacity: true)
        buffer.append(0)
        buffer.append(eventHash)
        buffer.append(littleEndian: acceptedAt)
        return SHA256.hash(buffer.span)
    }

    /// The node above two others.
    package mutating func node(_ left: Hash32, _ right: Hash32) -> Hash32 {
        SHA256.hash(prefix: 1, left, right)
    }

    /// The root of a tree without leaves.
    package mutating func emptyRoot() -> Hash32 {
        buffer.removeAll(keepingCapacity: true)
        return SHA256.hash(buffer.span)
    }

    /// The hash of any bytes.
    package func hash(_ bytes: Span<UInt8>) -> Hash32 { SHA256.hash(bytes) }
}

/// The nodes on the way to the salt that was asked for last.
private struct SaltPath {
    /// By level; those above the level of `base` mean nothing.
    var values = [Salt](repeating: Salt(first: 0, second: 0), count: SaltNode.levelMax + 1)
    private var base: SaltNode?
    private var index = 0

    /// Goes to another index; gives the level of the lowest node that both paths have.
    mutating func start(_ node: SaltNode, index: Int) -> Int {
        defer { self.index = index }
        guard base == node else {
            base = node
            values[node.level] = node.value
            return node.level
        }
        // The highest bit in which the indices differ is where the paths part.
        let shared = SaltNode.levelMax - (Int.bitWidth - (index ^ self.index).leadingZeroBitCount)
        return max(shared, node.level)
    }
}

/// The bytes that an event's hash is made from.
package enum CanonicalRow {
    package static func append(
        to output: inout [UInt8],
        typeName: Span<UInt8>,
        version: Int,
        replica: ReplicaID,
        sequence: UInt64,
        publicPart: RawSpan,
        commitment: Hash32?
    ) {
        output.append(1)
        output.append(counted: typeName.raw)
        output.append(varint: UInt64(version))
        output.append(littleEndian: replica.rawValue)
        output.append(varint: sequence)
        output.append(contentsOf: publicPart)
        if let commitment { output.append(commitment) }
    }
}

extension EventHasher {
    /// The nodes that replace `node` when the salt of `index` is erased: those beside its path.
    ///
    /// All other salts still come from them, and none gives the erased one again.
    package mutating func nodes(beside index: Int, of node: SaltNode) -> [SaltNode] {
        precondition(node.covers(index), "a node gives the salts below it")
        var nodes: [SaltNode] = []
        var parent = node.value
        for level in node.level + 1..<SaltNode.levelMax + 1 {
            let own = index >> (SaltNode.levelMax - level)
            nodes.append(
                SaltNode(
                    replica: node.replica,
                    group: node.group,
                    level: level,
                    index: own ^ 1,
                    value: child(parent, UInt8(own & 1 ^ 1))
                )
            )
            parent = child(parent, UInt8(own & 1))
        }
        return nodes
    }
}
