import DiarioCore
import DiarioLog
import DiarioStorage
import Synchronization
import Testing

/// Replicas that are made anew while others record into them.
@Suite struct SpaceRenewalTests {
    /// What another thread recorded while the new space was made got a sequence behind the end of
    /// this replica's former id there, as if another device had recorded it.
    @Test func whatOthersRecordMeanwhileIsThisReplicasOwn() throws {
        var lane = try LaneLog()
        let (log, old) = (lane.log, lane.space)
        try lane.append(3)
        try lane.promote(2)
        let append = log.append(1, to: old)
        let opened = Mutex<LogStore?>(nil)
        let meddling = MeddlingDirectory.Meddling(at: .staging, 1) {
            let store = opened.withLock { $0 }
            do { _ = try store?.append(append) } catch { Issue.record(error) }
        }
        let store = try log.open(MeddlingDirectory(log.disk.process(2), meddling))
        opened.withLock { $0 = store }
        let plan = SpaceRenewal.Plan(size: 2, epoch: 0)
        let space = try SpaceRenewal.run(plan, of: old, in: store) { _ in nil }.space
        #expect(try log.numbers(space, in: store) == [1, 2, 3, 4])
        let file = LogPaths.replica(space)
        let bytes = try Files.contents(of: file, in: log.disk.process(2), sizeMax: 4096)
        let content = ReplicaFile(bytes.span)
        #expect(content?.former == [FormerID(lane.replica, lastSequence: 4)])
    }
}
