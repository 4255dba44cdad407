import DiarioCore
import DiarioLog
import DiarioProjection
import DiarioSchema

extension EventPlaces {
    /// Where the events of a space are now; nil if a query does not ask for it.
    init?(askedBy sql: String, in space: Space) throws(DiarioError) {
        guard Self.areAsked(by: sql) else { return nil }
        var pending: [ReplicaID: [ClosedRange<UInt64>]] = [:]
        for run in space.store[space.id].standing().pending {
            pending[run.replica, default: []].append(run.sequences)
        }
        // What of it is damaged, `diario inbox` says.
        let (batches, _) = try SpaceInbox(space).read()
        let inbox = batches.filter { $0.recordedAgain == nil }.flatMap { batch in
            let refusal = batch.refusal
            return batch.lines.compactMap {
                InboxRow($0, rule: refusal?.rule, message: refusal?.message)
            }
        }
        let (store, id) = (space.store, space.id)
        self.init(pending: pending, inbox: inbox) { store[id].lastSequence(of: $0) }
    }
}
