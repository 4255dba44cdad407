import DiarioCore
import DiarioCrypto
import DiarioFormat

/// RFC 6962, section 2.1, as it is written there; results are remembered to keep tests short.
final class PlainProofs {
    let leaves: [Hash32]
    private var roots: [Range<Int>: Hash32] = [:]

    init(leaves: [Hash32]) { self.leaves = leaves }

    /// A tree of `count` leaves, the leaf `i` of which is H(i as u64).
    convenience init(count: Int) {
        self.init(leaves: (0..<count).map { Self.leaf(UInt64($0)) })
    }

    static func leaf(_ index: UInt64) -> Hash32 {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: index)
        return SHA256.hash(bytes.span)
    }

    private func half(_ count: Int) -> Int {
        var half = 1
        while half * 2 < count { half *= 2 }
        return half
    }

    /// MTH(D[range]).
    func root(_ range: Range<Int>) -> Hash32 {
        if let known = roots[range] { return known }
        var hasher = EventHasher()
        guard range.count > 1 else { return range.first.map { leaves[$0] } ?? hasher.emptyRoot() }
        let middle = range.lowerBound + half(range.count)
        let left = root(range.lowerBound..<middle)
        let result = hasher.node(left, root(middle..<range.upperBound))
        roots[range] = result
        return result
    }

    /// PATH(index, D[range]), the index counted from the start of the range.
    func path(_ index: Int, _ range: Range<Int>) -> [Hash32] {
        guard range.count > 1 else { return [] }
        let middle = range.lowerBound + half(range.count)
        let (left, right) = (range.lowerBound..<middle, middle..<range.upperBound)
        return index < left.count
            ? path(index, left) + [root(right)] : path(index - left.count, right) + [root(left)]
    }

    /// PROOF(from, D[0:size]).
    func proof(from: Int, size: Int) -> [Hash32] {
        from == 0 || from == size ? [] : subproof(from, 0..<size, isWhole: true)
    }

    private func subproof(_ from: Int, _ range: Range<Int>, isWhole: Bool) -> [Hash32] {
        if from == range.count { return isWhole ? [] : [root(range)] }
        let middle = range.lowerBound + half(range.count)
        let (left, right) = (range.lowerBound..<middle, middle..<range.upperBound)
        return from <= left.count
            ? subproof(from, left, isWhole: isWhole) + [root(right)]
            : subproof(from - left.count, right, isWhole: false) + [root(left)]
    }

    /// The hash of a perfect subtree, as the code under test asks for it.
    func node(_ node: TreeNode) -> Hash32 {
        root(Int(node.leaves.lowerBound)..<Int(node.leaves.upperBound))
    }
}

extension Hash32 {
    /// The same but for one bit.
    func flipping(bit: Int) -> Hash32 {
        var words = words
        let mask = UInt64(1) << UInt64(bit % 64)
        switch bit / 64 {
        case 0: words.0 ^= mask
        case 1: words.1 ^= mask
        case 2: words.2 ^= mask
        default: words.3 ^= mask
        }
        return Hash32(words: words)
    }
}

/// What can be done to the hashes of a path by somebody who wants to deceive or by a bad disk.
enum ChangedPaths {
    static func all(_ path: [Hash32], using random: inout SeededRandom) -> [[Hash32]] {
        var paths: [[Hash32]] = []
        for index in path.indices {
            var changed = path
            changed[index] = path[index].flipping(bit: random.below(256))
            paths.append(changed)
            changed = path
            changed.remove(at: index)
            paths.append(changed)
            changed.append(path[index])
            if changed != path { paths.append(changed) }
        }
        for index in 0...path.count {
            for added in [.zero, path.first ?? .zero, path.last ?? .zero] {
                var changed = path
                changed.insert(added, at: index)
                paths.append(changed)
            }
        }
        return paths
    }
}
