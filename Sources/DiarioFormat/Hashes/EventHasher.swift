package import DiarioCore
package import DiarioCrypto

// The hashes of schema/format/log.md, section 5. The first byte of what is hashed keeps leaves (0)
// and salts (2) apart from the rest. Rows and nodes both start with 1; they need nothing more,
// because the hash of a row is never a node of the tree: it enters the tree inside a leaf.

/// Hashes rows, leaves, nodes and salts; keeps its memory from event to event.
package struct EventHasher: ~Copyable {
    private var sha = SHA256Hasher()
    private var rowStart: [UInt8] = []
    private var path = SaltPath()

    package init() { rowStart.reserveCapacity(256) }

    /// The hash of a canonical row; with the commitment if a personal part exists or existed.
    package mutating func eventHash(
        typeName: Span<UInt8>,
        version: Int,
        replica: ReplicaID,
        sequence: UInt64,
        publicPart: RawSpan,
        commitment: Hash32?
    ) -> Hash32 {
        rowStart.removeAll(keepingCapacity: true)
        CanonicalRow.appendStart(
            to: &rowStart,
            typeName: typeName,
            version: version,
            replica: replica,
            sequence: sequence
        )
        Self.update(&sha, rowStart)
        sha.update(publicPart)
        if let commitment { sha.update(commitment) }
        return sha.finalize()
    }

    /// What stands for a personal part in the row.
    package mutating func commitment(_ personalPart: RawSpan, salt: Salt) -> Hash32 {
        update(salt)
        sha.update(personalPart)
        return sha.finalize()
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
        sha.update(2)
        sha.update(bit)
        update(node)
        return Salt(startOf: sha.finalize())
    }

    /// The leaf of an event that was accepted at a time, in milliseconds.
    package mutating func leaf(_ eventHash: Hash32, acceptedAt: Int64) -> Hash32 {
        sha.update(0)
        sha.update(eventHash)
        update(UInt64(bitPattern: acceptedAt))
        return sha.finalize()
    }

    /// The node above two others.
    package mutating func node(_ left: Hash32, _ right: Hash32) -> Hash32 {
        SHA256.hash(prefix: 1, left, right)
    }

    /// The root of a tree without leaves.
    package mutating func emptyRoot() -> Hash32 { sha.finalize() }

    /// The hash of any bytes.
    package func hash(_ bytes: Span<UInt8>) -> Hash32 { SHA256.hash(bytes) }

    /// Apart from the others, so that the context and the buffer are separate accesses.
    private static func update(_ sha: inout SHA256Hasher, _ bytes: [UInt8]) {
        sha.update(bytes.span)
    }

    private mutating func update(_ salt: Salt) {
        update(salt.first)
        update(salt.second)
    }

    private mutating func update(_ value: UInt64) {
        // Safe: the closure reads the bytes of a local integer and keeps nothing.
        unsafe withUnsafeBytes(of: value.littleEndian) {
            unsafe sha.update(RawSpan(_unsafeBytes: $0))
        }
    }
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
    /// Appends what comes in front of the public part.
    package static func appendStart(
        to output: inout [UInt8],
        typeName: Span<UInt8>,
        version: Int,
        replica: ReplicaID,
        sequence: UInt64
    ) {
        output.append(1)
        output.append(counted: typeName.raw)
        output.append(varint: UInt64(version))
        output.append(littleEndian: replica.rawValue)
        output.append(varint: sequence)
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
