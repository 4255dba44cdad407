import DiarioCore
package import DiarioStorage

/// A short sequence of operations that is cut at each of its disk operations in turn.
///
/// Unlike random worlds this is exhaustive: the cut comes before, half-way through and after every
/// single operation, as a power cut or as the end of the process.
package struct CrashScript: Sendable {
    /// The kind of a cut.
    package enum End: Sendable, CaseIterable {
        case power
        case process
    }

    package let name: String
    private let seed: UInt64
    private let act: @Sendable (World) throws -> Void

    /// The scripts that there are.
    package static let all: [CrashScript] = [
        CrashScript("append", 1) { try $0.repeating(2, .append) },
        CrashScript("roll file", 3) { try $0.repeating(14, .append) },
        CrashScript("turn over", 4) { world in
            for _ in 0..<10 {
                try world.repeating(2, .append)
                try world.repeating(1, .check, .release)
            }
        },
        CrashScript("promote", 5) { try $0.repeating(3, .append, .promote) },
        CrashScript("release", 6) { try $0.repeating(2, .check, .release, .append) },
        CrashScript("seal", 12) { try $0.repeating(2, .append, .seal, .append) },
        CrashScript("merge", 13) { world in
            for _ in 0..<4 {
                try world.repeating(3, .append)
                try world.repeating(2, .clock, .seal)
            }
            try world.repeating(1, .check)
        },
        CrashScript("seal lane", 14) { try $0.repeatingLane(2, .append, .append, .seal) },
        CrashScript("promote sealed", 16) { world in
            try world.repeatingLane(3, .append)
            try world.repeatingLane(2, .seal, .promote)
            try world.repeating(1, .clock)
            try world.repeatingLane(1, .seal)
        },
        CrashScript("turn over lane", 17) { world in
            try world.repeatingLane(3, .append)
            try world.repeatingLane(1, .seal, .promote)
            try world.repeating(5, .append)
            try world.repeating(1, .reopen)
        },
        CrashScript("failed sync", 7) { world in
            world.disk.failNextSyncs(1)
            world.hasFaults = true
            world.mayOweFailures = true
            try world.repeating(5, .append)
        },
        CrashScript("close and open", 8) { try $0.repeating(2, .append, .reopen) },
        CrashScript("make space", 21) { try $0.repeating(1, .makeSpace, .append) },
        CrashScript("remove space", 10) { try $0.repeating(1, .remove, .append) },
        CrashScript("keep pack", 11) { try $0.repeating(3, .keep, .append) },
    ]

    private init(_ name: String, _ seed: UInt64, _ act: @escaping @Sendable (World) throws -> Void)
    {
        self.name = name
        self.seed = seed
        self.act = act
    }

    /// Cuts at every `stride`-th operation from `first` on until the script ends without a cut.
    ///
    /// Gives the number of cuts; the error names the broken promise and the cut.
    package func run(
        _ moment: CrashDisk.CutMoment,
        _ end: End,
        from first: Int = 1,
        stride: Int = 1,
        kinds: EventKinds
    ) throws -> Int {
        var operation = first
        var cutCount = 0
        while true {
            let world = World(seed: seed, kinds: kinds, lineCountMax: 30)
            do {
                try world.prepareForScript()
                world.planCut(end == .process ? .process(0) : .power, after: operation, moment)
                try act(world)
                let wasCut = world.plannedCut == nil
                try world.finish()
                guard wasCut else { return cutCount }
            } catch {
                let what = (error as? Broken)?.what ?? "\(error)"
                let lines = world.trace.lines.joined(separator: "\n  ")
                throw Broken(
                    .log,
                    "\(name), \(end) cut \(moment) operation \(operation): \(what)\n  \(lines)"
                )
            }
            cutCount += 1
            operation += stride
        }
    }
}

extension World {
    /// A log with two spaces, one of each kind, and some events in each.
    fileprivate func prepareForScript() throws {
        try begin()
        try makeSpace(0, isAuthority: known.state.spaces.values.allSatisfy { !$0.isAuthority })
        try repeating(6, .append)
        try perform(.check)
    }

    /// Does these steps in order, so many times.
    fileprivate func repeating(_ count: Int, _ steps: Step...) throws {
        for _ in 0..<count {
            for step in steps { try perform(step) }
        }
    }

    /// The same on the first lane.
    fileprivate func repeatingLane(_ count: Int, _ steps: Step...) throws {
        defer { focus = nil }
        for _ in 0..<count {
            for step in steps {
                let state = known.state
                focus = state.ids.first { state.spaces[$0]?.isAuthority == false }
                try perform(step)
            }
        }
    }
}
