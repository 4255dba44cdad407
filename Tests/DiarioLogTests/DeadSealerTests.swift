import DiarioCore
import DiarioLog
import DiarioSimulation
import DiarioStorage
import Testing

/// A process that dies while it seals, and another one that goes on before the power fails.
@Suite struct DeadSealerTests {
    /// The name of a manifest is on disk some time after others can read it.
    ///
    /// Rows were let go of in the log because such a manifest named their segment. A power cut then
    /// brought the one before back, and they were nowhere.
    @Test(arguments: [false, true], UInt64(0)..<4)
    func whatWasSealedIsMadeToLastBeforeTheLogLetsGoOfIt(isLane: Bool, seed: UInt64) throws {
        var count = 0
        var isCut = true
        while isCut {
            count += 1
            let log = try TestLog(seed: seed)
            log.sizes.segmentCount = 8
            let store = try log.open()
            let space = try store.makeSpace(isAuthority: !isLane).space
            for _ in 0..<9 { _ = try store.append(log.append(1, secret: true, to: space)) }
            let other = try log.open(process: 1)
            log.disk.cutAfter(operations: count, .before, process: 1)
            do {
                _ = try other.seal(space, all: true)
                isCut = false
            } catch {
                #expect(error == .storage(.cut), "operation \(count)")
            }
            _ = try store.seal(space, all: true)
            log.disk.crash(using: &log.random)
            let reopened = try log.open()
            #expect(reopened.fault == nil, "operation \(count)")
            #expect(try log.numbers(space, in: reopened) == Array(1...9), "operation \(count)")
            #expect(reopened.validate() == [], "operation \(count)")
        }
        #expect(count > 10)
    }
}
