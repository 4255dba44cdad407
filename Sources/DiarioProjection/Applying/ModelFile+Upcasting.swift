import DiarioCore
import DiarioSQLite
import DiarioSchema

extension ModelFile {
    /// The fields of the newest version of a type, as the pack's upcasts make them of an older one.
    func upcast<Event: EventValues>(
        _ event: Event,
        _ plan: ModelPlan.TypePlan
    ) throws(EventFault) -> [Value] {
        var version = event.type.version
        var fields: [Value] = []
        while version != plan.type.version {
            guard let upcast = plan.upcasts[version],
                let target = self.plan.pack.types.first(where: {
                    $0.name == upcast.type && $0.version == upcast.to
                })
            else { throw .version }
            let place = "\(upcast.file), line \(upcast.statement.line)"
            let row: [Value]?
            do throws(SQLiteError) {
                let prepared = try prepared(upcast)
                for (offset, name) in upcast.statement.parameterNames.enumerated() {
                    if version != event.type.version,
                        let index = type(upcast.type, version)?.fieldIndex(name)
                    {
                        try prepared.statement.bind(fields[index], at: offset + 1)
                    } else {
                        var source = ParameterSource(name, event.type)
                        // A field that was removed has no value.
                        if version != event.type.version, case .field = source {
                            source = .nothing
                        }
                        try event.bind(source, to: prepared.statement, at: offset + 1, &binder)
                    }
                }
                row = try Self.fields(of: target, from: prepared.statement)
            } catch {
                throw .sqlite(
                    error,
                    file: upcast.file,
                    line: upcast.statement.line,
                    bound: stepLimit.reached
                )
            }
            guard let row else { throw .upcast("\(place): it gives one row for each event") }
            do throws(UpcastRow.Fault) {
                fields = try UpcastRow.conforming(row, to: target)
            } catch {
                throw .upcast("\(place): \(error.message)")
            }
            version = target.version
        }
        return fields
    }

    private func type(_ name: String, _ version: Int) -> EventType? {
        plan.pack.types.first { $0.name == name && $0.version == version }
    }

    private func prepared(_ upcast: Upcast) throws(SQLiteError) -> PreparedStatement {
        let key = UpcastKey(type: upcast.type, from: upcast.from)
        if let known = upcasts[key] { return known }
        let made = PreparedStatement(try connection.prepare(upcast.statement.text))
        upcasts[key] = made
        return made
    }

    /// The row that an upcast gives, in the order of the type's fields; nil if it does not give
    /// exactly one.
    private static func fields(
        of type: EventType,
        from statement: borrowing Statement
    ) throws(SQLiteError) -> [Value]? {
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        var fields = [Value](repeating: .null, count: type.fields.count)
        for column in 0..<statement.columnCount {
            guard let index = type.fieldIndex(statement.columnName(at: column)) else { continue }
            fields[index] = statement.value(at: column)
        }
        return try statement.step() ? nil : fields
    }
}
