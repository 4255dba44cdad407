import Diario
import DiarioCore
import DiarioLog
import DiarioSchema
import DiarioStorage

/// The command `diario log`.
enum LogCommand {
    private static let pollMilliseconds: Int32 = 200

    static func run(_ call: Invocation) throws(Failure) {
        let arguments = call.arguments
        let filter = try checkingUsage { () throws(UsageError) in
            try arguments.filter()
        }
        let limit = try checkingUsage { () throws(UsageError) in
            try arguments.count("limit", from: 0)
        }
        let isReversed = arguments.has("reverse")
        guard !(isReversed && arguments.has("follow")) else {
            throw .usage("--follow shows what comes next, so it cannot be with --reverse")
        }
        guard !(arguments.has("pending") && arguments.has("follow")) else {
            throw .usage("--follow shows events as they get positions, which pending ones have not")
        }
        // Read like a file, so that a reader alone changes nothing.
        try call.withSpace(.readOnly) { (space) throws(Failure) in
            try space.checkTypes(of: filter)
            var printer = EventPrinter(
                call.output,
                isJSON: arguments.has("json"),
                namesOrigins: arguments.has("pending")
            )
            let next = try head(of: space) + 1
            try printSelection(space, filter, limit, arguments, &printer)
            try printer.flush()
            if arguments.has("follow") {
                try follow(space, filter, from: next, call, &printer)
            }
        }
    }

    private static func head(of space: Space) throws(Failure) -> UInt64 {
        try reportingLog { () throws(LogError) in try space.store.status(of: space.id) }.head
    }

    private static func printSelection(
        _ space: Space,
        _ filter: EventFilter,
        _ limit: UInt64?,
        _ arguments: Arguments,
        _ printer: inout EventPrinter
    ) throws(Failure) {
        var rest = limit ?? .max
        var skip: UInt64 = 0
        let isReversed = arguments.has("reverse")
        let isFromStart = arguments.has("from") || arguments.has("since")
        var filter = filter
        if let limit, limit > 0, !isReversed, !isFromStart {
            skip = try narrow(&filter, toLast: limit, in: space)
        }
        var reader = try reporting { () throws(DiarioError) in
            try EventReader(space, filter, isReversed: isReversed)
        }
        while rest > 0 {
            guard let line = try reporting({ () throws(DiarioError) in try reader.next() }) else {
                return
            }
            guard skip == 0 else {
                skip -= 1
                continue
            }
            try printer.print(line)
            rest -= 1
        }
    }

    /// Changes a filter so that it begins where the last `count` wanted events do.
    ///
    /// Gives how many events are still to be passed over: pending ones, which cannot be named by
    /// position. Looks at the events backwards, and keeps none.
    private static func narrow(
        _ filter: inout EventFilter,
        toLast count: UInt64,
        in space: Space
    ) throws(Failure) -> UInt64 {
        let wanted = filter
        var reader = try reporting { () throws(DiarioError) in
            try EventReader(space, wanted, isReversed: true)
        }
        var seen: UInt64 = 0
        var pending: UInt64 = 0
        var first: UInt64?
        while seen < count || first == nil {
            guard let line = try reporting({ () throws(DiarioError) in try reader.next() }) else {
                break
            }
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

    /// Prints what is recorded from now on, here or by other processes, until a signal comes or
    /// nothing more can be wanted.
    private static func follow(
        _ space: Space,
        _ filter: EventFilter,
        from start: UInt64,
        _ call: Invocation,
        _ printer: inout EventPrinter
    ) throws(Failure) {
        Interrupt.catchSignals()
        var followed = Followed(
            space: space,
            lineage: try reporting { () throws(DiarioError) in try space.lineage() },
            next: start
        )
        while !isOver(filter, next: followed.next) {
            let ready = SystemCall.wait(
                readable: [Interrupt.descriptor],
                milliseconds: pollMilliseconds
            )
            if ready.readable[0] { return }
            if call.output.isHungUp { throw .outputClosed }
            guard let positions = try followed.newPositions() else { continue }
            var new = filter
            let first = max(positions.lowerBound, filter.positions?.lowerBound ?? 1)
            let last = min(positions.upperBound, filter.positions?.upperBound ?? .max)
            guard first <= last, filter.part != .pending else { continue }
            new.positions = first...last
            new.part = .canonical
            let wanted = new
            var reader = try reporting { () throws(DiarioError) in
                try EventReader(followed.space, wanted)
            }
            while let line = try reporting({ () throws(DiarioError) in try reader.next() }) {
                try printer.print(line)
            }
            try printer.flush()
        }
    }

    /// Whether all that comes is behind what is wanted: by its position, or by the time at which it
    /// is accepted.
    private static func isOver(_ filter: EventFilter, next: UInt64) -> Bool {
        if let last = filter.positions?.upperBound, next > last { return true }
        guard let end = filter.until else { return false }
        return SystemClock().now >= end
    }

    /// A space that others write to.
    private struct Followed {
        let space: Space
        /// The history that was shown; an import into an empty space makes it anew.
        var lineage: Lineage
        /// The first position that was not shown yet.
        var next: UInt64

        /// The positions that are there since the last call.
        mutating func newPositions() throws(Failure) -> ClosedRange<UInt64>? {
            let (space, next) = (space, next)
            let current = try reporting { () throws(DiarioError) -> Lineage? in
                let isMore = try space.refresh()
                guard isMore || space.store.head(of: space.id) >= next else { return nil }
                // What was adopted meanwhile has types that are not known yet.
                try space.takeUpAdoptions()
                return try space.lineage()
            }
            guard let current else { return nil }
            let first = current == lineage ? next : 1
            let head = space.store.head(of: space.id)
            lineage = current
            self.next = max(first, head + 1)
            return first <= head ? first...head : nil
        }
    }
}
