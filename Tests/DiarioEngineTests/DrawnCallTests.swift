import DiarioCore
import DiarioEngine
import DiarioFish
import DiarioSchema
import DiarioSimulation
import Testing

/// The commands and views of all domains, with inputs, rows and times that are drawn: the fuzzer
/// goes on from here (`tools/fuzz 60 calls`).
@Suite struct DrawnCallTests {
    /// K1: an `at` beyond all bounds ended the server, and so did rows that no rule expected.
    @Test(arguments: UInt64(0)..<8) func noCallTraps(seed: UInt64) throws {
        let pack = try #require(try PackSource.builtIn().first { $0.name == "fish" })
        let calls = DrawnCalls(of: pack, Fish.domain)
        #expect(calls.names.count == Fish.domain.entries.count)
        let draws = Draws(seed: seed)
        var reached: Set<String> = []
        var (faultCount, refusedCount) = (0, 0)
        for _ in 0..<2000 {
            let (name, answer, fault) = calls.run(draws)
            if fault != nil { faultCount += 1 }
            switch answer {
            case .answered: reached.insert(name)
            case .refused: refusedCount += 1
            case .broken: break
            }
        }
        // The draws are worth something: inputs of both kinds, rows of both, and many answers.
        #expect(faultCount > 0 && refusedCount > 0)
        #expect(reached.count > calls.names.count / 2, "\(reached.sorted())")
    }
}
