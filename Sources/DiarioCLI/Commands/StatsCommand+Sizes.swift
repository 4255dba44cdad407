import DiarioSchema
import DiarioLog

// What `diario stats --types` says: what sealed events take, by type and column.
extension StatsCommand {
    static func print(_ sizes: SealedSizes, _ output: Output) throws(Failure) {
        try output.line("")
        guard sizes.bytes > 0 else {
            try output.line("No event is sealed yet. diario seal does it now.")
            return
        }
        try output.line("       bytes      events  bytes each  sealed events by type and field")
        for type in sizes.types {
            let isPersonal = type.personalBytes > 0
            let personal = isPersonal ? ", \(grouped(type.personalBytes)) of it personal" : ""
            try output.line(
                "\(padded(type.bytes))\(padded(type.eventCount))\(each(type.bytes, of: type))"
                    + "  \(type.name) \(type.version)\(personal)"
            )
            // The largest first, since they are what one looks for.
            for field in type.fields.sorted(by: { ($1.bytes, $0.name) < ($0.bytes, $1.name) })
            where field.bytes > 0 {
                let mark = field.isPersonal ? " (personal)" : ""
                try line(field.bytes, of: type, "\(field.name)\(mark)", output)
            }
            if type.otherBytes > 0 {
                try line(type.otherBytes, of: type, "(what finds subjects and columns)", output)
            }
        }
        try output.line("       bytes  what all have in common, by column")
        for part in sizes.common { try output.line("\(padded(part.bytes))  \(part.name)") }
        try output.line("\(padded(sizes.bytes))  all sealed files")
    }

    private static func line(
        _ bytes: Int,
        of type: SealedSizes.TypeSize,
        _ name: String,
        _ output: Output
    ) throws(Failure) {
        let blank = String(repeating: " ", count: 12)
        try output.line("\(padded(bytes))\(blank)\(each(bytes, of: type))    \(name)")
    }

    private static func each(_ bytes: Int, of type: SealedSizes.TypeSize) -> String {
        padded("\(hundredths(Double(bytes) / Double(max(1, type.eventCount))))")
    }

    private static func grouped(_ value: Int) -> String {
        ProgressLine.grouped(UInt64(max(0, value)))
    }

    private static func padded(_ value: Int) -> String { padded(grouped(value)) }

    private static func padded(_ text: String) -> String {
        String(repeating: " ", count: max(0, 12 - text.utf8.count)) + text
    }

    static func fill(_ json: inout JSONObjectWriter, _ sizes: SealedSizes) {
        let types = sizes.types.map { type in
            JSONObjectWriter.object { json in
                json.add("type", type.name)
                json.add("version", type.version)
                json.add("events", type.eventCount)
                json.add("bytes", type.bytes)
                json.add("personalBytes", type.personalBytes)
                json.add("otherBytes", type.otherBytes)
                json.add("fields", list: type.fields.map(object))
            }
        }
        json.add("types", list: types)
        let columns = sizes.common.map { part in
            JSONObjectWriter.object { json in
                json.add("name", part.name)
                json.add("bytes", part.bytes)
            }
        }
        json.add("columns", list: columns)
        json.add("sealedBytes", sizes.bytes)
    }

    private static func object(_ field: SealedSizes.FieldSize) -> [UInt8] {
        JSONObjectWriter.object { json in
            json.add("name", field.name)
            json.add("personal", field.isPersonal)
            json.add("bytes", field.bytes)
        }
    }
}
