package import DiarioCore

/// The content of an event of a simulated world; its number is unique in that world.
package struct SimulatedEvent: Hashable, Sendable {
    package enum Kind: Hashable, Sendable, CaseIterable {
        /// A public text and maybe a secret one.
        case note
        /// Makes an id of its own origin.
        case item
        /// A pack was adopted: only an authority says so.
        case adoption
    }

    package var kind: Kind
    package var number: Int64
    package var text: [UInt8]
    /// The personal field of a note; nil if it has none.
    package var secret: [UInt8]?
    package var actor: [UInt8]?
    /// When the author says it happened; nil for the time of its clock.
    package var at: Int64?

    package init(
        kind: Kind,
        number: Int64,
        text: [UInt8] = [],
        secret: [UInt8]? = nil,
        actor: [UInt8]? = nil,
        at: Int64? = nil
    ) {
        self.kind = kind
        self.number = number
        self.text = text
        self.secret = secret
        self.actor = actor
        self.at = at
    }
}

extension SimulatedEvent {
    /// A random event; of the pack `engine` only if `isAuthority`.
    package static func draw(
        number: Int64,
        isAuthority: Bool,
        textSizeMax: Int,
        now: Int64,
        using random: inout SeededRandom
    ) -> SimulatedEvent {
        if isAuthority, random.oneIn(4) { return SimulatedEvent(kind: .adoption, number: number) }
        var event = SimulatedEvent(kind: random.oneIn(3) ? .item : .note, number: number)
        // Mostly short, since a few long texts leave no room for many events.
        let size = random.oneIn(8) ? random.below(textSizeMax) : random.below(40)
        event.text = random.letters(size)
        if event.kind == .note, random.oneIn(2) {
            event.secret = random.letters(1 + random.below(20))
        }
        if random.oneIn(4) { event.actor = random.letters(1 + random.below(8)) }
        if random.oneIn(4) { event.at = now - Int64(random.below(1_000_000)) }
        return event
    }
}
