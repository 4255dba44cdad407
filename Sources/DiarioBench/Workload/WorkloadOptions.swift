/// What the standard workload is made of; the same options give the same bytes, everywhere.
struct WorkloadOptions: Sendable {
    /// Who names new things.
    enum Identifiers: String, CaseIterable, Sendable {
        /// The app: a random id for each new thing, as ULIDs and UUIDs are.
        case given
        /// The engine: the field is left out, and later mentions name the event that made it.
        case derived
    }

    /// How much of which app there is.
    enum Mix: String, CaseIterable, Sendable {
        /// Mostly meals and music.
        case main
        /// Mostly music and zones.
        case second
    }

    var eventCount: Int
    var seed: UInt64
    var identifiers = Identifiers.given
    var mix = Mix.main
    /// Lines as `diario record -` takes them: without origins, and so with given ids wherever a
    /// later line mentions one.
    var isForRecording = false

    /// Of 100 events, how many belong to meals, music, fish, maps and zones, in this order.
    var shares: [Int] {
        switch mix {
        case .main: [31, 25, 6, 17, 21]
        case .second: [10, 36, 6, 17, 31]
        }
    }

    /// The most phrases that a note has.
    ///
    /// With `detailPercent` it settles the mean size of a line: close to 250 bytes, though given
    /// ids take more room than derived ones.
    var phraseCountMax: Int {
        switch (identifiers, mix) {
        case (.given, _): 2
        case (.derived, .main): 7
        case (.derived, .second): 9
        }
    }

    /// Of 100 times that a line could say more than it has to, how often it does.
    var detailPercent: Int { identifiers == .given ? 12 : 100 }
}
