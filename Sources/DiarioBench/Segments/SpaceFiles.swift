import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioStorage

/// What the files of a space take, by kind.
struct SpaceFiles: Sendable {
    /// What `diario stats` counts as the bytes of a space.
    let kinds: [(name: String, bytes: Int)]
    /// Bytes of the write-ahead log that hold nothing, and are there to be used again.
    let freeBytes: Int

    private let path: String
    private let space: SpaceID

    var total: Int { kinds.reduce(0) { $0 + $1.bytes } }

    init(of made: MadeSpace) throws(BenchError) {
        path = made.path + "/" + LogPaths.directoryName
        let store = try BenchSpace.store(at: made.path, background: .none)
        let space = try BenchSpace.onlySpace(of: store)
        self.space = space
        let (live, log, counted) = try BenchSpace.log { () throws(LogError) in
            let live = try store.status(of: space).liveBytes
            let result = (live, try store.logBytes(), try store.fileBytes(of: space) + live)
            try store.close()
            return result
        }
        do throws(StorageError) {
            let directory = try POSIXDirectory(path: path, access: .read)
            func size(_ folder: String, _ suffix: String = "") throws(StorageError) -> Int {
                var total = 0
                for name in try directory.list(folder) where name.hasSuffix(suffix) {
                    total += try directory.open(folder + "/" + name, .read).size()
                }
                return total
            }
            kinds = [
                ("segments", try size(LogPaths.segments(space), ".dseg")),
                ("sidecars", try size(LogPaths.segments(space), ".dper")),
                ("tiles", try size(LogPaths.tiles(space))),
                (
                    "manifest and replica",
                    try directory.open(LogPaths.manifest(space), .read).size()
                        + directory.open(LogPaths.replica(space), .read).size()
                ),
                ("live in the log", live),
            ]
        } catch {
            throw .failed("\(error)")
        }
        freeBytes = log - live
        guard total == counted else {
            throw .failed("the files have \(total) bytes, and the log counts \(counted)")
        }
    }

    /// All segments with their sidecars, in memory.
    func segments() throws(BenchError) -> [SealedSegment] {
        do throws(StorageError) {
            let directory = try POSIXDirectory(path: path, access: .read)
            let folder = LogPaths.segments(space)
            var segments: [SealedSegment] = []
            for name in try directory.list(folder).sorted() where name.hasSuffix(".dseg") {
                let sidecar = name.dropLast("dseg".utf8.count) + "dper"
                segments.append(
                    SealedSegment(
                        segment: try directory.contents(of: folder + "/" + name, sizeMax: 1 << 30),
                        sidecar: try directory.contents(
                            of: folder + "/" + sidecar,
                            sizeMax: 1 << 30
                        )
                    )
                )
            }
            return segments
        } catch {
            throw .failed("\(error)")
        }
    }
}
