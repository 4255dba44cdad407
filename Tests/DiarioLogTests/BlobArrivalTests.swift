import DiarioCore
import DiarioCrypto
import DiarioLog
import DiarioStorage
import DiarioTestSupport
import Testing

/// Blobs that come in parts: schema/format/directory.md, section 10.
@Suite struct BlobArrivalTests {
    private let disk = CrashDisk(machineID: "server")
    private let space = SpaceID(drawnFrom: SeededEntropy(seed: 1))
    private let bytes: [UInt8]
    private var blobs: BlobStore { BlobStore(in: disk, entropy: SeededEntropy(seed: 2)) }
    private var id: Hash32 { SHA256.hash(bytes.span) }

    init() {
        var random = SeededRandom(seed: 3)
        bytes = makeBytes(1000, using: &random)
    }

    /// Takes what is missing in parts of 300 bytes, as far as that goes.
    private func receive() throws(LogError) {
        let arrival = try blobs.arrival(of: id, size: 1000, in: space)
        while true {
            let part = Array(bytes[Int(arrival.offset)...].prefix(300))
            guard try arrival.write(part.span) == .more else { return }
        }
    }

    @Test func aPartIsSeenByNobodyUnderTheID() throws {
        let arrival = try blobs.arrival(of: id, size: 1000, in: space)
        let first = Array(bytes[..<999])
        #expect(try arrival.write(first.span) == .more)
        #expect(try blobs.find(id) == nil && blobs.ids().isEmpty)
        #expect(try blobs.arrivedSize(of: id, in: space) == 999)
        #expect(try blobs.parts() == [BlobPart(id: id, space: space)])
        let other = SpaceID(drawnFrom: SeededEntropy(seed: 9))
        #expect(try blobs.arrivedSize(of: id, in: other) == 0)
        try receive()
        #expect(try blobs.fault(of: id) == nil && blobs.contains(id))
        #expect(try blobs.parts().isEmpty)
    }

    /// A sender that gave another size, or other bytes, does not keep others from sending it.
    @Test func whatIsWrongIsThrownAway() throws {
        let large = try blobs.arrival(of: id, size: 5000, in: space)
        let zeros = [UInt8](repeating: 0, count: 1200)
        #expect(try large.write(zeros.span) == .more)
        let right = try blobs.arrival(of: id, size: 1000, in: space)
        #expect(right.offset == 0)
        let wrong = Array(zeros[..<1000])
        #expect(try right.write(wrong.span) == .wrong)
        #expect(try blobs.parts().isEmpty && blobs.ids().isEmpty)
        try receive()
        #expect(try blobs.fault(of: id) == nil)
    }

    /// The power goes at each operation, in each way in which it can; then it is continued.
    @Test(arguments: CrashDisk.CutMoment.allCases)
    func aCrashLeavesNoOtherBytesUnderTheID(moment: CrashDisk.CutMoment) throws {
        var (step, isOver) = (1, false)
        while !isOver {
            let run = BlobArrivalTests()
            run.disk.cutAfter(operations: step, moment)
            do throws(LogError) {
                try run.receive()
                isOver = true
            } catch {
                #expect(error == .storage(.cut))
            }
            var random = SeededRandom(seed: UInt64(step))
            run.disk.crash(using: &random)
            for id in try run.blobs.ids() { #expect(try run.blobs.fault(of: id) == nil) }
            if isOver { #expect(try run.blobs.contains(id)) }
            // What came may have been lost in part: then it is thrown away, and begun again.
            for _ in 0..<2 where try !run.blobs.contains(id) { try run.receive() }
            #expect(try run.blobs.fault(of: id) == nil && run.blobs.contains(id))
            step += 1
        }
        #expect(step > 5)
    }
}
