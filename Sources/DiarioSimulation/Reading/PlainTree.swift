package import DiarioCrypto
package import DiarioFormat

/// The Merkle tree of RFC 6962, as the document defines it: by cutting the leaves in two.
package enum PlainTree {
    package static func root(_ leaves: ArraySlice<Hash32>, _ hasher: inout EventHasher) -> Hash32 {
        guard let first = leaves.first else { return hasher.emptyRoot() }
        guard leaves.count > 1 else { return first }
        var half = 1
        while 2 * half < leaves.count { half *= 2 }
        let middle = leaves.startIndex + half
        let left = root(leaves[..<middle], &hasher)
        let right = root(leaves[middle...], &hasher)
        return hasher.node(left, right)
    }
}
