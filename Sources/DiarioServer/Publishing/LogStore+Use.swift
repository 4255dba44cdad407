import DiarioCore
import DiarioFormat
import DiarioLog

extension LogStore {
    /// Whether a space is somebody's: it has seen events of replicas, or came from one.
    ///
    /// Else it is one that the server made itself, and another one may have its name.
    func isUsed(_ status: SpaceStatus) throws -> Bool {
        if status.pending > 0 || status.tallies.contains(where: { !$0.isAuthority }) { return true }
        return try holdsMove(status.manifest.space)
    }

    /// Whether positions of a space were given elsewhere before: it was published, or given back.
    private func holdsMove(_ space: SpaceID) throws -> Bool {
        let name = Array(MovedEvent.name.utf8)
        var filter = LogFilter()
        filter.wantsType = { $0 == name }
        var cursor = try cursor(space, .canonical, filter: filter)
        while let events = try cursor.next() {
            if events.rows.contains(where: { events.types[$0.row.typeIndex].name == name }) {
                return true
            }
        }
        return false
    }
}
