import DiarioCore
package import DiarioFish

/// How far one method errs for one kind of user and one fish, in a simulation.
///
/// All numbers are synthetic: no camera took these photos, and no person marked them. Errors are
/// in millionths of the true length.
package struct SimulationRow: Equatable, Sendable {
    package let method: Fish.Method
    package let user: String
    package let lengthUm: Int64
    package let measuredCount: Int
    package let refusedCount: Int
    /// The mean error.
    package let biasPpm: Int64
    /// The error that half of the measurements, and 95 of 100, do not exceed either way.
    package let p50Ppm: Int64
    package let p95Ppm: Int64
    package let leastPpm: Int64
    package let greatestPpm: Int64
    /// What 95 of 100 should not exceed, by the standard errors that the measurements state.
    package let budgetP95Ppm: Int64
    /// What the thesis reports of its testers, where its charts are not lost: real fish and people.
    package let thesisPpm: ClosedRange<Int64>?
}

/// Measurements of fish of known length by simulated users.
package struct Simulation: Sendable {
    /// The two fish of the thesis, and the ten minimum sizes of its table, of which some are equal
    /// and the saury has none.
    package static let lengthsUm: [Int64] = [
        113_000, 265_000, 20_000, 90_000, 110_000, 120_000, 150_000, 180_000, 200_000,
    ]

    /// Photos for each length and kind of user.
    package let count: Int
    package let seed: UInt64
    /// Nil for all.
    package var method: Fish.Method?
    package var lengthsUm = Simulation.lengthsUm
    /// What lies beside the fish, for methods that take it; the method of a card takes a card.
    package var object = ReferenceObject.eur2
    /// How well the height of the fish's line is known.
    package var heightSigmaUm: Int64 = 3000

    package init(count: Int, seed: UInt64, method: Fish.Method? = nil) {
        self.count = max(1, min(count, 1_000_000))
        self.seed = seed
        self.method = method
    }

    /// The rows by method, user and length; the same for the same numbers, whichever the machine.
    package func run() -> [SimulationRow] {
        let methods = method.map { [$0] } ?? Fish.Method.allCases
        return methods.flatMap { method in
            SimulatedUser.all.flatMap { user in
                lengthsUm.map { row(method, user, lengthUm: $0) }
            }
        }
    }

    private func row(
        _ method: Fish.Method,
        _ user: SimulatedUser,
        lengthUm: Int64
    ) -> SimulationRow {
        // Every method and user is shown the same photos.
        var random = SeededRandom(seed: seed ^ UInt64(bitPattern: lengthUm) << 20)
        var (errors, variance, refusedCount): ([Double], Double, Int) = ([], 0, 0)
        let length = Double(lengthUm)
        for _ in 0..<count {
            let photo = SimulatedPhoto(
                length: length / 1000,
                heightSigma: Double(heightSigmaUm) / 1000,
                random: &random
            )
            var marks = SimulatedMarks(
                photo: photo,
                user: user,
                random: SeededRandom(seed: random.next())
            )
            let input = marks.input(
                method,
                method == .card ? .card : object,
                heightSigmaUm: heightSigmaUm
            )
            guard let measured = try? input?.measure() else {
                refusedCount += 1
                continue
            }
            errors.append(Double(measured.lengthUm) / length - 1)
            let sigma = Double(measured.sigmaUm) / length
            variance += sigma * sigma
        }
        errors.sort()
        let sizes = errors.map(abs).sorted()
        let measuredCount = errors.count
        let one = Double(max(1, measuredCount))
        func ppm(_ part: Double) -> Int64 { (part * 1e6).nearestInteger ?? .max }
        return SimulationRow(
            method: method,
            user: user.name,
            lengthUm: lengthUm,
            measuredCount: measuredCount,
            refusedCount: refusedCount,
            biasPpm: ppm(errors.reduce(0, +) / one),
            p50Ppm: ppm(Self.percentile(50, of: sizes)),
            p95Ppm: ppm(Self.percentile(95, of: sizes)),
            leastPpm: ppm(errors.first ?? 0),
            greatestPpm: ppm(errors.last ?? 0),
            budgetP95Ppm: ppm(1.96 * (variance / one).squareRoot()),
            thesisPpm: Self.thesis(method, lengthUm)
        )
    }

    /// The least of sorted numbers that so many of a hundred do not exceed.
    private static func percentile(_ percent: Int, of sorted: [Double]) -> Double {
        guard !sorted.isEmpty else { return 0 }
        return sorted[(sorted.count * percent + 99) / 100 - 1]
    }

    /// Sections 2.2 and 2.3 of the thesis; those of the third method are in charts that are lost.
    private static func thesis(
        _ method: Fish.Method,
        _ lengthUm: Int64
    ) -> ClosedRange<Int64>? {
        switch (method, lengthUm) {
        case (.pins2, 113_000): -50_000...110_000
        case (.pins2, 265_000): 0...190_000
        case (.circle3, 113_000): 0...50_000
        case (.circle3, 265_000): 0...80_000
        default: nil
        }
    }
}
