import DiarioCore
package import DiarioFormat
import DiarioSQLite
package import DiarioSchema

/// The events of a segment for the read models of a pack: decoded columns, laid out so that
/// statements are bound to them without a copy.
///
/// Used by one thread at a time.
package final class ColumnEvents {
    fileprivate let envelope: SegmentEnvelope
    fileprivate let parameters: Set<EnvelopeParameter>
    /// By type index of the segment; nil if no read model listens to the type.
    private let types: [EventType?]
    /// The envelope as statements are bound to it, a row for each wanted event.
    fileprivate let common: ValueTable
    /// By type index: the current block.
    private var laid: [LaidBlock?]

    /// With the types of the segment as the space knows them.
    package init(
        _ envelope: SegmentEnvelope,
        _ wantedEvents: [Int32],
        _ types: [EventType?],
        for plan: PackPlan
    ) {
        self.envelope = envelope
        self.types = types
        parameters = plan.envelopeParameters
        common = ValueTable(envelope, wantedEvents, parameters)
        laid = types.map { _ in nil }
    }

    /// Goes to the start of a window; `routes` gives the read models that take events of a type.
    func start(
        of window: ColumnWindow,
        _ routes: (EventType) throws(ApplyError) -> [Route]
    ) throws(ApplyError) -> ColumnPlace {
        var place = ColumnPlace(
            self,
            typeCount: types.count,
            commonRow: window.wantedPlaces.lowerBound,
            firstPosition: envelope.firstPosition + UInt64(window.events.lowerBound)
        )
        for (index, type) in types.enumerated() {
            guard let type, let block = window.blocks[index] else { continue }
            let routes = try routes(type)
            let known = laid[index]
            let made = known?.block === block ? known : LaidBlock(block, type, routes, self)
            laid[index] = made
            place.add(index, made, routes, row: window.rows[index])
        }
        return place
    }
}

/// A place among the events of a window: those before it were taken.
struct ColumnPlace {
    private let events: ColumnEvents
    /// By type index; nil for types that no model listens to.
    private var blocks: [LaidBlock?]
    private var routesByType: [[Route]]
    private var rows: [Int]
    private var firstRows: [Int]
    private var commonRow: Int
    private let firstPosition: UInt64

    init(_ events: ColumnEvents, typeCount: Int, commonRow: Int, firstPosition: UInt64) {
        self.events = events
        self.firstPosition = firstPosition
        firstRows = [Int](repeating: 0, count: typeCount)
        self.commonRow = commonRow
        blocks = [LaidBlock?](repeating: nil, count: typeCount)
        routesByType = [[Route]](repeating: [], count: typeCount)
        rows = [Int](repeating: 0, count: typeCount)
    }

    mutating func add(_ type: Int, _ block: LaidBlock?, _ routes: [Route], row: Int) {
        blocks[type] = block
        routesByType[type] = routes
        rows[type] = row
        firstRows[type] = row
    }

    func routes(_ type: Int) -> [Route] { routesByType[type] }

    /// True if all models take all events of the window just as they are: none has had some of
    /// them, and none has to be upcast.
    func isPlain(where applied: (Int) -> UInt64) -> Bool {
        for (block, routes) in zip(blocks, routesByType) {
            guard let block else { continue }
            for route in routes {
                guard applied(route.model) < firstPosition,
                    route.type.type.version == block.type.version
                else { return false }
            }
        }
        return true
    }

    /// Runs all statements for the next wanted event, of the type that is given.
    mutating func runNext(ofType type: Int) throws(SQLiteError) {
        guard let block = blocks[type] else { preconditionFailure("the type is wanted") }
        let row = rows[type]
        try block.run(row: row, commonRow: commonRow)
        rows[type] = row + 1
        commonRow += 1
    }

    /// The number of events of each type since the start.
    var taken: [(EventType, UInt64, [Route])] {
        blocks.indices.compactMap { type in
            guard let block = blocks[type], rows[type] > firstRows[type] else { return nil }
            return (block.type, UInt64(rows[type] - firstRows[type]), routesByType[type])
        }
    }

    /// The next wanted event, whose number and type are given.
    mutating func next(_ event: Int, ofType type: Int) -> ColumnEvent {
        guard let block = blocks[type] else { preconditionFailure("the type is wanted") }
        defer {
            rows[type] += 1
            commonRow += 1
        }
        return ColumnEvent(
            events: events,
            block: block,
            event: event,
            row: rows[type],
            commonRow: commonRow
        )
    }
}

/// The rows of one type, laid out for statements.
final class LaidBlock {
    let block: TypeBlock
    let type: EventType
    /// By field, and after these the columns of `TypeColumn`.
    fileprivate let table: ValueTable
    /// By slot of the statement; none if events of the type are upcast first.
    fileprivate let bindings: [RowBinding]
    /// All statements that run for events of the type, in order.
    private let statements: [PreparedStatement]

    init(_ block: TypeBlock, _ type: EventType, _ routes: [Route], _ events: ColumnEvents) {
        self.block = block
        self.type = type
        let table = ValueTable(block, type, events.parameters)
        let usesOrigin = routes.flatMap { $0.statements }.flatMap { $0.sources }.contains {
            $0 == .envelope(.origin)
        }
        // An upcast may use it as well.
        if usesOrigin || block.derived != nil
            || routes.contains(where: { !$0.type.upcasts.isEmpty })
        {
            table.setOrigins(block, type, events.envelope)
        }
        self.table = table
        statements = routes.flatMap { $0.statements }
        bindings = routes.flatMap { route -> [RowBinding] in
            guard route.type.type.version == type.version else { return [] }
            return route.statements.map { prepared in
                RowBinding(
                    prepared.sources.map { Self.place(of: $0, block, type) },
                    table,
                    events.common
                )
            }
        }
    }

    /// Runs all statements for a row.
    func run(row: Int, commonRow: Int) throws(SQLiteError) {
        for index in bindings.indices {
            try bindings[index].run(statements[index].statement, own: row, common: commonRow)
        }
    }

    /// The column of a parameter's value.
    fileprivate static func place(
        of source: ParameterSource,
        _ block: TypeBlock,
        _ type: EventType
    ) -> RowBinding.Source {
        switch source {
        case .nothing: return .nothing
        case .field(let field):
            guard field == type.newIDFieldIndex, let derived = block.derived else {
                return .own(field)
            }
            return .ownIf(
                derived,
                type.fields.count + TypeColumn.origin.rawValue,
                else: field
            )
        case .envelope(let parameter):
            switch parameter {
            case .version: return .integer(Int64(type.version))
            case .type: return .own(type.fields.count + TypeColumn.name.rawValue)
            case .origin: return .own(type.fields.count + TypeColumn.origin.rawValue)
            case .subject:
                guard let field = type.subjectFieldIndex else { break }
                // A subject is a text, whatever its field is.
                return type.fields[field].kind == .integer
                    ? .own(type.fields.count + TypeColumn.subject.rawValue)
                    : place(of: .field(field), block, type)
            default: break
            }
            guard let place = EnvelopeColumnPlace(parameter) else { return .nothing }
            return .common(place.rawValue)
        }
    }
}

/// One event of a segment, by its rows in the columns.
struct ColumnEvent: EventValues {
    let events: ColumnEvents
    let block: LaidBlock
    /// Its number in the segment.
    let event: Int
    /// Its row in the block of its type.
    let row: Int
    /// Its place among the wanted events of the segment.
    let commonRow: Int

    var type: EventType { block.type }
    var origin: Origin? { events.envelope.origin(of: event) }
    var position: UInt64? { events.envelope.firstPosition + UInt64(event) }

    func run(_ prepared: PreparedStatement, _ binder: inout EventBinder) throws(SQLiteError) {
        try block.bindings[prepared.slot].run(prepared.statement, own: row, common: commonRow)
    }

    func bind(
        _ source: ParameterSource,
        to statement: borrowing Statement,
        at index: Int,
        _ binder: inout EventBinder
    ) throws(SQLiteError) {
        // Safe: the tables live as long as the events, and the statement is run before these go:
        // `EventValues` asks for that.
        switch LaidBlock.place(of: source, block.block, type) {
        case .nothing: try statement.bindNull(at: index)
        case .integer(let value): try statement.bind(value, at: index)
        case .own(let column):
            try unsafe block.table.bind(column, row: row, to: statement, at: index)
        case .common(let column):
            try unsafe events.common.bind(column, row: commonRow, to: statement, at: index)
        case .ownIf(let marks, let column, let other):
            let chosen = marks[row] != 0 ? column : other
            try unsafe block.table.bind(chosen, row: row, to: statement, at: index)
        }
    }
}
