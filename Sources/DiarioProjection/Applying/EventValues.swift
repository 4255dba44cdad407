import DiarioCore
import DiarioSQLite
import DiarioSchema

/// An event whose values can be bound to statements, from a row or from columns.
protocol EventValues {
    var type: EventType { get }
    var origin: Origin? { get }
    /// Nil while the event is pending.
    var position: UInt64? { get }

    /// Runs a statement for the event.
    func run(_ prepared: PreparedStatement, _ binder: inout EventBinder) throws(SQLiteError)

    /// Binds the value of a source to the parameter at `index` (from 1).
    ///
    /// The statement must be run before the next event is bound to any.
    func bind(
        _ source: ParameterSource,
        to statement: borrowing Statement,
        at index: Int,
        _ binder: inout EventBinder
    ) throws(SQLiteError)
}

extension EventLine: EventValues {
    func run(_ prepared: PreparedStatement, _ binder: inout EventBinder) throws(SQLiteError) {
        for (index, source) in prepared.sources.enumerated() {
            try binder.bind(source, self, to: prepared.statement, at: index + 1)
        }
        try prepared.statement.run()
    }

    func bind(
        _ source: ParameterSource,
        to statement: borrowing Statement,
        at index: Int,
        _ binder: inout EventBinder
    ) throws(SQLiteError) {
        try binder.bind(source, self, to: statement, at: index)
    }
}
