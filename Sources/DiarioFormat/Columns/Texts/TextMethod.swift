import DiarioCore

/// How a column of texts is written: schema/format/segments.md, section 7.
enum TextMethod: UInt8 {
    case plain = 1
    case dictionary
    case pool
    case shared
}

/// How byte strings are written.
enum StringForm: UInt8 {
    case bytes = 1
    case origins
}

/// The replicas that texts may name by number.
struct ReplicaTable {
    private(set) var replicas: [ReplicaID]
    private var numbers: [ReplicaID: Int] = [:]
    /// How many of them are the segment's own.
    private let ownCount: Int
    /// Whether others may be added.
    var mayGrow = true

    init(_ replicas: [ReplicaID]) {
        self.replicas = replicas
        ownCount = replicas.count
        for (index, replica) in replicas.enumerated() { numbers[replica] = index }
    }

    var foreign: ArraySlice<ReplicaID> { replicas[ownCount...] }

    /// The number of a replica; nil if it has none and may get none.
    mutating func number(of replica: ReplicaID) -> Int? {
        if let number = numbers[replica] { return number }
        guard mayGrow else { return nil }
        replicas.append(replica)
        numbers[replica] = replicas.count - 1
        return replicas.count - 1
    }
}
