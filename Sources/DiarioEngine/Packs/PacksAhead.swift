import DiarioCrypto
import DiarioLog
import DiarioSchema
import DiarioStorage
import Synchronization

/// Reads the packs of a data directory on a thread of its own, while its log is read.
///
/// A pack that cannot be read is left to who needs it, and so are those beyond the first few.
final class PacksAhead: Sendable {
    private let packs = Mutex<[Hash32: Pack]?>(nil)
    private let isDone = Signal()

    /// More packs than most directories have; those of a server's other spaces are not needed.
    private static let countMax = 32

    init(_ directory: any LogDirectory) {
        _ = WorkerThread(name: "diario-packs") { [self] in
            let found = Self.read(directory)
            packs.withLock { $0 = found }
            isDone.raise()
        }
    }

    private static func read(_ directory: any LogDirectory) -> [Hash32: Pack] {
        var packs: [Hash32: Pack] = [:]
        for name in ((try? directory.list(LogPaths.packs)) ?? []).prefix(countMax) {
            guard let fingerprint = Hash32(text: name),
                let files = try? LogStore.packFiles(fingerprint, in: directory)
            else { continue }
            packs[fingerprint] = try? Pack(files: files)
        }
        return packs
    }

    /// The packs that were read, by fingerprint; waits for them, and is called by one thread.
    func wait() -> [Hash32: Pack] {
        while true {
            if let found = packs.withLock({ $0 }) { return found }
            isDone.wait()
        }
    }
}
