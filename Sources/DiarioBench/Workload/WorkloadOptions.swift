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
        /// Mostly music, zones and maps.
        case second
        /// The first version of `main`: things are made, and then nothing happens to them.
        ///
        /// It makes 0.79 new ids for each event, more than any app that people use; see
        /// `schema/decisions/0007-what-the-standard-workload-is.md`.
        case making
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
        case .main, .making: [31, 25, 6, 17, 21]
        case .second: [20, 30, 4, 22, 24]
        }
    }

    /// Whether things are used after they were made.
    var goesOn: Bool { mix != .making }

    /// The most phrases that a note has.
    ///
    /// With `detailPercent` it settles the mean size of a line, close to 250 bytes. In `making` it
    /// does so whoever names new things; otherwise lines say the same, and derived ids are shorter.
    var phraseCountMax: Int {
        guard !goesOn else { return 4 }
        return identifiers == .given ? 2 : 7
    }

    /// Of 100 times that a line could say more than it has to, how often it does.
    var detailPercent: Int { goesOn || identifiers == .derived ? 100 : 12 }
}
