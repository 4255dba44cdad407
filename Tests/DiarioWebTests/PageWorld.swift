import DiarioCore
import DiarioEngine
import DiarioFish
import DiarioHost
import DiarioLog
import DiarioSchema
import DiarioStorage
import DiarioTestSupport
import DiarioWeb
import Synchronization

/// A page on a disk that can crash, whose read models are in a folder.
enum PageWorld {
    final class Clock: TimeSource {
        var now: Timestamp { Timestamp(milliseconds: 1_795_000_000_000) }
    }

    final class Chance: EntropySource {
        private let random = Mutex(SeededRandom(seed: 47))

        func next() -> UInt64 { random.withLock { $0.next() } }
    }

    static func pool(_ disk: CrashDisk, _ count: Int = 64) throws -> PooledDirectory {
        let pool = try PooledDirectory((0..<count).map { try disk.open("\($0)", .create) })
        try disk.syncDirectory("")
        return pool
    }

    /// A page with a space that uses these packs.
    static func page(
        _ packs: [String],
        own: [Pack] = [],
        on pool: PooledDirectory,
        _ folder: borrowing TemporaryFolder
    ) throws -> Page {
        try LogStore.create(in: pool)
        let surroundings = Surroundings(time: Clock(), entropy: Chance(), helper: PageHelper())
        let store = try Space.openStore(pool, access: .readWrite, surroundings)
        let packs = try PackSource.load(names: packs, own: []) + own
        try Space.make(in: store, packs: packs).close()
        return try page(on: pool, folder)
    }

    static func page(
        on pool: PooledDirectory,
        _ folder: borrowing TemporaryFolder
    ) throws -> Page {
        let models = try POSIXDirectory(path: folder.path, access: .readWrite)
        return Page(pool, time: Clock(), entropy: Chance(), domains: [Fish.domain]) {
            ModelFolder(models, of: $0)
        }
    }

    static func call(_ page: Page, _ name: String, _ input: String = "") throws -> JSON {
        let answer = try page.call(name, Array(input.utf8))
        return answer.isEmpty ? .null : try JSON.parse(answer).value
    }

    /// Work to its end, a piece in each step.
    static func work(
        _ page: Page,
        _ name: String,
        _ input: String = ""
    ) throws -> [String] {
        let job = try page.begin(name, Array(input.utf8))
        var told: [String] = []
        while true {
            switch try job.step({ true }) {
            case .more(let bytes): told.append(String(decoding: bytes, as: UTF8.self))
            case .end(let bytes):
                told.append(String(decoding: bytes, as: UTF8.self))
                return told.filter { !$0.isEmpty }
            }
        }
    }
}
