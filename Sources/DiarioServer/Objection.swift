/// Why a batch is refused.
struct Objection: Hashable, Sendable {
    /// The rules of schema/format/sync.md, section 6.
    enum Rule: String, Hashable, Sendable, CaseIterable {
        case engineType = "engine-type"
        case unknownType = "unknown-type"
        case schema
        case invalid
        case actor
        case changed
        case cascade
        case base
        case who
    }

    let rule: Rule
    /// What is wrong, and the remedy.
    let message: String
    /// Of the event that breaks the rule.
    let sequence: UInt64
    /// Of the event that got in between, if there is one.
    var position: UInt64?
}
