/// What the standard workload is made of; the same options give the same bytes, everywhere.
struct WorkloadOptions: Sendable {
    /// Who names new things.
    enum Identifiers: String, CaseIterable, Sendable {
        /// The app: a random id for each new thing, as ULIDs and UUIDs are.
        case given
        /// The engine: the field is left out, and later mentions name the event that made it.
        case derived
    }

    /// How much of which app there is.
    enum Mix: String, CaseIterable, Sendable {
        /// Mostly meals and music.
        case main
        /// Mostly music, zones and maps.
        case second
    }

    var eventCount: Int
    var seed: UInt64 = 1
    var identifiers = Identifiers.given
    var mix = Mix.main

    /// Of 100 events, how many belong to meals, music, fish, maps and zones, in this order.
    var shares: [Int] {
        switch mix {
        case .main: [31, 25, 6, 17, 21]
        case .second: [20, 30, 4, 22, 24]
        }
    }
}

extension WorkloadOptions {
    static let help = "--seed S, --ids given|derived, --mix main|second   of the workload"

    /// The options that benchmarks share.
    init(_ arguments: inout Arguments, defaultCount: Int) throws {
        eventCount = try arguments.count("--events", 1...1_000_000_000) ?? defaultCount
        seed = UInt64(try arguments.count("--seed", 0...Int.max) ?? 1)
        identifiers = try arguments.choice("--ids", Identifiers.self) ?? .given
        mix = try arguments.choice("--mix", Mix.self) ?? .main
    }

    /// The arguments that give these options.
    var words: [String] {
        [
            "--events", "\(eventCount)", "--seed", "\(seed)", "--ids", identifiers.rawValue,
            "--mix", mix.rawValue,
        ]
    }

    /// What a report says of them.
    var settings: [(name: String, value: String)] {
        [
            ("events", "\(eventCount)"), ("ids", identifiers.rawValue), ("mix", mix.rawValue),
            ("seed", "\(seed)"),
        ]
    }

    /// Writes the workload to a file, or to standard output.
    func write(to path: String?) throws {
        let descriptor = try path.map(System.create) ?? System.standardOutput
        defer { if path != nil { System.close(descriptor) } }
        var generator = WorkloadGenerator(self)
        var bytes: [UInt8] = []
        while !generator.isFinished {
            bytes += generator.next().utf8
            if bytes.count >= 1 << 18 || generator.isFinished {
                try System.write(bytes, to: descriptor)
                bytes.removeAll(keepingCapacity: true)
            }
        }
    }
}
