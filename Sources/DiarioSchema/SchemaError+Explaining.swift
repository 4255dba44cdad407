import DiarioCore

extension SchemaError {
    /// Locates a fault in `text`, and says how to correct it.
    ///
    /// Here `text` is a payload of `type`, or JSON of no type.
    init(explaining fault: Fault, in text: Span<UInt8>, type: EventType? = nil, line: Int? = nil) {
        let place = FaultPlace(of: Int(fault.offset), in: text)
        var path = place.path()
        if fault.kind == .missingField, let type {
            path = Self.joined(path, type.rules.name(of: Int(fault.node)))
        }
        self.init(
            fault,
            type: type,
            typeName: type?.name,
            place: path.isEmpty ? "" : "field \(path)",
            path: path,
            value: place.value,
            line: line,
            names: Self.names(in: type, at: place.steps)
        )
    }

    /// Locates a fault in `text`, a line with an event, and says how to correct it.
    init(explaining fault: Fault, inLine text: Span<UInt8>, catalog: TypeCatalog) {
        let place = FaultPlace(of: Int(fault.offset), in: text)
        let isInPayload = place.steps.first == .key("payload")
        let typeName = Self.typeName(in: text)
        // Only the rules of this type can have been broken; the newest will do for the names.
        let type = Self.type(in: text, name: typeName, catalog: catalog)
        var path = place.path(dropping: isInPayload ? 1 : 0)
        if fault.kind == .missingField, let type {
            path = Self.joined(path, type.rules.name(of: Int(fault.node)))
        } else if fault.kind == .missingKey, let key = EnvelopeKey(rawValue: UInt8(fault.node)) {
            path = "\(key.name)"
        } else if isInPayload, path.isEmpty {
            path = "payload"
        }
        let isKey = !isInPayload || path == "payload"
        var fault = fault
        if fault.kind == .wrongType, path != "payload",
            let key = EnvelopeKey.allCases.first(where: { isKey && "\($0.name)" == path })
        {
            // The form of a key is known by the key; there is no schema for it.
            fault = Fault(.invalidKey, at: Int(fault.offset), node: Int(key.rawValue))
        }
        let steps = isInPayload ? Array(place.steps.dropFirst()) : []
        var names =
            isKey ? EnvelopeKey.allCases.map { "\($0.name)" } : Self.names(in: type, at: steps)
        if fault.kind == .unknownType { names = catalog.types.map({ $0.name }) }
        self.init(
            fault,
            type: type,
            typeName: type?.name,
            place: path.isEmpty ? "" : isKey ? "key \(path)" : "field \(path)",
            path: path,
            value: place.value,
            line: nil,
            names: names
        )
    }

    /// Explains the fault of a field's value that does not come from JSON.
    init(_ kind: Kind, value: String, at index: Int, of type: EventType) {
        let path = type.fields[index].name
        self.init(
            Fault(kind, at: 0, node: index),
            type: type,
            typeName: type.name,
            place: "field \(path)",
            path: path,
            value: FaultPlace.shortened(value),
            line: nil,
            names: []
        )
    }

    /// Explains a fault in `text`, the JSON of one nested field.
    init(explaining fault: Fault, in text: Span<UInt8>, at index: Int, of type: EventType) {
        let place = FaultPlace(of: Int(fault.offset), in: text)
        var path = type.fields[index].name
        let inner = place.path()
        if !inner.isEmpty { path += inner.hasPrefix("[") ? inner : "." + inner }
        if fault.kind == .missingField { path += "." + type.rules.name(of: Int(fault.node)) }
        self.init(
            fault,
            type: type,
            typeName: type.name,
            place: "field \(path)",
            path: path,
            value: place.value,
            line: nil,
            names: []
        )
    }

    private init(
        _ fault: Fault,
        type: EventType?,
        typeName: String?,
        place: String,
        path: String,
        value: String,
        line: Int?,
        names: [String]
    ) {
        var text = SchemaErrorText(
            fault: fault,
            value: value,
            node: nil,
            rules: type?.rules,
            names: names
        )
        if let type, fault.node >= 0, fault.node < type.rules.nodes.count {
            text.node = type.rules.nodes[Int(fault.node)]
        }
        let prefix = [typeName ?? "", place].filter { !$0.isEmpty }.map { $0 + ": " }.joined()
        self.init(
            kind: fault.kind,
            typeName: typeName,
            path: path,
            value: value,
            byteOffset: Int(fault.offset),
            line: line,
            message: prefix + text.message
        )
    }

    private static func joined(_ path: String, _ name: String) -> String {
        path.isEmpty ? name : "\(path).\(name)"
    }

    /// The names of the members beside the one that `steps` lead to.
    private static func names(in type: EventType?, at steps: [FaultPlace.Step]) -> [String] {
        guard let type else { return [] }
        var members = 0..<type.fields.count
        for step in steps.dropLast() {
            switch step {
            case .key(let key):
                guard let node = members.first(where: { type.rules.name(of: $0) == key }) else {
                    return []
                }
                members = type.rules.nodes[node].children.indices
            case .index:
                // The one child of an array is the node of its items.
                guard let item = members.first else { return [] }
                members = type.rules.nodes[item].children.indices
            }
        }
        return members.map { type.rules.name(of: $0) }
    }

    /// The text of the key `type` of a line, if it can be read.
    private static func typeName(in text: Span<UInt8>) -> String? {
        Self.text(of: "type", in: text)
    }

    private static func type(
        in text: Span<UInt8>,
        name: String?,
        catalog: TypeCatalog
    ) -> EventType? {
        guard let name else { return nil }
        if let version = Self.text(of: "version", in: text).flatMap({ Int($0) }) {
            return catalog.type(name, version: version)
        }
        return catalog.newest(name)
    }

    /// The string or the digits of a key of the outermost object, as far as it can be read.
    private static func text(of key: StaticString, in text: Span<UInt8>) -> String? {
        var cursor = JSONCursor(text)
        cursor.skipSpace()
        guard cursor.take(0x7b) else { return nil }
        while cursor.offset < cursor.count {
            cursor.skipSpace()
            guard let name = try? cursor.readString() else { return nil }
            cursor.skipSpace()
            guard cursor.take(0x3a) else { return nil }
            cursor.skipSpace()
            let start = cursor.offset
            let isString = cursor.current == 0x22
            guard (try? cursor.skipValue()) != nil else { return nil }
            var bytes: [UInt8] = []
            cursor.append(name.range, to: &bytes)
            if String(decoding: bytes, as: UTF8.self) == "\(key)" {
                bytes.removeAll()
                let inset = isString ? 1 : 0
                cursor.append(start + inset..<cursor.offset - inset, to: &bytes)
                return String(decoding: bytes, as: UTF8.self)
            }
            cursor.skipSpace()
            guard cursor.take(0x2c) else { return nil }
        }
        return nil
    }
}
