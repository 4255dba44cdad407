/// A promise that did not hold.
package struct Broken: Error, Sendable {
    package let promise: Promise
    package let what: String

    /// The promises; a shrunk world breaks the same one as the whole.
    package enum Promise: String, Sendable, CaseIterable {
        /// A log opens, and fails only where a disk does.
        case works
        /// A log shows what was appended to it, and nothing else: all that the world of one log
        /// checks.
        case log
        /// Nothing that was acknowledged is lost.
        case kept
        /// Every event has one place.
        case once
        /// Events are read as they were recorded.
        case content
        /// Positions are dense and do not change.
        case positions
        /// Sequences of one replica increase with position.
        case sequences
        /// A new event has a later clock than all events known on its device.
        case clocks
        /// Verdicts follow the rules, and stay as they are.
        case verdicts
        /// Every request that reached a live server is answered.
        case answered
        /// No replica pauses without a reason.
        case running
        /// Once the network heals, all is settled.
        case settled
        /// All replicas have the same root and the same read models.
        case equal
        /// Memory stays small.
        case bounded
    }

    init(_ promise: Promise, _ what: String) {
        self.promise = promise
        self.what = what
    }
}
