/// An accepted event that a read model cannot take.
package struct QuarantinedEvent: Hashable, Sendable {
    package let model: String
    package let origin: Origin
    /// Nil while it is pending.
    package let position: UInt64?
    package let type: String
    package let version: Int
    /// `sql`, `upcast`, `version` or `limit`.
    package let rule: String
    package let message: String
    package init(
        model: String,
        origin: Origin,
        position: UInt64?,
        type: String,
        version: Int,
        rule: String,
        message: String
    ) {
        self.model = model
        self.origin = origin
        self.position = position
        self.type = type
        self.version = version
        self.rule = rule
        self.message = message
    }
}
