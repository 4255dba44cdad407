import DiarioLog

// The sizes of sealed events, by type and column: they look into the files of segments.

extension SealedSizes {
    /// Prints them as a table.
    func print(_ output: Output) throws {
        try output.line("")
        guard bytes > 0 else {
            return try output.line("No event is sealed yet. diario seal does it now.")
        }
        func row(
            _ bytes: Int,
            _ events: String,
            of type: SealedSizes.TypeSize,
            _ name: String
        )
            throws
        {
            let each = StatsCommand.hundredths(Double(bytes) / Double(max(1, type.eventCount)))
            try output.line(
                "\(Self.padded(bytes))\(Self.padded(events))\(Self.padded("\(each)"))  \(name)"
            )
        }
        try output.line("       bytes      events  bytes each  sealed events by type and field")
        for type in types {
            let personal = Show.grouped(type.personalBytes)
            let remark = type.personalBytes > 0 ? ", \(personal) of it personal" : ""
            let title = "\(type.name) \(type.version)\(remark)"
            try row(type.bytes, Show.grouped(type.eventCount), of: type, title)
            // The largest first, since they are what one looks for.
            for field in type.fields.sorted(by: { ($1.bytes, $0.name) < ($0.bytes, $1.name) })
            where field.bytes > 0 {
                let mark = field.isPersonal ? " (personal)" : ""
                try row(field.bytes, "", of: type, "  \(field.name)\(mark)")
            }
            if type.otherBytes > 0 {
                try row(type.otherBytes, "", of: type, "  (what finds subjects and columns)")
            }
        }
        try output.line("       bytes  what all have in common, by column")
        for part in common { try output.line("\(Self.padded(part.bytes))  \(part.name)") }
        try output.line("\(Self.padded(bytes))  all sealed files")
    }

    private static func padded(_ value: Int) -> String { padded(Show.grouped(value)) }

    private static func padded(_ text: String) -> String {
        String(repeating: " ", count: max(0, 12 - text.utf8.count)) + text
    }
}

extension Fields {
    init(_ sizes: SealedSizes) {
        let types = sizes.types.map { type -> Fields in
            let fields = type.fields.map { field -> Fields in
                ["name": field.name, "personal": field.isPersonal, "bytes": field.bytes]
            }
            return [
                "type": type.name, "version": type.version, "events": type.eventCount,
                "bytes": type.bytes, "personalBytes": type.personalBytes,
                "otherBytes": type.otherBytes, "fields": fields,
            ]
        }
        let columns = sizes.common.map { part -> Fields in
            ["name": part.name, "bytes": part.bytes]
        }
        self = ["types": types, "columns": columns, "sealedBytes": sizes.bytes]
    }
}
