import DiarioCore
import DiarioFormat
package import DiarioStorage
import Synchronization

// Invariants of the index; tests and the simulator check them after each step.

extension LogStore {
    /// The broken invariants of the index, as clauses; empty if there are none.
    package func validate() -> [String] {
        shared.index.withLock { $0.validate() }
    }

    /// Entries that memory holds: runs, seeds, tallies and adoptions of all spaces.
    package var indexEntryCount: Int {
        shared.index.withLock { index in
            index.spaces.indices.reduce(0) { sum, space in
                sum + space.canonical.runs.count + space.seeds.count + space.tallies.count
                    + space.adoptions.count
                    + space.lanes.reduce(0) { $0 + $1.runs.runs.count }
            }
        }
    }

    /// The directory of the log.
    package var directory: any LogDirectory { shared.directory }

    /// Files that readers hold open.
    package var openFileCount: Int { shared.files.count }
}

extension LogIndex {
    func validate() -> [String] {
        var problems: [String] = []
        var recount: [UInt64: Int] = [:]
        for id in spaces.ids.sorted() {
            let space = self[id]
            problems += space.validate().map { "space \(id.text): \($0)" }
            for run in space.allRuns { recount[UInt64(run.file), default: 0] += Int(run.liveBytes) }
            for seed in space.seeds.values {
                recount[seed.file, default: 0] += SpaceIndex.seedSize
            }
            if let state = space.state { recount[state.file, default: 0] += state.size }
        }
        for file in Set(recount.keys).union(liveBytes.files).sorted() {
            let (counted, kept) = (recount[file] ?? 0, liveBytes[file])
            guard counted != kept else { continue }
            problems.append("file \(file) has \(counted) live bytes, not \(kept)")
        }
        return problems
    }
}

extension SpaceIndex {
    var allRuns: [Run] { canonical.runs + lanes.flatMap { $0.runs.runs } }

    fileprivate func validate() -> [String] {
        var problems: [String] = []
        var next = released + 1
        for run in canonical.runs {
            if run.first != next {
                problems.append("position \(next) should come next, not \(run.first)")
            }
            next = run.last + 1
        }
        if next != head + 1 { problems.append("the head is \(head), the rows end at \(next - 1)") }
        for lane in lanes {
            if lane.runs.isEmpty { problems.append("lane \(lane.replica.text) is empty") }
            for (left, right) in zip(lane.runs.runs, lane.runs.runs.dropFirst())
            where left.last >= right.first {
                problems.append("lane \(lane.replica.text) has \(right.first) twice")
            }
            if lane.runs.runs[lane.runs.firstUnsealed...].contains(where: { $0.isSealed }) {
                problems.append("lane \(lane.replica.text) is not sealed from its start on")
            }
            if let last = lane.runs.runs.last, lastSequence(of: lane.replica) < last.last {
                problems.append("lane \(lane.replica.text) ends above its last sequence")
            }
        }
        if Set(lanes.map({ $0.replica })).count != lanes.count {
            problems.append("a lane is there twice")
        }
        for list in [canonical] + lanes.map({ $0.runs }) {
            problems += list.validate().map { "the runs at \(list.runs.first?.first ?? 0): \($0)" }
        }
        for (left, right) in zip(tallies, tallies.dropFirst()) where left.replica >= right.replica {
            problems.append("the tallies are out of order at \(right.replica.text)")
        }
        if let state, state.range.size > head || state.range.size < released {
            problems.append("the state covers \(state.range.size) positions of \(head)")
        }
        return problems
    }
}

extension RunList {
    /// The counts that are wrong.
    fileprivate func validate() -> [String] {
        var recount = RunList()
        for run in runs { recount.insert(run) { _ in } }
        var problems: [String] = []
        if recount.eventCount != eventCount {
            problems.append("\(recount.eventCount) events are counted as \(eventCount)")
        }
        if recount.liveBytes != liveBytes {
            problems.append("\(recount.liveBytes) live bytes are counted as \(liveBytes)")
        }
        return problems
    }
}
