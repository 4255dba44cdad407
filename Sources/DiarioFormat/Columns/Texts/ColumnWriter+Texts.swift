import DiarioCore

extension ColumnWriter {
    /// Byte strings in the form that fits them.
    mutating func put(
        strings: ByteStrings,
        _ replicas: inout ReplicaTable
    ) throws(FormatError) {
        guard !strings.isEmpty else { return }
        if let origins = Self.origins(of: strings, &replicas) {
            put(StringForm.origins.rawValue)
            try put(simple: origins.replicas, .plain)
            try put(simple: origins.sequences, .plain)
        } else {
            put(StringForm.bytes.rawValue)
            try put(simple: (0..<strings.count).map { Int64(strings.range($0).count) }, .plain)
            let content = strings.bytes
            try put(stream: content.span)
        }
    }

    /// The origins that the strings are texts of; nil if one is none.
    private static func origins(
        of strings: ByteStrings,
        _ replicas: inout ReplicaTable
    ) -> (replicas: [Int64], sequences: [Int64])? {
        var origins: [Origin] = []
        for index in 0..<strings.count {
            guard let origin = OriginText.parse(strings[index]) else { return nil }
            origins.append(origin)
        }
        var numbers: [Int64] = []
        for origin in origins {
            guard let number = replicas.number(of: origin.replica) else { return nil }
            numbers.append(Int64(number))
        }
        return (numbers, origins.map { Int64(bitPattern: $0.sequence) })
    }
}

extension OriginText {
    /// The origin whose text this is; nil if it is no such text, in its one form.
    static func parse(_ text: Span<UInt8>) -> Origin? {
        guard 15...sizeMax ~= text.count, text[13] == UInt8(ascii: "-"),
            text[14] != UInt8(ascii: "0"),
            let replica = ReplicaID(text: text.extracting(0..<13))
        else { return nil }
        var sequence: UInt64 = 0
        for index in 14..<text.count {
            let digit = text[index] &- UInt8(ascii: "0")
            let (tens, overflows) = sequence.multipliedReportingOverflow(by: 10)
            let (next, isTooLarge) = tens.addingReportingOverflow(UInt64(digit))
            guard digit <= 9, !overflows, !isTooLarge else { return nil }
            sequence = next
        }
        return Origin(replica: replica, sequence: sequence)
    }
}
