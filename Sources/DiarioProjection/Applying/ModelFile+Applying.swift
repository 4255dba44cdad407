package import DiarioFormat
import DiarioSQLite
package import DiarioSchema

/// Why an event was not applied.
package enum ApplyError: Error {
    /// A read model cannot take it: everything since `begin` must be repeated with savepoints.
    case needsCare
    /// The file itself cannot be changed.
    case file(ProjectionError)
    /// The source of events failed.
    case source(any SourceFailure)
}

/// How a source of events failed: its own error, in a class, as Embedded Swift wants it.
package protocol SourceFailure: AnyObject, Sendable {}

extension ModelFile {
    /// The care with which events are applied.
    package enum Care: Sendable {
        /// Without savepoints: fast, but repeated with them once a model cannot take an event.
        case none
        /// A savepoint for each event and read model: one that fails goes to quarantine.
        case eachEvent
    }

    /// Applies the event to all models that have not had it.
    ///
    /// Canonical events come in order of position. Pending ones are those of the newest section.
    package func apply(_ event: EventLine, _ care: Care) throws(ApplyError) {
        try apply(event, try routes(of: event.type), care)
    }

    /// The same for the events of a window: for at most so many that models of the pack listen to,
    /// and for fewer if the changes should be committed first.
    ///
    /// Gives the event to continue with, and the number applied.
    package func apply(
        _ events: ColumnEvents,
        _ window: ColumnWindow,
        countMax: Int,
        _ care: Care
    ) throws(ApplyError) -> (next: Int, count: Int) {
        var place = try events.start(of: window) { (type) throws(ApplyError) in
            try routes(of: type)
        }
        let wanted = window.wanted.prefix(countMax)
        var count = 0
        // As a rule all models take all events, and none needs care.
        if case .none = care, place.isPlain(where: { models[$0].applied }) {
            count = try applyPlain(wanted, window, &place)
        } else {
            for event in wanted {
                let type = Int(window.types[Int(event)])
                try apply(place.next(Int(event), ofType: type), place.routes(type), care)
                count += 1
                if shouldCommit { break }
            }
        }
        let next = window.wanted.dropFirst(count).first
        return (next.map { Int($0) } ?? window.events.upperBound, count)
    }

    /// Applies events by columns alone; gives how many, until changes should be committed.
    private func applyPlain(
        _ events: ArraySlice<Int32>,
        _ window: ColumnWindow,
        _ place: inout ColumnPlace
    ) throws(ApplyError) -> Int {
        defer { stepLimit.end() }
        var count = 0
        do throws(SQLiteError) {
            for event in events {
                stepLimit.begin()
                try place.runNext(ofType: Int(window.types[Int(event)]))
                count += 1
                if isSpent { break }
            }
        } catch {
            let fault = EventFault.sqlite(error, file: "", line: 0, bound: nil)
            if let error = fault.fileError(path) { throw .file(error) }
            throw .needsCare
        }
        for (type, count, routes) in place.taken {
            touched[ObjectIdentifier(type)] = type
            for route in routes { models[route.model].taken += count }
        }
        lastTouched = nil
        return count
    }

    private func routes(of type: EventType) throws(ApplyError) -> [Route] {
        do throws(ProjectionError) {
            return try statements.routes(of: type, isLane: images.isOn, connection)
        } catch {
            throw .file(error)
        }
    }

    private func apply<Event: EventValues>(
        _ event: Event,
        _ routes: [Route],
        _ care: Care
    ) throws(ApplyError) {
        if lastTouched !== event.type {
            lastTouched = event.type
            touched[ObjectIdentifier(event.type)] = event.type
        }
        for route in routes {
            if let position = event.position, position <= models[route.model].applied { continue }
            switch care {
            case .none:
                do throws(EventFault) { try statements.run(event, route, connection) } catch {
                    if let error = error.fileError(path) { throw .file(error) }
                    throw .needsCare
                }
                models[route.model].taken += 1
            case .eachEvent: try runCarefully(event, route)
            }
        }
    }

    /// Notes that all canonical events up to `position` were applied to the models that lag most.
    package func settleLagging(through position: UInt64) {
        let start = applied
        for index in models.indices where models[index].applied == start {
            models[index].applied = position
        }
    }

    /// Notes that every canonical event up to `position` has had its effect on all models.
    package func settle(through position: UInt64) {
        for index in models.indices { models[index].applied = position }
    }

    /// True if all models are at one position.
    package var isEven: Bool { models.allSatisfy { $0.applied == models[0].applied } }

    /// Notes that no model listens to any further event up to `position`.
    ///
    /// It is written with the next change, or after many events; until then they may be read again.
    package func passOver(through position: UInt64) throws(ProjectionError) {
        guard let saved = savedApplied, position - saved < Self.passedOverMax else {
            try begin()
            settle(through: position)
            return try commit()
        }
        settle(through: position)
    }

    /// Positions that nothing is written down about.
    private static let passedOverMax: UInt64 = 4096

    /// True if a statement for events of a type depends on their position.
    package func usesPlace(_ type: [UInt8]) -> Bool {
        let name = String(decoding: type, as: UTF8.self)
        return plan.models.contains { $0.types[name]?.usesPlace == true }
    }

    private func runCarefully<Event: EventValues>(
        _ event: Event,
        _ route: Route
    ) throws(ApplyError) {
        let name = models[route.model].name
        let key = EndedEvent(model: route.model, origin: event.origin)
        do throws(ProjectionError) {
            if let fault = ended[key] {
                (owesEnded, hasSetEndedAside) = (false, true)
                return try quarantine(event, of: name, fault)
            }
            _ = try rows("SAVEPOINT event")
        } catch {
            throw .file(error)
        }
        let fault: EventFault?
        do throws(EventFault) {
            try statements.run(event, route, connection)
            fault = nil
        } catch {
            fault = error
        }
        if let error = fault?.fileError(path) { throw .file(error) }
        if fault != nil, stepLimit.reached != nil, later.count > 0 {
            later.doubt = "an event takes long"
            throw .file(.damaged(path: path, what: "it has to be built row by row"))
        }
        // A statement that is ended takes all of the transaction with it: the next time this event
        // is not tried.
        if let fault, !connection.isInTransaction {
            ended[key] = fault
            owesEnded = true
            throw .needsCare
        }
        do throws(ProjectionError) {
            if let fault {
                _ = try rows("ROLLBACK TO event")
                _ = try rows("RELEASE event")
                return try quarantine(event, of: name, fault)
            }
            _ = try rows("RELEASE event")
        } catch {
            throw .file(error)
        }
        models[route.model].taken += 1
    }

}
