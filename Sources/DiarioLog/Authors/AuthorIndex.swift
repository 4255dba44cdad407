package import DiarioCore
import DiarioFormat
import DiarioStorage

/// Who made the things that events of a space are about, up to a position: follows from the log,
/// and is made again from it where it is damaged or of other rules.
///
/// What came last and what was asked for is in memory, the rest in a few files, each about as large
/// as all after it together. Keys and authors are hashes under a key that is drawn for each index,
/// so nobody can choose ids that look alike. Schema/format/directory.md, section 11.
package struct AuthorIndex: Sendable {
    private let directory: any LogDirectory
    private let folder: String
    private let sizes: LogSizes
    private let mark: AuthorMark
    /// In order of position, each beginning where the one before ends.
    private var runs: [AuthorRun] = []
    /// The authors of keys that came last or were asked for.
    private var known: [UInt64: UInt64] = [:]
    /// Keys of these that no file has yet with their authors, some of them perhaps twice.
    private var unwritten: [UInt64] = []
    /// The last position that was looked at.
    package private(set) var end: UInt64 = 0
    private var buffer: [UInt8] = []

    /// Opens the index of a space for rules that have a hash, as far as it is there.
    package init(of space: SpaceID, in store: LogStore, rules: UInt64) throws(LogError) {
        directory = store.shared.directory
        sizes = store.shared.sizes
        folder = LogPaths.authors(space)
        let outline = try store[space].outline()
        let drawn = KeyedHash(key: (low: store.chance(), high: store.chance()))
        let wanted = AuthorMark(
            lineage: outline.manifest.lineage,
            epoch: outline.manifest.epoch,
            rules: rules,
            hash: drawn
        )
        var found: [AuthorRun] = []
        do throws(StorageError) {
            found = try Self.chain(in: directory, folder, wanted, head: outline.head)
        } catch {
            throw .storage(error)
        }
        mark = found.first?.mark ?? wanted
        runs = found
        end = found.last?.positions.upperBound ?? 0
    }

    /// The files that go on from position 1 without a gap; all others are removed.
    private static func chain(
        in directory: any LogDirectory,
        _ folder: String,
        _ wanted: AuthorMark,
        head: UInt64
    ) throws(StorageError) -> [AuthorRun] {
        guard try directory.exists(folder) else { return [] }
        var all: [AuthorRun] = []
        for name in try directory.list(folder) where LogPaths.isAuthors(name) {
            guard let run = try? AuthorRun(folder + "/" + name, in: directory),
                run.mark.lineage == wanted.lineage, run.mark.epoch == wanted.epoch,
                run.mark.rules == wanted.rules, run.positions.upperBound <= head
            else { continue }
            all.append(run)
        }
        var chain: [AuthorRun] = []
        var next: UInt64 = 1
        while true {
            let candidates = all.filter { run in
                run.positions.lowerBound == next && run.mark == chain.first?.mark ?? run.mark
            }
            guard
                let longest = candidates.max(by: {
                    $0.positions.upperBound < $1.positions.upperBound
                })
            else { break }
            chain.append(longest)
            next = longest.positions.upperBound + 1
        }
        let kept = Set(chain.map { $0.path })
        for name in try directory.list(folder) where !kept.contains(folder + "/" + name) {
            try directory.remove(folder + "/" + name)
        }
        return chain
    }

    // MARK: Keys

    /// Makes the keys of this index.
    package struct Keys: Sendable {
        fileprivate let hash: KeyedHash

        /// The key of an id of a kind.
        package func key(_ id: Span<UInt8>, kind: Int) -> UInt64 {
            hash.hash(id, domain: UInt8(truncatingIfNeeded: kind + 1))
        }

        /// The hash of an author, which is not 0.
        package func author(_ actor: Span<UInt8>) -> UInt64 { max(hash.hash(actor), 1) }
    }

    package var keys: Keys { Keys(hash: mark.hash) }

    /// Stands for nobody: events without an actor make things that have no author.
    package static let nobody: UInt64 = 0

    // MARK: Asking and adding

    /// The author of a key; nil if nothing made it.
    package mutating func author(of key: UInt64) throws(LogError) -> UInt64? {
        if let author = known[key] { return author }
        // The newest first: what an id that is an origin is, its own event says last.
        for index in runs.indices.reversed() {
            guard let found = try runs[index].author(of: key, &buffer) else { continue }
            if known.count < sizes.authorCountMax { known[key] = found }
            return found
        }
        return nil
    }

    /// Closes the files that were asked.
    package mutating func rest() {
        for index in runs.indices { runs[index].close() }
    }

    /// Writes what no file has yet, so that it need not be read from the log again.
    package mutating func save() throws(LogError) {
        if unwrittenCount > 0 { try write() }
    }

    /// How many positions no file covers.
    private var unwrittenCount: UInt64 { end - (runs.last?.positions.upperBound ?? 0) }

    /// Notes who made what has a key, unless that is known.
    ///
    /// An id that is the origin of the event itself is that event's, whoever took it before.
    package mutating func add(
        _ key: UInt64,
        by author: UInt64,
        isOwnOrigin: Bool
    ) throws(LogError) {
        if !isOwnOrigin, try self.author(of: key) != nil { return }
        known[key] = author
        unwritten.append(key)
    }

    /// Notes that all events up to a position were looked at.
    package mutating func advance(to position: UInt64) {
        end = position
        guard known.count >= sizes.authorCountMax || unwrittenCount >= sizes.authorIntervalMax
        else { return }
        // What cannot be written now stays in memory, and is read again after a crash.
        try? write()
    }

    private mutating func write() throws(LogError) {
        let first = (runs.last?.positions.upperBound ?? 0) + 1
        unwritten.sort()
        do throws(StorageError) { try directory.makeDirectory(folder) } catch {
            throw .storage(error)
        }
        var index = 0
        let run = try AuthorRun.write(
            path(first...end),
            first...end,
            mark,
            in: directory
        ) { () throws(LogError) in
            guard index < unwritten.count else { return nil }
            let key = unwritten[index]
            while index < unwritten.count, unwritten[index] == key { index += 1 }
            return AuthorEntry(key: key, author: known[key] ?? Self.nobody)
        }
        runs.append(run)
        unwritten.removeAll(keepingCapacity: true)
        if known.count >= sizes.authorCountMax { known.removeAll(keepingCapacity: true) }
        while runs.count > 1, runs[runs.count - 2].count <= 2 * runs[runs.count - 1].count {
            try mergeLast()
        }
    }

    /// Makes one file of the last two.
    private mutating func mergeLast() throws(LogError) {
        let (left, right) = (runs[runs.count - 2], runs[runs.count - 1])
        let positions = left.positions.lowerBound...right.positions.upperBound
        var one = AuthorRunReader(left)
        var other = AuthorRunReader(right)
        var (first, second) = (try one.next(), try other.next())
        let merged = try AuthorRun.write(
            path(positions),
            positions,
            mark,
            in: directory
        ) { () throws(LogError) in
            if let left = first, let right = second, left.key == right.key {
                first = try one.next()
            }
            guard let left = first, second.map({ left.key < $0.key }) ?? true else {
                let entry = second
                if entry != nil { second = try other.next() }
                return entry
            }
            first = try one.next()
            return left
        }
        runs.removeLast(2)
        runs.append(merged)
        for old in [left, right] { try? directory.remove(old.path) }
    }

    private func path(_ positions: ClosedRange<UInt64>) -> String {
        LogPaths.authors(positions, in: folder)
    }

    /// Removes all that is written, because it is damaged; it is made again from the log.
    package mutating func reset() {
        for run in runs { try? directory.remove(run.path) }
        runs = []
        known = [:]
        unwritten = []
        end = 0
    }
}
