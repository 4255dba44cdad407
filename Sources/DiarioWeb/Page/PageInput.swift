import DiarioCore
import DiarioEngine
import DiarioFormat
import DiarioSchema

/// The input of a call: an object of JSON.
struct PageInput {
    private let value: JSON

    init(_ bytes: [UInt8]) throws(DiarioError) {
        do throws(SchemaError) { value = try JSON.parse(bytes).value } catch {
            throw DiarioError(.invalid, "The input is no JSON: \(error.message)")
        }
        guard case .object = value else {
            throw DiarioError(.invalid, "The input is no object of JSON.")
        }
    }

    func text(_ key: String) throws(DiarioError) -> String {
        guard let text = try optionalText(key) else {
            throw DiarioError(.invalid, "\(key) is missing.")
        }
        return text
    }

    func optionalText(_ key: String) throws(DiarioError) -> String? {
        switch value.member(key)?.item.value {
        case .string(let text)?: return text
        case nil, .null?: return nil
        default: throw DiarioError(.invalid, "\(key) is a text.")
        }
    }

    /// A whole number that is not negative.
    func number(_ key: String) throws(DiarioError) -> UInt64? {
        switch value.member(key)?.item.value {
        case .integer(let number)? where number >= 0: return UInt64(number)
        case nil, .null?: return nil
        default: throw DiarioError(.invalid, "\(key) is a number from 0 on.")
        }
    }

    func time(_ key: String) throws(DiarioError) -> Timestamp? {
        guard let text = try optionalText(key) else { return nil }
        guard let time = CivilTime.parseDateTime(Array(text.utf8).span) else {
            throw DiarioError(.invalid, "\(key) is a time such as 2026-05-01T12:00:00Z.")
        }
        return time
    }

    func isTrue(_ key: String) -> Bool {
        if case .boolean(true)? = value.member(key)?.item.value { return true }
        return false
    }

    func json(_ key: String) -> [UInt8]? { value.member(key)?.item.value.asWritten }

    /// The members of an object as texts, as an address has them.
    func texts(_ key: String) throws(DiarioError) -> [String: String] {
        var texts: [String: String] = [:]
        guard let found = value.member(key)?.item.value else { return texts }
        guard case .object(let members) = found else {
            throw DiarioError(.invalid, "\(key) is an object.")
        }
        for member in members {
            let value = member.item.value
            if case .string(let text) = value {
                texts[member.key] = text
            } else {
                texts[member.key] = String(decoding: value.asWritten, as: UTF8.self)
            }
        }
        return texts
    }

    func list(_ key: String) throws(DiarioError) -> [String] {
        guard case .array(let items)? = value.member(key)?.item.value else { return [] }
        var texts: [String] = []
        for item in items {
            guard case .string(let text) = item.value else {
                throw DiarioError(.invalid, "\(key) is a list of texts.")
            }
            texts.append(text)
        }
        return texts
    }

    /// An answer of a server: `{"status", "headers", "server"}`, a zero byte, and the body.
    static func reply(_ bytes: [UInt8]) throws(DiarioError) -> ServerReply {
        let end = bytes.firstIndex(of: 0) ?? bytes.count
        let head = try PageInput(Array(bytes[..<end]))
        guard case .integer(let status)? = head.value.member("status")?.item.value else {
            throw DiarioError(.invalid, "status is a number.")
        }
        return ServerReply(
            status: Int(clamping: status),
            headers: try head.texts("headers"),
            body: Array(bytes[min(end + 1, bytes.count)...]),
            server: try head.text("server")
        )
    }
}

extension JSONObjectWriter {
    mutating func add(_ key: String, texts: [String]) {
        add(key, JSON.array(of: texts.map { .string($0) }))
    }
}
