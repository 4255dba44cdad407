package import Diario

// The options that choose the events of `log` and `export`.
extension CommandOption {
    static let filters: [CommandOption] = [
        .values(
            "type TYPE",
            "only this type, or all types of a pack: `meals.`; repeatable",
            .typeName
        ),
        .value("subject TEXT", "only events about this subject"),
        .value("actor ID", "only events of this actor"),
        .value("replica ID", "only events that this replica wrote"),
        .value("since TIME", "only events accepted at TIME or later"),
        .value("until TIME", "only events accepted before TIME"),
        .value("from POSITION", "only events from this position on"),
        .value("to POSITION", "only events up to this position"),
        .flag("pending", "only events that have no position yet"),
        .all,
    ]
    /// For `stats` as well.
    static let all = CommandOption.flag(
        "all",
        "also events of the authority itself: adoptions of packs, refusals, reference data"
    )
}

extension Arguments {
    /// Whether some of the events are chosen.
    package var choosesEvents: Bool {
        CommandOption.filters.contains { $0.name != "all" && has($0.name) }
    }

    /// The events that the options choose.
    package func filter() throws -> EventFilter {
        var filter = EventFilter(types: all("type"))
        if has("all") { filter.includesAuthority = true }
        filter.subject = value("subject")
        filter.actor = value("actor")
        filter.replica = try replica("replica")
        filter.since = try time("since")
        filter.until = try time("until")
        let from = try count("from", from: 1)
        let to = try count("to", from: 1)
        if has("pending") {
            guard from == nil, to == nil, filter.since == nil, filter.until == nil else {
                throw Failure.usage(
                    "pending events have neither position nor time of acceptance, so --pending "
                        + "goes with none of --from, --to, --since, --until",
                    in: command
                )
            }
            filter.wantPending()
        } else if from != nil || to != nil {
            let (first, last) = (from ?? 1, to ?? UInt64(Int64.max))
            guard first <= last else { throw Failure.usage("--from is after --to", in: command) }
            filter.wantPositions(first...last)
        } else if filter.since != nil || filter.until != nil {
            filter.wantPositions()
        }
        return filter
    }
}
