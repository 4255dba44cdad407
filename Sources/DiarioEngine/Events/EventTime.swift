package import DiarioCore

/// The times at which an event may say that it happened: from 1970 to a year from now.
///
/// Asked at every door where something is recorded anew, before anything else is done with it. What
/// is in a log already, and what comes by sync, keeps its time.
package enum EventTime {
    /// Makes sure of `at`, which stands at `place` in the input.
    package static func check(
        _ at: Timestamp?,
        now: Timestamp,
        at place: InputPlace? = nil
    ) throws(DiarioError) {
        guard let at else { return }
        let isEarly = at.milliseconds < Limits.eventTimeMillisecondsMin
        // Not `now` plus a year: a clock may say anything.
        guard isEarly || at.milliseconds - Limits.eventLeadMillisecondsMax > now.milliseconds
        else { return }
        let start = place.map { "\($0.text): " } ?? ""
        throw DiarioError(
            .invalid,
            "\(start)`at` is \(shown(at)), and an event happens from 1970 to a year from now. "
                + "Correct it, or leave it out if it is now.",
            line: place?.line,
            rule: "event-time",
            field: "at"
        )
    }

    private static func shown(_ time: Timestamp) -> String {
        guard CivilTime.contains(time) else { return "\(time.milliseconds) ms after 1970" }
        var bytes: [UInt8] = []
        CivilTime.appendDateTime(time, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
