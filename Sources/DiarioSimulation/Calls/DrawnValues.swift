import DiarioCore
import DiarioSchema

/// Values that a schema allows, and at times one that it does not.
struct DrawnValues {
    let draws: Draws
    /// One value in so many is of another kind or beyond its bounds.
    let badOneIn: Int

    /// Texts that rules know, and some that nobody expects.
    private static let texts = [
        "sardina", "a", "b", "u1", "-", "*", "1", "0", "113", "11,3 cm", "2026-05-04",
        "9999-12-31", "Mar Mediterraneo", "pescato fresco", "mag-lug", "12", "it", "standard",
        "Talamone (Orbetello)", "#1", "#-9223372036854775808", "9223372036854775807",
        "e\u{301}\u{1f41f}", " ", String(repeating: "z", count: 64),
    ]
    private static let names = ["sardina", "a", "b1_c"]
    /// Few, so that what one row says is often what another one says.
    static let ids = ["a", "b", "sardina", "*"]

    /// A value that `schema` describes, for a member of this name.
    func value(_ name: String, _ schema: JSON) -> JSON {
        if draws.oneIn(badOneIn) {
            return draws.pick([
                .null, .boolean(true), .integer(draws.extreme()), .number(1e300), .string(""),
                .string("\u{0}"), .array([]), .object([]),
            ])
        }
        if case .array(let values)? = schema.member("enum")?.item.value, !values.isEmpty {
            return draws.pick(values).value
        }
        switch text(schema, "type") {
        case "integer":
            let low = integer(schema, "minimum") ?? .min
            return .integer(draws.integer(low...max(low, integer(schema, "maximum") ?? .max)))
        case "number": return .number(draws.pick([0, -0.0, 0.5, 1e300, -1e-300, 11.3]))
        case "boolean": return .boolean(draws.oneIn(2))
        case "array":
            let least = Int(clamping: integer(schema, "minItems") ?? 0)
            let most = Int(clamping: integer(schema, "maxItems") ?? 8)
            let count = min(most, least + draws.below(draws.oneIn(8) ? 64 : 4))
            let item = schema.member("items")?.item.value ?? .object([])
            return .array(of: (0..<count).map { _ in value("", item) })
        case "object": return object(schema)
        default: return .string(string(name, schema))
        }
    }

    /// An object with what is required, and half of the rest.
    func object(_ schema: JSON) -> JSON {
        var required: [String] = []
        if case .array(let names)? = schema.member("required")?.item.value {
            required = names.compactMap {
                if case .string(let name) = $0.value { name } else { nil }
            }
        }
        guard case .object(let members)? = schema.member("properties")?.item.value else {
            return .object([])
        }
        return .object(
            of: members.compactMap { member in
                guard required.contains(member.key) || draws.oneIn(2) else { return nil }
                return (member.key, value(member.key, member.item.value))
            }
        )
    }

    private func string(_ name: String, _ schema: JSON) -> String {
        switch text(schema, "format") {
        case "date": return day().text
        case "date-time":
            var bytes: [UInt8] = []
            CivilTime.appendDateTime(CivilTime.clamped(time()), to: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        default: break
        }
        if text(schema, "contentEncoding") == "base64" {
            var values = CommandValues()
            values.set(name, blob())
            return values.text(name) ?? ""
        }
        if schema.member("pattern") != nil { return draws.pick(Self.names) }
        if name.hasSuffix("Id"), !draws.oneIn(8) { return draws.pick(Self.ids) }
        let text = draws.pick(Self.texts)
        let most = Int(clamping: integer(schema, "maxLength") ?? .max)
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(most)))
    }

    /// As many bytes as a hash has.
    func blob() -> [UInt8] { [UInt8](repeating: UInt8(draws.below(3)), count: 32) }

    func day() -> CivilDay {
        let days = draws.pick([CivilTime.daysMin, CivilTime.daysMax, 0, -1, 20_500, 20_600])
        guard let day = CivilDay(daysSince1970: Int(days)) else {
            preconditionFailure("these days are of the calendar")
        }
        return day
    }

    /// Any time that a clock may tell.
    func time() -> Timestamp {
        let now: Int64 = 1_780_000_000_000
        let times = [
            CivilTime.millisecondsMin, CivilTime.millisecondsMax, 0, -1, .min, .max, now,
            now + Int64(draws.below(1 << 30)),
        ]
        return Timestamp(milliseconds: draws.oneIn(2) ? now : draws.pick(times))
    }

    private func text(_ schema: JSON, _ key: String) -> String? {
        if case .string(let text)? = schema.member(key)?.item.value { text } else { nil }
    }

    private func integer(_ schema: JSON, _ key: String) -> Int64? {
        if case .integer(let value)? = schema.member(key)?.item.value { value } else { nil }
    }
}
