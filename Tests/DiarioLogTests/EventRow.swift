import DiarioCore
import DiarioFormat
import DiarioLog

/// All that is known of an event.
struct EventRow: Hashable {
    let origin: String
    let position: UInt64?
    let acceptedAt: Int64?
    let publicPart: [UInt8]
    let personalPart: [UInt8]
    /// What stands for a personal part that was erased.
    let commitment: [UInt8]

    static func all(_ space: SpaceID, in store: LogStore) throws -> [EventRow] {
        var rows: [EventRow] = []
        var cursor = try store.cursor(space)
        while let events = try cursor.next() {
            for stored in events.rows {
                var personal: [UInt8] = []
                var commitment: [UInt8] = []
                switch stored.row.personal {
                case .absent: break
                case .present(let range): personal = Array(events.bytes[range])
                case .erased(let range): commitment = Array(events.bytes[range])
                }
                rows.append(
                    EventRow(
                        origin: stored.row.origin.text,
                        position: stored.position,
                        acceptedAt: stored.acceptedAt?.milliseconds,
                        publicPart: Array(events.bytes[stored.row.publicPart]),
                        personalPart: personal,
                        commitment: commitment
                    )
                )
            }
        }
        return rows
    }
}
