import Diario
import DiarioSchema

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
            "diario log --type meals. --since 2026-05-01 --json":
                "the events of the pack meals since May, as JSON",
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
            let next = space.head + 1
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
        let isReversed = arguments.has("reverse")
        let isFromStart = arguments.has("from") || arguments.has("since")
        var reader =
            if let limit, !isReversed, !isFromStart {
                try EventReader(space, filter, last: limit)
            } else {
                try EventReader(space, filter, isReversed: isReversed)
            }
        while rest > 0, let line = try reader.next() {
            try printer.print(line)
            rest -= 1
        }
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
        while !isOver(filter, next: next, at: space.now) {
            let ready = SystemCall.wait(
                readable: [Interrupt.descriptor],
                milliseconds: pollMilliseconds
            )
            if ready.readable[0] { return }
            if call.output.isHungUp { throw Failure.outputClosed }
            guard try space.refresh() || space.head >= next else { continue }
            // A pack that was adopted meanwhile has types that are not known yet.
            try space.takeUpAdoptions()
            let current = try space.lineage()
            let start = current == lineage ? next : 1
            let head = space.head
            (lineage, next) = (current, max(start, head + 1))
            let first = max(start, filter.positions?.lowerBound ?? 1)
            let last = min(head, filter.positions?.upperBound ?? .max)
            guard first <= last else { continue }
            var new = filter
            new.wantPositions(first...last)
            var reader = try EventReader(space, new)
            while let line = try reader.next() { try printer.print(line) }
            try printer.flush()
        }
    }

    /// True if no later event can be wanted: by its position, or by the time of its acceptance.
    private static func isOver(
        _ filter: EventFilter,
        next: UInt64,
        at now: Timestamp
    ) -> Bool {
        if let last = filter.positions?.upperBound, next > last { return true }
        guard let end = filter.until else { return false }
        return now >= end
    }
}
