import DiarioSchema

/// Finds types whose events tell of the same things, though no event of ours makes these, such as
/// keys of another system: types of one pack whose subjects are fields of one name.
enum SharedSubjects {
    private struct Name: Hashable {
        var pack: String
        var field: String
    }

    /// Types, by index and ascending, that may share a column; groups in order of their first.
    ///
    /// `fields` are their public columns, by chunk.
    static func groups(_ types: [GatheredType], _ fields: [[GatheredFields]]) -> [[Int]] {
        var groups: [[Int]] = []
        var places: [Name: Int] = [:]
        for index in types.indices {
            let type = types[index]
            guard let name = name(type.type),
                fields[index].allSatisfy({ type.subjects(in: $0)?.valueCount == $0.rowCount })
            else { continue }
            if let place = places[name] {
                groups[place].append(index)
            } else {
                places[name] = groups.count
                groups.append([index])
            }
        }
        return groups.filter { $0.count > 1 }
    }

    private static func name(_ type: EventType) -> Name? {
        guard let index = type.subjectFieldIndex else { return nil }
        let field = type.fields[index]
        guard field.kind == .string, !field.isNewID, !field.isPersonal, field.referenceKind == nil
        else { return nil }
        return Name(pack: type.pack, field: field.name)
    }
}

extension GatheredType {
    /// The column of the subject field among those of a chunk.
    func subjects(in fields: GatheredFields) -> GatheredColumn? {
        fields.columns.first { $0.field.index == type.subjectFieldIndex }
    }
}
