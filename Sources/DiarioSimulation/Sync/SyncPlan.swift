import DiarioCore
import DiarioLog

/// The steps of a sync world: drawn from its seed, and shrunk when a promise breaks.
///
/// Each step has its own seed, so that the others do the same when one is left out.
package struct SyncPlan: Sendable {
    package let seed: UInt64
    package var deviceCount: Int
    /// The traits of the world.
    package var traits: Traits
    package var steps: [SyncStep]

    /// Faults and loads that only some worlds have.
    package struct Traits: OptionSet, Hashable, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }

        /// The network loses, delays and garbles from time to time.
        package static let roughNetwork = Traits(rawValue: 1)
        /// Processes die and the power goes.
        package static let crashes = Traits(rawValue: 2)
        /// Disks are full, or fail to sync.
        package static let badDisks = Traits(rawValue: 4)
        /// Clocks drift and jump.
        package static let wildClocks = Traits(rawValue: 8)
        /// Events that must be refused.
        package static let refusals = Traits(rawValue: 16)
        /// Read models are kept up and compared.
        package static let models = Traits(rawValue: 32)
        /// One request moves few events.
        package static let smallExchanges = Traits(rawValue: 64)
        /// Disks of devices are copied, and both go on, or are restored.
        package static let clones = Traits(rawValue: 128)
        /// The disk of the server is restored.
        package static let restores = Traits(rawValue: 256)
        /// Some batches have up to 1,000 events.
        package static let longBatches = Traits(rawValue: 512)
    }

    /// Steps in the life of a world.
    package static let stepCount = 70

    package init(seed: UInt64, stepCount: Int = SyncPlan.stepCount) {
        self.seed = seed
        var random = SeededRandom(seed: seed ^ 0x0053_594e_4350_4c41)
        deviceCount = 2 + (random.oneIn(4) ? random.below(7) : random.below(3))
        var traits: Traits = []
        func draw(_ trait: Traits, _ isThere: Bool) { if isThere { traits.insert(trait) } }
        draw(.roughNetwork, !random.oneIn(4))
        draw(.crashes, !random.oneIn(3))
        draw(.badDisks, random.oneIn(4))
        draw(.wildClocks, random.oneIn(3))
        draw(.refusals, !random.oneIn(3))
        draw(.models, random.oneIn(4))
        draw(.smallExchanges, random.oneIn(3))
        draw(.clones, random.oneIn(2))
        draw(.restores, random.oneIn(3))
        draw(.longBatches, random.oneIn(8))
        self.traits = traits
        steps = []
        for number in 0..<stepCount {
            let kind = random.pick(SyncStep.Kind.allCases) { $0.weight(traits) }
            steps.append(SyncStep(number: number, kind: kind, seed: random.next()))
        }
    }

    /// The sizes of a log, of which some are drawn.
    func sizes(using random: inout SeededRandom) -> LogSizes {
        var frameMax = 32 * 1024 << random.below(2)
        // A frame takes a block of news: some batches, and then one that may be long.
        if traits.contains(.longBatches) { frameMax *= 32 }
        var sizes = LogSizes(frameMax: frameMax, using: &random)
        sizes.segmentCount = 4 << random.below(3)
        sizes.mergedCount = sizes.segmentCount * (1 + random.below(4))
        // Not random, so that the worlds of known seeds stay the same.
        sizes.columnsCountMin = 2 * sizes.segmentCount
        sizes.contextCountMin = 3
        if traits.contains(.smallExchanges) { sizes.exchangeCount = 1 + random.below(12) }
        return sizes
    }

    /// The same world, in which only these steps are made.
    package func keeping(_ numbers: Set<Int>) -> SyncPlan {
        var plan = self
        plan.steps.removeAll { !numbers.contains($0.number) }
        return plan
    }
}

/// Something that happens in a sync world.
package struct SyncStep: Hashable, Sendable {
    /// Its place in the plan of its seed.
    package let number: Int
    package let kind: Kind
    let seed: UInt64

    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case record, recordAtServer, adopt, seal, check, models, reopen, restartSync
        case pushWithGap
        case revoke, changeRoles, moveClock
        case partition, halfOpen, storm
        case planCut, crash, kill
        case failSyncs, failWrites, failFiles, fillDisk
        case clone, revert, restore, join, relay

        /// The relative frequency in worlds with these traits.
        func weight(_ traits: SyncPlan.Traits) -> Int {
            func only(_ trait: SyncPlan.Traits, _ weight: Int) -> Int {
                traits.contains(trait) ? weight : 0
            }
            return switch self {
            case .record: 60
            case .seal: 10
            case .recordAtServer: 6
            case .check, .reopen: 4
            case .adopt: 6
            case .restartSync, .pushWithGap, .changeRoles: 3
            case .join: 8
            case .revoke: only(.refusals, 2)
            case .models: only(.models, 12)
            case .moveClock: only(.wildClocks, 8)
            case .partition: only(.roughNetwork, 5)
            case .halfOpen: only(.roughNetwork, 6)
            case .storm: only(.roughNetwork, 10)
            case .planCut: only(.crashes, 14)
            case .crash: only(.crashes, 3)
            case .kill: only(.crashes, 4)
            case .failSyncs, .failFiles: only(.badDisks, 5)
            case .failWrites, .fillDisk: only(.badDisks, 3)
            case .clone: only(.clones, 3)
            case .revert: only(.clones, 6)
            case .restore: only(.restores, 7)
            case .relay: only(.restores, 3)
            }
        }
    }
}
