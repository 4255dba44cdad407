package import DiarioCore

/// The nodes of salts that came with events, to be found by origin.
package struct SaltNodes: Sendable {
    private struct Group: Hashable, Sendable {
        let replica: ReplicaID
        let number: UInt64
    }

    private var nodes: [Group: [SaltNode]] = [:]

    package init(_ list: [SaltNode]) {
        for node in list {
            let group = Group(replica: node.replica, number: node.group)
            nodes[group, default: []].append(node)
        }
    }

    /// The node that the salt of a sequence comes from; nil if there is none.
    package func node(of replica: ReplicaID, sequence: UInt64) -> SaltNode? {
        let group = Group(replica: replica, number: SaltSeed.group(of: sequence))
        let index = SaltSeed.index(of: sequence)
        return nodes[group]?.first { $0.covers(index) }
    }
}
