import DiarioSchema

/// A value of a result that can be printed as JSON.
package protocol JSONResult {
    func append(to bytes: inout [UInt8])
}

/// The fields of a result, as an object of JSON has them: `["events": 3, "root": root.text]`.
package struct Fields: JSONResult, ExpressibleByDictionaryLiteral {
    private var fields: [(key: String, value: any JSONResult)]

    package init(dictionaryLiteral elements: (String, any JSONResult)...) { fields = elements }

    package static func + (left: Fields, right: Fields) -> Fields {
        var sum = left
        sum.fields += right.fields
        return sum
    }

    /// The object as JSON.
    var json: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    package func append(to bytes: inout [UInt8]) {
        let present = fields.filter { !($0.value is Missing) }
        bytes.append(0x7b)
        for (index, field) in present.enumerated() {
            if index > 0 { bytes.append(0x2c) }
            field.key.append(to: &bytes)
            bytes.append(0x3a)
            field.value.append(to: &bytes)
        }
        bytes.append(0x7d)
    }
}

/// The value, or no field at all if it is nil; without this, nil is printed as `null`.
package func ifKnown(_ value: (some JSONResult)?) -> any JSONResult { value ?? Missing() }

private struct Missing: JSONResult {
    func append(to bytes: inout [UInt8]) {}
}

/// Bytes that are JSON already.
struct JSONText: JSONResult {
    let bytes: [UInt8]

    func append(to bytes: inout [UInt8]) { bytes += self.bytes }
}

extension String: JSONResult {
    package func append(to bytes: inout [UInt8]) { JSON.string(self).appendCanonical(to: &bytes) }
}

extension Bool: JSONResult {
    package func append(to bytes: inout [UInt8]) { JSON.boolean(self).appendCanonical(to: &bytes) }
}

extension Int: JSONResult {
    package func append(to bytes: inout [UInt8]) {
        JSON.integer(Int64(self)).appendCanonical(to: &bytes)
    }
}

extension UInt64: JSONResult {
    /// Counts and positions never need the 64th bit.
    package func append(to bytes: inout [UInt8]) {
        JSON.integer(Int64(clamping: self)).appendCanonical(to: &bytes)
    }
}

extension Double: JSONResult {
    package func append(to bytes: inout [UInt8]) { JSON.number(self).appendCanonical(to: &bytes) }
}

extension Optional: JSONResult where Wrapped: JSONResult {
    package func append(to bytes: inout [UInt8]) {
        guard let self else { return JSON.null.appendCanonical(to: &bytes) }
        self.append(to: &bytes)
    }
}

extension Array: JSONResult where Element: JSONResult {
    package func append(to bytes: inout [UInt8]) {
        bytes.append(0x5b)
        for (index, element) in enumerated() {
            if index > 0 { bytes.append(0x2c) }
            element.append(to: &bytes)
        }
        bytes.append(0x5d)
    }
}

extension Output {
    /// Prints an object on a line.
    func json(_ fields: Fields) throws {
        try append {
            fields.append(to: &$0)
            $0.append(0x0a)
        }
    }

    /// Prints a list of objects, each on a line.
    func json(_ list: [some JSONResult]) throws {
        try append { bytes in
            bytes.append(0x5b)
            for (index, fields) in list.enumerated() {
                if index > 0 { bytes += Array(",\n ".utf8) }
                fields.append(to: &bytes)
            }
            bytes += [0x5d, 0x0a]
        }
    }

    /// Prints names with their values beside them.
    func pairs(_ pairs: [(name: String, value: String)]) throws {
        let width = pairs.reduce(0) { max($0, $1.name.utf8.count) } + 2
        for (name, value) in pairs {
            try line(name + String(repeating: " ", count: width - name.utf8.count) + value)
        }
    }
}
