/// The words of a statement of SQL that may be names, with small letters.
package struct SQLWords {
    /// All of them.
    package private(set) var all: Set<String> = []
    /// Words without a point beside them: if one is a table, it is named without its pack.
    package private(set) var bare: Set<String> = []
    /// Those before a point.
    private var leading: Set<String> = []
    /// Those after a point, with the words before it.
    package private(set) var owners: [String: Set<String>] = [:]

    package init(_ sql: String) {
        let bytes = Array(sql.utf8)
        var (owner, hasPoint): (String?, Bool) = (nil, false)
        var index = 0
        while index < bytes.count {
            guard Self.isPart(bytes[index]) else {
                // Blanks and quotes may be beside the point.
                if bytes[index] == 0x2e {
                    hasPoint = owner != nil
                } else if !Self.isQuoteOrBlank(bytes[index]) {
                    (owner, hasPoint) = (nil, false)
                }
                index += 1
                continue
            }
            let start = index
            while index < bytes.count, Self.isPart(bytes[index]) { index += 1 }
            let word = String(decoding: bytes[start..<index], as: UTF8.self).lowercased()
            all.insert(word)
            if hasPoint, let owner {
                owners[word, default: []].insert(owner)
            } else if Self.hasPoint(bytes[index...]) {
                leading.insert(word)
            } else {
                bare.insert(word)
            }
            (owner, hasPoint) = (word, false)
        }
    }

    /// Words that may be tables of any pack: bare ones, and those before a column that are never
    /// named with a pack.
    package var tables: Set<String> { bare.union(leading.filter { owners[$0] == nil }) }

    private static func hasPoint(_ rest: ArraySlice<UInt8>) -> Bool {
        rest.first(where: { !isQuoteOrBlank($0) }) == 0x2e
    }

    private static func isQuoteOrBlank(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x22, 0x5b, 0x5d, 0x60, 0x09, 0x0a, 0x0c, 0x0d, 0x20: true
        default: false
        }
    }

    private static func isPart(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x24, 0x30...0x39, 0x41...0x5a, 0x5f, 0x61...0x7a, 0x80...: true
        default: false
        }
    }
}
