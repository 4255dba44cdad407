import Diario
import DiarioLog
import DiarioSchema
import DiarioStorage

extension Command {
    static let log = Command(
        "log",
        "show the events of the space",
        details: """
            Shows events in order of position, and then the pending ones. On a terminal they are a
            table. In a pipe each is a line with tabs between position, origin, acceptedAt, at,
            type, version, subject, actor and payload, with - for an absent one.

            Events that the authority wrote itself are left out, unless --type names them or with
            --all: those of the engine, as that a pack was adopted, and reference data.

            A TIME is RFC 3339 as 2026-05-04T07:30:00Z, a date, or milliseconds since 1970.
            """,
        options: CommandOption.filters + [
            .value(
                "limit N",
                "at most N events: the last ones, or the first after --from, --since, unless "
                    + "with --reverse"
            ),
            .flag("reverse", "the newest first"),
            .flag("follow", "go on with events as they get positions, until Ctrl-C"),
            .flag("json", "print the events as `export` does"),
        ],
        examples: [
            "diario log --limit 10": "the last ten events",
            "diario log --type fish. --since 2026-05-01 --json":
                "the events of the pack fish since May, as JSON",
        ],
        run: { try LogCommand.run($0) }
    )
}

/// The command `diario log`.
enum LogCommand {
    private static let pollMilliseconds: Int32 = 200

    static func run(_ call: Invocation) throws {
        let arguments = call.arguments
        let filter = try arguments.filter()
        let limit = try arguments.count("limit", from: 0)
        let isFollowed = arguments.has("follow")
        guard !isFollowed || !arguments.has("reverse") else {
            throw Failure.usage("--follow shows what comes next, so it cannot be with --reverse")
        }
        guard !isFollowed || !arguments.has("pending") else {
            throw Failure.usage(
                "--follow shows events as they get positions, which pending ones have not"
            )
        }
        // Read like a file, so that a reader alone changes nothing.
        try call.reading { space in
            try space.checkTypes(of: filter)
            var printer = EventPrinter(
                call.output,
                isJSON: call.isJSON,
                namesOrigins: arguments.has("pending")
            )
            let next = try space.store.status(of: space.id).head + 1
            try printSelection(space, filter, limit, arguments, &printer)
            try printer.flush()
            if isFollowed { try follow(space, filter, from: next, call, &printer) }
        }
    }

    private static func printSelection(
        _ space: Space,
        _ filter: EventFilter,
        _ limit: UInt64?,
        _ arguments: Arguments,
        _ printer: inout EventPrinter
    ) throws {
        var rest = limit ?? .max
        var skip: UInt64 = 0
        var filter = filter
        let isReversed = arguments.has("reverse")
        let isFromStart = arguments.has("from") || arguments.has("since")
        if let limit, limit > 0, !isReversed, !isFromStart {
            skip = try narrow(&filter, toLast: limit, in: space)
        }
        var reader = try EventReader(space, filter, isReversed: isReversed)
        while rest > 0, let line = try reader.next() {
            guard skip == 0 else {
                skip -= 1
                continue
            }
            try printer.print(line)
            rest -= 1
        }
    }

    /// Changes a filter so that it begins with the last `count` wanted events.
    ///
    /// Gives how many events are still to be skipped: pending ones, which no position names. Reads
    /// the events backwards, and keeps none.
    private static func narrow(
        _ filter: inout EventFilter,
        toLast count: UInt64,
        in space: Space
    ) throws -> UInt64 {
        var reader = try EventReader(space, filter, isReversed: true)
        var seen: UInt64 = 0
        var pending: UInt64 = 0
        var first: UInt64?
        while seen < count || first == nil, let line = try reader.next() {
            if let position = line.position {
                // Enough are pending: from there on none has a position.
                if pending >= count { break }
                first = position
            } else {
                pending += 1
            }
            seen += 1
        }
        if let first, pending < count {
            filter.positions = first...(filter.positions?.upperBound ?? UInt64(Int64.max))
            return 0
        }
        // Fewer than were asked for: all are shown.
        guard pending >= count else { return 0 }
        filter.part = .pending
        return pending - count
    }

    /// Prints the events that are recorded from now on, here or by other processes, until a signal
    /// comes or no later one can be wanted.
    private static func follow(
        _ space: Space,
        _ filter: EventFilter,
        from start: UInt64,
        _ call: Invocation,
        _ printer: inout EventPrinter
    ) throws {
        Interrupt.catchSignals()
        // An import into an empty space makes another history.
        var space = space
        var lineage = try space.lineage()
        var next = start
        while !isOver(filter, next: next) {
            let ready = SystemCall.wait(
                readable: [Interrupt.descriptor],
                milliseconds: pollMilliseconds
            )
            if ready.readable[0] { return }
            if call.output.isHungUp { throw Failure.outputClosed }
            guard try space.refresh() || space.store.head(of: space.id) >= next else { continue }
            // A pack that was adopted meanwhile has types that are not known yet.
            try space.takeUpAdoptions()
            let current = try space.lineage()
            let start = current == lineage ? next : 1
            let head = space.store.head(of: space.id)
            (lineage, next) = (current, max(start, head + 1))
            let first = max(start, filter.positions?.lowerBound ?? 1)
            let last = min(head, filter.positions?.upperBound ?? .max)
            guard first <= last, filter.part != .pending else { continue }
            var new = filter
            new.positions = first...last
            new.part = .canonical
            var reader = try EventReader(space, new)
            while let line = try reader.next() { try printer.print(line) }
            try printer.flush()
        }
    }

    /// True if no later event can be wanted: by its position, or by the time of its acceptance.
    private static func isOver(_ filter: EventFilter, next: UInt64) -> Bool {
        if let last = filter.positions?.upperBound, next > last { return true }
        guard let end = filter.until else { return false }
        return SystemClock().now >= end
    }
}
