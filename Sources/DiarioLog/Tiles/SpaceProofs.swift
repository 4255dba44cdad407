import DiarioCore
package import DiarioCrypto
package import DiarioFormat
import DiarioFrames
import DiarioStorage

/// A proof that an event is at a position of the log.
package struct ProvenInclusion: Equatable, Sendable {
    package let proof: InclusionProof
    package let leaf: Hash32
    /// The root at the size of the proof.
    package let root: Hash32
}

/// That the log of one size begins with the log of another.
package struct ProvenConsistency: Equatable, Sendable {
    package let proof: ConsistencyProof
    package let fromRoot: Hash32
    package let root: Hash32
}

extension SpaceLog {
    /// Proofs of what is in the log.
    package var proofs: SpaceProofs { SpaceProofs(log: log, space: space) }
}

// All that is given away here was checked against the root that the log itself keeps, so that a
// damaged tile can delay an answer but never make it wrong.
package struct SpaceProofs: Sendable {
    let log: LogStore
    let space: SpaceID

    /// The Merkle root of the first `size` positions; nil if there are fewer.
    package func root(size: UInt64) throws(LogError) -> Hash32? {
        try consistency(from: size)?.fromRoot
    }

    /// Shows that `position` is among the first `size`; nil if it is not.
    ///
    /// Without `size`, among all. With tiles it takes a few reads and the rows of at most two
    /// level-0 tiles, besides those that are in no tile; without, all rows up to the head.
    package func inclusion(
        of position: UInt64,
        size: UInt64? = nil
    ) throws(LogError) -> ProvenInclusion? {
        let range = try log.shared.hashes.range(of: space, in: log.shared)
        let size = size ?? range.size
        guard size <= range.size, position >= 1, position <= size else { return nil }
        let leaf = TreeNode(leaf: position - 1)
        let wanted =
            [leaf] + InclusionProof.nodes(index: position - 1, size: size)
            + Self.nodes(toConfirm: size, by: range)
        return try proving(wanted, range) { (hasher, hashes) throws(ProofFault) in
            let root = try Self.root(size: size, by: range, &hasher, hashes)
            let proof = InclusionProof.make(
                index: position - 1,
                size: size,
                &hasher,
                hashes.callAsFunction
            )
            let proven = ProvenInclusion(proof: proof, leaf: hashes(leaf), root: root)
            try proof.check(leaf: proven.leaf, root: root, &hasher)
            return proven
        }
    }

    /// Shows that the first `size` positions begin with the first `from`; nil if those are more,
    /// or not there.
    ///
    /// Without `size`, all positions do. It costs what `inclusion` does.
    package func consistency(
        from fromSize: UInt64,
        to size: UInt64? = nil
    ) throws(LogError) -> ProvenConsistency? {
        let range = try log.shared.hashes.range(of: space, in: log.shared)
        let size = size ?? range.size
        guard size <= range.size, fromSize <= size else { return nil }
        let wanted =
            ConsistencyProof.nodes(from: fromSize, to: size) + TreeRoot.nodes(size: fromSize)
            + Self.nodes(toConfirm: size, by: range)
        return try proving(wanted, range) { (hasher, hashes) throws(ProofFault) in
            let root = try Self.root(size: size, by: range, &hasher, hashes)
            let proof = ConsistencyProof.make(
                from: fromSize,
                to: size,
                &hasher,
                hashes.callAsFunction
            )
            let fromRoot = TreeRoot.make(size: fromSize, &hasher, hashes.callAsFunction)
            try proof.check(fromRoot: fromRoot, root: root, &hasher)
            return ProvenConsistency(proof: proof, fromRoot: fromRoot, root: root)
        }
    }

    /// The canonical row of the event at a position, with when it was accepted; nil if there is
    /// none.
    package func provenEvent(at position: UInt64) throws(LogError) -> ProofEvent? {
        guard position >= 1 else { return nil }
        var cursor = try log.cursor(space, positions: position...position, .canonical)
        guard let events = try cursor.next(), let stored = events.rows.first,
            let acceptedAt = stored.acceptedAt
        else { return nil }
        var hasher = EventHasher()
        var seeds = Seeds(store: log.shared, space: space)
        seeds.segment = events.salts
        do throws(FormatError) {
            let (block, row) = (events.bytes.span, stored.row)
            let type = events.types[row.typeIndex]
            let name = type.name
            var bytes: [UInt8] = []
            CanonicalRow.appendStart(
                to: &bytes,
                typeName: name.span,
                version: type.version,
                replica: row.replica,
                sequence: row.sequence
            )
            bytes.append(contentsOf: block.raw.extracting(row.publicPart))
            if let commitment = try hasher.commitment(of: row, block, seeds.node(of: row)) {
                bytes.append(commitment)
            }
            return ProofEvent(row: try ProofRow(bytes), acceptedAt: acceptedAt.milliseconds)
        } catch {
            throw .format(error)
        }
    }

    // MARK: Confirming

    /// The nodes that show that a root is the one that the head's tree begins with.
    private static func nodes(toConfirm size: UInt64, by range: CompactRange) -> [TreeNode] {
        guard size < range.size else { return range.places.map({ $0.node }) }
        return TreeRoot.nodes(size: size) + ConsistencyProof.nodes(from: size, to: range.size)
    }

    /// The root at a size, once it was checked against the one of the head.
    private static func root(
        size: UInt64,
        by range: CompactRange,
        _ hasher: inout EventHasher,
        _ hashes: NodeHashes
    ) throws(ProofFault) -> Hash32 {
        let head = range.root(&hasher)
        guard size < range.size else { return head }
        let root = TreeRoot.make(size: size, &hasher, hashes.callAsFunction)
        let proof = ConsistencyProof.make(
            from: size,
            to: range.size,
            &hasher,
            hashes.callAsFunction
        )
        try proof.check(fromRoot: root, root: head, &hasher)
        return root
    }

    /// Gets the hashes of `wanted` and lets `make` make something of them that it has checked.
    private func proving<Proven>(
        _ wanted: [TreeNode],
        _ range: CompactRange,
        _ make: (inout EventHasher, NodeHashes) throws(ProofFault) -> Proven
    ) throws(LogError) -> Proven {
        var hasher = EventHasher()
        let tiles = try TileStore(log.shared.directory, space: space)
        if tiles.size > 0 {
            var reader = NodeReader(log, space, range, tiles)
            let hashes = NodeHashes(hashes: try reader.hashes(wanted))
            // A proof that fails is made again without the tiles, which must be damaged.
            if let proven = try? make(&hasher, hashes) { return proven }
        }
        var reader = NodeReader(log, space, range, nil)
        do throws(LogError) {
            let hashes = NodeHashes(hashes: try reader.hashes(wanted))
            if let proven = try? make(&hasher, hashes) { return proven }
        } catch {
            guard tiles.size > 0, case .released = error else { throw error }
            throw .corrupt(
                Fault(
                    file: LogPaths.tiles(space),
                    offset: 0,
                    what: "the hashes there do not make the root of the log"
                )
            )
        }
        throw .corrupt(
            Fault(
                file: FramePaths.folder,
                offset: 0,
                what: "the rows of space \(space.text) do not make its root"
            )
        )
    }
}

/// Hashes that were all found before they are asked for.
private struct NodeHashes {
    let hashes: [TreeNode: Hash32]

    func callAsFunction(_ node: TreeNode) -> Hash32 {
        guard let hash = hashes[node] else {
            preconditionFailure("a proof asks for no other nodes than it says")
        }
        return hash
    }
}
