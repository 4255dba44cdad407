import DiarioCore

/// The content of an event of a sync world; its token is unique in that world.
struct SyncEvent: Hashable, Sendable {
    enum Kind: Int, Hashable, Sendable, CaseIterable {
        case note
        /// The next version of a note.
        case newNote
        /// Makes an id, of its own origin if it gives none.
        case thing
        /// Is about a thing.
        case name
        /// May have a subject of its own.
        case mark
        /// Is about a spot, which the first event about it makes.
        case spot
        /// Of a type that no pack has.
        case stray
        /// Of a type that has another schema in the space.
        case other

        /// True if some version of the pack says who may record it.
        var asks: Bool { self == .name || self == .mark || self == .spot }

        /// The version of the pack that brings it; nil if none does.
        var packVersion: Int? {
            switch self {
            case .note, .thing, .name: 1
            case .newNote: 2
            case .mark, .spot: 3
            case .stray, .other: nil
            }
        }
    }

    var kind: Kind
    var token: Int64
    var text: [UInt8] = []
    var secret: [UInt8]?
    var actor: [UInt8]?
    /// The id that a thing gives itself.
    var id: [UInt8]?
    /// The thing or the spot, or the subject of a mark.
    var subject: [UInt8]?
    var ifUnchanged = false

    /// True if the schema accepts the text.
    var isValid: Bool { text.count <= SyncPacks.textLengthMax }
}
