package import DiarioSchema

/// The fields of one type, laid out for fast writing and reading of payloads.
///
/// Made once for a type. Immutable.
package final class PayloadPlan: Sendable {
    package let type: EventType
    let publicFields: [PlannedField]
    let personalFields: [PlannedField]
    /// The field that may be derived, or -1.
    let newIDField: Int
    let hasSubjectField: Bool
    let fieldCount: Int

    package init(_ type: EventType) {
        self.type = type
        publicFields = type.publicFieldIndices.map { PlannedField(type.fields[$0], index: $0) }
        personalFields = type.personalFieldIndices.map { PlannedField(type.fields[$0], index: $0) }
        newIDField = type.newIDFieldIndex ?? -1
        hasSubjectField = type.subjectFieldIndex != nil
        fieldCount = type.fields.count
    }
}

/// A field of a part, in the order of the part.
struct PlannedField: Sendable {
    /// The index in the type's fields.
    let index: Int
    let kind: Field.Kind
    /// Values of an enumeration.
    let valueCount: Int

    init(_ field: Field, index: Int) {
        self.index = index
        kind = field.kind
        valueCount = field.bounds.values.count
    }
}
