/// The number of live bytes in each log file.
///
/// A list and no dictionary: each frame is counted here while a log is read, nearly always to the
/// file that was counted to last, and hashing its number would cost more than the counting.
struct LiveBytes: Sendable {
    private var entries: [(file: UInt64, count: Int)] = []

    var total: Int { entries.reduce(0) { $0 + $1.count } }
    var files: [UInt64] { entries.map { $0.file } }

    subscript(file: UInt64) -> Int {
        entries.last { $0.file == file }?.count ?? 0
    }

    mutating func add(_ count: Int, to file: UInt64) {
        if let index = entries.lastIndex(where: { $0.file == file }) {
            entries[index].count += count
        } else {
            entries.append((file, count))
        }
    }

    mutating func forget(_ file: UInt64) { entries.removeAll { $0.file == file } }
}
