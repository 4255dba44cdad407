package import DiarioFormat
package import DiarioSchema

// The columns of a segment that the read models of a pack need.

extension PackPlan {
    /// The parts of the envelope that have to be read for that.
    package var envelopeParts: Set<EnvelopePart> {
        Set(envelopeParameters.compactMap { EnvelopePart($0) })
    }

    /// The parameters of the pack's statements that are no fields.
    var envelopeParameters: Set<EnvelopeParameter> {
        var names = models.flatMap { $0.statements }.flatMap { $0.sources }.compactMap { source in
            if case .envelope(let parameter) = source { parameter } else { nil }
        }
        for upcast in pack.sql.upcasts {
            names += upcast.statement.parameterNames.compactMap {
                EnvelopeParameter(rawValue: $0)
            }
        }
        return Set(names)
    }

    /// The fields of a type that statements of the pack are bound to; nil if none listens to it.
    package func selection(of type: EventType) -> FieldSelection? {
        var selection: FieldSelection?
        for model in models {
            guard let plan = model.types[type.name] else { continue }
            // An upcast may need all of them.
            guard plan.type.version == type.version else {
                return FieldSelection(all: type.fields.count)
            }
            var found = selection ?? FieldSelection()
            for source in model.statements[plan.statements].flatMap({ $0.sources }) {
                switch source {
                case .field(let field): found.insert(field)
                case .envelope(.subject):
                    if let field = type.subjectFieldIndex { found.insert(field) }
                case .envelope, .nothing: break
                }
            }
            selection = found
        }
        return selection
    }
}

extension EnvelopePart {
    /// Nil for parameters that are always read.
    fileprivate init?(_ parameter: EnvelopeParameter) {
        switch parameter {
        case .position, .replica, .sequence, .origin, .type, .version: return nil
        case .at: self = .times
        case .clock, .stamp: self = .clocks
        case .accepted: self = .accepted
        case .actor: self = .actors
        case .subject: self = .subjects
        case .base: self = .bases
        }
    }
}
