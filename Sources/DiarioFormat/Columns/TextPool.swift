import DiarioSchema

/// The texts that columns of one kind of reference share.
struct TextPools {
    /// In the order of their numbers.
    private(set) var tables: [StringTable] = []
    private var names: [String] = []

    /// How a column of texts uses a pool.
    struct Use {
        var pool: Int
        /// For each value its index; with `own` 1 more, and 0 for a text that is not in the pool.
        var codes: [Int64]
        /// The first index that was not there before.
        var start: Int64
        /// The texts that are not in the pool; nil if the column needs none of its own.
        var own: ByteStrings?
    }

    /// Takes the texts of a column that refers to things of a kind.
    ///
    /// Nil if the pool would grow too large; the column keeps its texts then.
    mutating func add(_ strings: ByteStrings, kind: String, pack: String) -> Use? {
        let name = pack + " " + kind
        let pool = names.firstIndex(of: name) ?? names.count
        if pool == names.count {
            names.append(name)
            tables.append(StringTable())
        }
        let size = tables[pool].strings.bytes.count
        guard strings.bytes.count + size <= SegmentLimits.poolSizeMax,
            strings.count + tables[pool].count <= SegmentLimits.poolCountMax
        else { return nil }
        var codes = [Int64](repeating: 0, count: strings.count)
        let start = Int64(tables[pool].count)
        var table = tables[pool]
        tables[pool] = StringTable()
        for index in 0..<strings.count { codes[index] = Int64(table.index(adding: strings[index])) }
        swap(&tables[pool], &table)
        return Use(pool: pool, codes: codes, start: start, own: nil)
    }

    /// Finds the texts of a column that makes ids among those that others of the pack mention.
    ///
    /// Nil if hardly any is mentioned.
    func find(_ strings: ByteStrings, pack: String) -> Use? {
        var best: (pool: Int, codes: [Int64])?
        var bestCount = strings.count / 32
        for pool in tables.indices where names[pool].hasPrefix(pack + " ") {
            var codes = [Int64](repeating: 0, count: strings.count)
            var count = 0
            let table = tables[pool]
            for index in 0..<strings.count {
                guard let code = table.index(of: strings[index]) else { continue }
                codes[index] = Int64(code) + 1
                count += 1
            }
            guard count > bestCount else { continue }
            bestCount = count
            best = (pool, codes)
        }
        guard let (pool, codes) = best else { return nil }
        guard bestCount < strings.count else {
            return Use(pool: pool, codes: codes.map { $0 - 1 }, start: 0, own: nil)
        }
        var own = ByteStrings()
        for index in 0..<strings.count where codes[index] == 0 { own.append(strings, index) }
        return Use(pool: pool, codes: codes, start: 0, own: own)
    }
}
