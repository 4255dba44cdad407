import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSimulation
import DiarioStorage
import Foundation
import Testing

/// Every flipped bit of a directory is found, or changes no answer.
@Suite struct FlipTests {
    /// True to look at each bit, which takes minutes; else at one bit of each 45th byte.
    private static let isLong = ProcessInfo.processInfo.environment["DIARIO_LONG"] == "1"
    /// Two tests share the work, and each begins at another byte.
    private static let step = isLong ? 2 : 45

    /// Of these a fault has to be found, since what they hold is needed.
    private static let guarded = ["dseg", "dper", "manifest", "replica", "tiles/size", "tiles/1"]

    @Test(arguments: 0..<2) func everyFlipIsFoundOrChangesNothing(part: Int) throws {
        let sample = try FlipSample()
        let expected = try sample.answers(sample.log)
        #expect(expected.isFaultFree)
        let disk = sample.log.disk
        for path in try sample.files() {
            let bytes = try Files.contents(of: path, in: disk, sizeMax: .max)
            // What follows the frames is zeros, which only a few places stand for.
            let used = (bytes.lastIndex { $0 != 0 } ?? 0) + 1
            var offset = part
            while offset < bytes.count {
                let bits = Self.isLong && offset < used ? Array(0..<8) : [(offset / 2) % 8]
                for bit in bits {
                    try disk.flipBit(bit, at: offset, of: path)
                    let found = try sample.answers(sample.log)
                    try disk.flipBit(bit, at: offset, of: path)
                    let isGuarded = Self.guarded.contains { path.hasSuffix($0) }
                    if isGuarded {
                        #expect(!found.isFaultFree, "\(path), byte \(offset), bit \(bit)")
                    }
                    let isSame = found == expected
                    #expect(
                        isSame || !found.isFaultFree,
                        "\(path), byte \(offset), bit \(bit): another answer, and no fault"
                    )
                }
                offset += offset < used ? Self.step : 4096
            }
        }
    }
}

/// A directory with a sealed part, a tail and a lane.
private struct FlipSample {
    struct Answers: Equatable {
        var rows: [[EventRow]] = []
        var roots: [Hash32] = []
        var isFaultFree = true
    }

    let log: TestLog
    let spaces: [SpaceID]

    init() throws {
        var sizes = TestLog.small
        (sizes.reserve, sizes.fileMax, sizes.growthMin) = (512, 40 * 1024, 1024)
        let sealed = try SealedLog(segmentCount: 256, mergedCount: 256, sizes: sizes)
        log = sealed.log
        for start in stride(from: Int64(0), to: 300, by: 20) {
            try sealed.append(.note, start..<start + 20)
        }
        _ = try sealed.store.seal(sealed.space, all: false)
        try sealed.fill(300..<310)
        _ = try sealed.store.seal(sealed.space, all: true)
        try sealed.fill(310..<320)
        try sealed.fill(320..<323)
        let lane = try sealed.store.makeSpace(isAuthority: false).space
        _ = try sealed.store.append(log.append(2, secret: true, to: lane))
        _ = try sealed.store.append(log.append(2, to: lane))
        spaces = [sealed.space, lane]
        try sealed.store.close()
    }

    func files(in folder: String = "") throws -> [String] {
        var found: [String] = []
        for name in try log.disk.list(folder) {
            let path = folder.isEmpty ? name : folder + "/" + name
            if (try? log.disk.list(path)) != nil {
                found += try files(in: path)
            } else {
                found.append(path)
            }
        }
        return found
    }

    /// All that a reader is told; a failure counts as a fault that was found.
    func answers(_ log: TestLog) throws -> Answers {
        var answers = Answers()
        do {
            let store = try log.open(access: .readOnly)
            answers.isFaultFree = store.fault == nil && store.cut == nil
            guard try store.manifests().map(\.space).sorted() == spaces.sorted() else {
                throw LogError.notALog
            }
            for space in spaces {
                let result = try store.verify(space) { _ in nil }
                if !result.faults.isEmpty { answers.isFaultFree = false }
                guard answers.isFaultFree else { return answers }
                answers.rows.append(try EventRow.all(space, in: store))
                answers.roots.append(try store[space].root())
                if try store[space].status().head > 0 {
                    _ = try store[space].proofs.inclusion(of: 1)
                }
            }
        } catch {
            answers.isFaultFree = false
        }
        return answers
    }
}
