extension JSON {
    /// Keywords of a schema that never change what a value may be.
    private static let annotations = ["$schema", "title", "description", "x-diario-unit"]

    /// A schema without the keywords that change nothing, in schema positions only.
    package var withoutAnnotations: JSON {
        guard case .object(let members) = self else { return self }
        let kept = members.filter { !Self.annotations.contains($0.key) }
        return .object(
            kept.map { member in
                switch member.key {
                case "items": return member.with(member.item.value.withoutAnnotations)
                case "properties":
                    guard case .object(let properties) = member.item.value else { return member }
                    return member.with(
                        .object(properties.map { $0.with($0.item.value.withoutAnnotations) })
                    )
                default: return member
                }
            }
        )
    }
}

extension JSON.Member {
    func with(_ value: JSON) -> JSON.Member {
        JSON.Member(key: key, line: line, item: JSON.Item(value: value, line: item.line))
    }
}
