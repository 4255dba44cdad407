package import DiarioCore

/// 16 secret bytes that make a commitment unguessable, or from which such bytes are derived.
package struct Salt: Hashable, Sendable {
    package static let size = 16

    /// Bytes 0 to 8 and 8 to 16, as little-endian numbers.
    package var first: UInt64
    package var second: UInt64

    package init(first: UInt64, second: UInt64) {
        self.first = first
        self.second = second
    }

    /// Reads the 16 bytes that come next.
    package init(_ reader: inout ByteReader) throws(FormatError) {
        first = try reader.next(UInt64.self)
        second = try reader.next(UInt64.self)
    }

    /// Appends the 16 bytes.
    package func write(into output: inout [UInt8]) {
        output.append(littleEndian: first)
        output.append(littleEndian: second)
    }
}

/// The secret of a replica for one group of sequences in one space, from which its salts come.
package struct SaltSeed: Equatable, Sendable {
    package var replica: ReplicaID
    package var group: UInt64
    package var root: Salt

    package init(replica: ReplicaID, group: UInt64, root: Salt) {
        self.replica = replica
        self.group = group
        self.root = root
    }

    /// The group of a sequence.
    package static func group(of sequence: UInt64) -> UInt64 {
        precondition(sequence >= 1, "sequences count from 1")
        return (sequence - 1) / UInt64(Limits.saltGroupCount)
    }

    /// The sequences of a group, as far as there are such numbers.
    package static func sequences(ofGroup group: UInt64) -> ClosedRange<UInt64> {
        precondition(group <= Self.group(of: .max), "a group has sequences")
        let first = group * UInt64(Limits.saltGroupCount) + 1
        return first...first + min(UInt64(Limits.saltGroupCount) - 1, .max - first)
    }

    /// The index of a sequence in its group.
    package static func index(of sequence: UInt64) -> Int {
        precondition(sequence >= 1, "sequences count from 1")
        return Int((sequence - 1) % UInt64(Limits.saltGroupCount))
    }

    /// The seed as the topmost node of its tree.
    package var node: SaltNode {
        SaltNode(replica: replica, group: group, level: 0, index: 0, value: root)
    }
}

/// A node of the tree between a seed and its salts: schema/format/rows.md, section 5.
package struct SaltNode: Hashable, Sendable {
    /// The level of the salts themselves; the seed has level 0.
    package static let levelMax = 10
    static let groupMax = (UInt64.max - 1) / UInt64(Limits.saltGroupCount)

    package var replica: ReplicaID
    package var group: UInt64
    package var level: Int
    /// The index in its level, from 0.
    package var index: Int
    package var value: Salt

    package init(replica: ReplicaID, group: UInt64, level: Int, index: Int, value: Salt) {
        precondition(0...Self.levelMax ~= level, "the tree of a group has ten levels")
        precondition(0..<1 << level ~= index, "a level has twice the nodes of the one above")
        self.replica = replica
        self.group = group
        self.level = level
        self.index = index
        self.value = value
    }

    /// True if the salt of `index` in the group is at or below this node.
    package func covers(_ index: Int) -> Bool {
        0..<Limits.saltGroupCount ~= index && index >> (Self.levelMax - level) == self.index
    }
}
