package import DiarioCrypto
import DiarioFormat
package import DiarioSchema

/// The statements of a read model by event type, and the sources of their parameters.
package struct ModelPlan: Sendable {
    package let model: ReadModel
    /// Two read models with one fingerprint make the same rows of the same events.
    package let fingerprint: Hash32
    /// By full name of the type.
    package let types: [String: TypePlan]
    /// All statements, as often as they run for different types.
    package let statements: [StatementPlan]

    /// The statements for the events of one type.
    package struct TypePlan: Sendable {
        /// The newest version that the pack has.
        let type: EventType
        /// From each older version to the one after it.
        let upcasts: [Int: Upcast]
        /// Which of the plan's statements run, in order.
        package let statements: Range<Int>
        /// True if a statement needs the position or the time of acceptance.
        let usesPlace: Bool
    }

    /// A statement, and the sources of its parameters.
    package struct StatementPlan: Sendable {
        package let statement: SQLStatement
        let file: String
        package let sources: [ParameterSource]
    }

    init(_ model: ReadModel, of pack: Pack) {
        self.model = model
        var types: [String: TypePlan] = [:]
        var statements: [StatementPlan] = []
        for name in model.types {
            guard let type = pack.types.last(where: { $0.name == name }) else {
                preconditionFailure("a read model listens to types of its pack alone")
            }
            let start = statements.count
            for block in model.blocks where block.types.contains(name) {
                for statement in block.statements {
                    statements.append(
                        StatementPlan(
                            statement: statement,
                            file: model.file,
                            sources: statement.parameterNames.map { ParameterSource($0, type) }
                        )
                    )
                }
            }
            types[name] = TypePlan(
                type: type,
                upcasts: Self.upcasts(of: name, in: pack),
                statements: start..<statements.count,
                usesPlace: statements[start...].contains { $0.sources.contains { $0.isPlace } }
            )
        }
        self.types = types
        self.statements = statements
        fingerprint = Self.fingerprint(of: model, in: pack)
    }

    fileprivate static func upcasts(of type: String, in pack: Pack) -> [Int: Upcast] {
        var upcasts: [Int: Upcast] = [:]
        for upcast in pack.sql.upcasts where upcast.type == type { upcasts[upcast.from] = upcast }
        return upcasts
    }

    /// Section 5 of schema/format/models.md.
    private static func fingerprint(of model: ReadModel, in pack: Pack) -> Hash32 {
        var bytes: [UInt8] = []
        bytes.append(text: "diario readmodel 1")
        bytes.append(text: model.name)
        bytes.append(varint: UInt64(model.version))
        bytes.append(varint: UInt64(model.definitions.count))
        for definition in model.definitions { bytes.append(text: definition.text) }
        bytes.append(varint: UInt64(model.blocks.count))
        for block in model.blocks {
            bytes.append(varint: UInt64(block.types.count))
            for type in block.types { bytes.append(text: type) }
            bytes.append(varint: UInt64(block.statements.count))
            for statement in block.statements { bytes.append(text: statement.text) }
        }
        let names = model.types
        let types = names.flatMap { name in pack.types.filter { $0.name == name } }
        bytes.append(varint: UInt64(types.count))
        for type in types {
            bytes.append(Fingerprint.schema(type))
        }
        let upcasts = pack.sql.upcasts.filter { names.contains($0.type) }
        bytes.append(varint: UInt64(upcasts.count))
        for upcast in upcasts {
            bytes.append(text: upcast.file)
            bytes.append(text: upcast.statement.text)
        }
        bytes.append(varint: UInt64(pack.needs.count))
        for need in pack.needs {
            bytes.append(text: need.name)
            bytes.append(varint: UInt64(need.version))
        }
        return SHA256.hash(bytes.span)
    }
}

extension ModelPlan.TypePlan {
    /// A plan that only reads events of a type and runs no statement; nil if the pack has no
    /// such type.
    init?(readingOnly name: String, of pack: Pack) {
        guard let type = pack.types.last(where: { $0.name == name }) else { return nil }
        self.init(
            type: type,
            upcasts: ModelPlan.upcasts(of: name, in: pack),
            statements: 0..<0,
            usesPlace: false
        )
    }
}

/// All read models of a pack.
package struct PackPlan: Sendable {
    package let pack: Pack
    package let fingerprint: Hash32
    /// In the order of their files.
    package let models: [ModelPlan]
    /// Full names of the types that any of them listens to, sorted.
    package let typeNames: [String]
    private let typeNameBytes: Set<[UInt8]>

    package init(_ pack: Pack) { self.init(pack, fingerprint: Fingerprint.pack(pack.files)) }

    package init(_ pack: Pack, fingerprint: Hash32) {
        self.pack = pack
        self.fingerprint = fingerprint
        models = pack.sql.readModels.map { ModelPlan($0, of: pack) }
        typeNames = Set(models.flatMap { $0.types.keys }).sorted()
        typeNameBytes = Set(typeNames.map { Array($0.utf8) })
    }

    /// True if any of the models listens to a type of this full name.
    package func listens(to type: [UInt8]) -> Bool { typeNameBytes.contains(type) }

    /// Full names of the types that these models listen to.
    package func types(of models: Set<String>) -> Set<String> {
        var names: Set<String> = []
        for plan in self.models where models.contains(plan.model.name) {
            names.formUnion(plan.types.keys)
        }
        return names
    }
}

/// The source of a parameter's value.
package enum ParameterSource: Equatable, Sendable {
    /// A field of the newest version of the type, by its index.
    case field(Int)
    case envelope(EnvelopeParameter)
    /// A field that this type does not have: NULL.
    case nothing

    init(_ name: String, _ type: EventType) {
        if let parameter = EnvelopeParameter(rawValue: name) {
            self = .envelope(parameter)
        } else if let index = type.fieldIndex(name) {
            self = .field(index)
        } else {
            self = .nothing
        }
    }

    /// True if it is known only once the event has a position.
    var isPlace: Bool { self == .envelope(.position) || self == .envelope(.accepted) }
}
