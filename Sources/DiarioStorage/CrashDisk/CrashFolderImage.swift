import DiarioCore

/// The names in a directory of a `CrashDisk`: as they are seen, and as a power cut leaves them.
///
/// Of what was done since the directory was last synced, the first so many steps survive.
struct CrashFolderImage {
    /// One step in the file system's journal; it happens whole or not at all.
    private enum Change {
        case put(name: String, node: UInt64)
        case remove(name: String)
        case rename(old: String, new: String)
    }

    private(set) var nodes: [String: UInt64] = [:]
    private(set) var durableNodes: [String: UInt64] = [:]
    private var changes: [Change] = []

    init() {}

    /// A directory that durably holds `nodes`.
    init(nodes: [String: UInt64]) {
        self.nodes = nodes
        durableNodes = nodes
    }

    /// Everything that a name here leads to, or led to since the last sync.
    var possibleNodes: Set<UInt64> {
        var result = Set(nodes.values).union(durableNodes.values)
        for case .put(_, let node) in changes { result.insert(node) }
        return result
    }

    mutating func put(_ node: UInt64, named name: String) {
        apply(.put(name: name, node: node))
    }

    mutating func remove(_ name: String) { apply(.remove(name: name)) }

    mutating func rename(_ old: String, to new: String) { apply(.rename(old: old, new: new)) }

    mutating func sync() {
        durableNodes = nodes
        changes = []
    }

    /// Leaves what a power cut leaves.
    mutating func losePower(using random: inout SeededRandom) {
        for change in changes.prefix(random.below(changes.count + 1)) {
            Self.apply(change, to: &durableNodes)
        }
        nodes = durableNodes
        changes = []
    }

    private mutating func apply(_ change: Change) {
        Self.apply(change, to: &nodes)
        changes.append(change)
    }

    private static func apply(_ change: Change, to nodes: inout [String: UInt64]) {
        switch change {
        case .put(let name, let node):
            nodes[name] = node
        case .remove(let name):
            nodes[name] = nil
        case .rename(let old, let new):
            // Taken out first, since a rename to the same name changes nothing.
            let node = nodes.removeValue(forKey: old)
            nodes[new] = node
        }
    }
}
