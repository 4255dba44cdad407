import DiarioSchema

/// Finds types whose events tell of the same things, though no event of ours makes these, such as
/// keys of another system: types of one pack whose subjects are fields of one name.
enum SharedSubjects {
    private struct Name: Hashable {
        var pack: String
        var field: String
    }

    /// Types, by index and ascending, that may share a column; groups in order of their first.
    static func groups(_ types: [GatheredType]) -> [[Int]] {
        var groups: [[Int]] = []
        var places: [Name: Int] = [:]
        for index in types.indices {
            guard let name = name(types[index].type), types[index].hasAllSubjects else { continue }
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
    /// Whether each event has the subject field.
    fileprivate var hasAllSubjects: Bool {
        chunks.allSatisfy { chunk in
            chunk.publicFields.columns.contains {
                $0.field.index == type.subjectFieldIndex && $0.valueCount == chunk.rowCount
            }
        }
    }

    /// The texts of the subject field, by chunk.
    var subjectTexts: [ByteStrings] {
        chunks.flatMap { chunk in
            chunk.publicFields.columns.filter { $0.field.index == type.subjectFieldIndex }
                .map(\.strings)
        }
    }
}
