import DiarioCore
import DiarioEngine
import DiarioFish
import DiarioSchema
import DiarioSimulation

/// The commands and views of all domains, with inputs, rows and times that the bytes draw.
enum CallSubject {
    static func run(_ bytes: [UInt8]) {
        let draws = Draws(bytes, seed: UInt64(bytes.count))
        for calls in all { _ = calls.run(draws) }
    }

    private static let all: [DrawnCalls] = [Fish.domain].compactMap { domain in
        let pack = try? PackSource.builtIn().first { $0.name == domain.pack }
        return pack.map { DrawnCalls(of: $0, domain) }
    }
}
