import DiarioCore

/// The content of an event of a sync world; its token is unique in that world.
struct SyncEvent: Hashable, Sendable {
    enum Kind: Int, Hashable, Sendable, CaseIterable {
        case note
        /// The next version of a note.
        case newNote
        /// Makes an id of its own origin.
        case thing
        /// Is about a thing.
        case name
        /// May have a subject of its own.
        case mark
        /// Of a type that no pack has.
        case stray
        /// Of a type that has another schema in the space.
        case other

        /// The version of the pack that brings it; nil if none does.
        var packVersion: Int? {
            switch self {
            case .note, .thing, .name: 1
            case .newNote: 2
            case .mark: 3
            case .stray, .other: nil
            }
        }
    }

    var kind: Kind
    var token: Int64
    var text: [UInt8] = []
    var secret: [UInt8]?
    var actor: [UInt8]?
    /// The thing, or the subject of a mark.
    var subject: [UInt8]?
    var ifUnchanged = false

    /// True if the schema accepts the text.
    var isValid: Bool { text.count <= SyncPacks.textLengthMax }
}
