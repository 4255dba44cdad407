package import DiarioCore
package import DiarioCrypto

// The hashes of schema/format/rows.md, section 5. The first byte of what is hashed keeps leaves (0)
// and salts (2) apart from the rest. Rows and nodes both start with 1; they need nothing more,
// because the hash of a row is never a node of the tree: it enters the tree inside a leaf.

/// Hashes rows, leaves, nodes and salts; keeps its memory from event to event.
package struct EventHasher: ~Copyable {
    private var message = HashedMessage()
    private var paths = SaltPaths()

    package init() {}

    /// The hash of a canonical row; with the commitment if a personal part exists or existed.
    package mutating func eventHash(
        typeName: Span<UInt8>,
        version: Int,
        replica: ReplicaID,
        sequence: UInt64,
        publicPart: RawSpan,
        commitment: Hash32?
    ) -> Hash32 {
        message.start(CanonicalRow.startSizeMax(typeName) + publicPart.byteCount + Hash32.size)
        message.append(1)
        message.append(varint: UInt64(typeName.count))
        message.append(typeName.raw)
        message.append(varint: UInt64(version))
        return finish(replica, sequence, publicPart, commitment)
    }

    /// The same, with the bytes that all rows of a type start with: `CanonicalRow.typeStart`.
    mutating func eventHash(
        typeStart: RawSpan,
        replica: ReplicaID,
        sequence: UInt64,
        publicPart: RawSpan,
        commitment: Hash32?
    ) -> Hash32 {
        message.start(
            typeStart.byteCount + CanonicalRow.originSizeMax + publicPart.byteCount + Hash32.size
        )
        message.append(typeStart)
        return finish(replica, sequence, publicPart, commitment)
    }

    @inline(__always)
    private mutating func finish(
        _ replica: ReplicaID,
        _ sequence: UInt64,
        _ publicPart: RawSpan,
        _ commitment: Hash32?
    ) -> Hash32 {
        message.append(littleEndian: replica.rawValue)
        message.append(varint: sequence)
        message.append(publicPart)
        if let commitment { message.append(commitment) }
        return message.finish()
    }

    /// The commitment that represents a personal part in the hash.
    package mutating func commitment(_ personalPart: RawSpan, salt: Salt) -> Hash32 {
        message.start(Salt.size + personalPart.byteCount)
        message.append(salt)
        message.append(personalPart)
        return message.finish()
    }

    /// The salt of a sequence, whose index in its group is `index`.
    package mutating func salt(_ seed: SaltSeed, index: Int) -> Salt {
        salt(seed.node, index: index)
    }

    /// The salt of an index that `node` covers.
    ///
    /// Consecutive indices cost two hashes on average, since the paths to the last ones of some
    /// replicas are kept.
    package mutating func salt(_ node: SaltNode, index: Int) -> Salt {
        precondition(node.covers(index), "a node gives the salts below it")
        var (level, value) = paths.start(node, index: index)
        while level < SaltNode.levelMax {
            value = child(value, UInt8(index >> (SaltNode.levelMax - 1 - level) & 1))
            level += 1
            paths.keep(value, level: level)
        }
        return value
    }

    /// The child `bit` of a node in a group's tree.
    package mutating func child(_ node: Salt, _ bit: UInt8) -> Salt {
        message.start(2 + Salt.size)
        message.append(2)
        message.append(bit)
        message.append(node)
        return Salt(startOf: message.finish())
    }

    /// The leaf of an event that was accepted at a time, in milliseconds.
    package mutating func leaf(_ eventHash: Hash32, acceptedAt: Int64) -> Hash32 {
        message.start(1 + Hash32.size + 8)
        message.append(0)
        message.append(eventHash)
        message.append(littleEndian: UInt64(bitPattern: acceptedAt))
        return message.finish()
    }

    /// The node above two others.
    package mutating func node(_ left: Hash32, _ right: Hash32) -> Hash32 {
        SHA256.hash(prefix: 1, left, right)
    }

    /// The root of a tree without leaves.
    package mutating func emptyRoot() -> Hash32 {
        message.start(0)
        return message.finish()
    }

    /// The hash of any bytes.
    package func hash(_ bytes: Span<UInt8>) -> Hash32 { SHA256.hash(bytes) }
}

/// The bytes that an event's hash is made from.
package enum CanonicalRow {
    /// Bytes of replica and sequence, at most.
    static let originSizeMax = 8 + 10

    /// The most bytes before the public part: a number each for the size of the name and for the
    /// version.
    static func startSizeMax(_ typeName: Span<UInt8>) -> Int {
        1 + 10 + typeName.count + 10 + originSizeMax
    }

    /// The first bytes of rows of a type.
    static func typeStart(_ typeName: Span<UInt8>, version: Int) -> [UInt8] {
        var bytes: [UInt8] = [1]
        bytes.append(counted: typeName.raw)
        bytes.append(varint: UInt64(version))
        return bytes
    }

    /// Appends the bytes before the public part.
    package static func appendStart(
        to output: inout [UInt8],
        typeName: Span<UInt8>,
        version: Int,
        replica: ReplicaID,
        sequence: UInt64
    ) {
        output += typeStart(typeName, version: version)
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
