import DiarioCore
import DiarioCrypto
package import DiarioSchema

/// Why a text is no proof at all.
package enum ProofTextError: Error, Sendable {
    case tooLarge(size: Int)
    /// No JSON, or a member twice.
    case json(SchemaError)
    case notAnObject
    case unknownVersion(Int64)
    case missing(String)
    case unknown(String)
    /// The value of a member is not what it should be.
    case invalid(String, wanted: String)
    case row(FormatError)

    /// What is wrong, as a clause.
    package var message: String {
        switch self {
        case .tooLarge(let size):
            "it has \(size) bytes, and a proof has at most \(ProofText.sizeMax)"
        case .json(let error): error.message
        case .notAnObject: "it is not a JSON object"
        case .unknownVersion(let version):
            "it is of version \(version), which this program does not know; use a newer diario"
        case .missing(let name): "the member \"\(name)\" is missing"
        case .unknown(let name): "the member \"\(name)\" is not one of a proof"
        case .invalid(let name, let wanted): "the member \"\(name)\" is not \(wanted)"
        case .row(let error): "the row of the event does not read: \(error.message)"
        }
    }
}

extension ProofText {
    /// Reads all of `text`, strictly; `check` tells if the proof is valid.
    package init(_ text: [UInt8]) throws(ProofTextError) {
        guard text.count <= Self.sizeMax else { throw .tooLarge(size: text.count) }
        let value: JSON
        do throws(SchemaError) { value = try JSON.parse(text).value } catch { throw .json(error) }
        var members = try ProofMembers(value)
        let kind = try members.text("proof")
        guard kind == "inclusion" || kind == "consistency" else {
            throw .invalid("proof", wanted: "\"inclusion\" or \"consistency\"")
        }
        let version = try members.integer("version")
        guard version == Self.version else { throw .unknownVersion(version) }
        guard let space = SpaceID(text: try members.text("space")) else {
            throw .invalid("space", wanted: "an id of 13 characters")
        }
        let lineage = try members.text("lineage")
        guard lineage.utf8.count == 32, HexadecimalText.bytes(lineage) != nil else {
            throw .invalid("lineage", wanted: "32 digits of lower-case hexadecimal")
        }
        let size = try members.count("size", from: kind == "inclusion" ? 1 : 0)
        let root = try members.hash("root")
        let path = try members.hashes("path")
        let claim: Claim
        if kind == "inclusion" {
            let position = try members.count("position", from: 1)
            let leaf = try members.hash("leaf")
            let event = try members.take("event").map { value throws(ProofTextError) in
                try ProofEvent(value)
            }
            let proof = InclusionProof(index: position - 1, size: size, path: path)
            claim = .inclusion(proof, leaf: leaf, event: event)
        } else {
            let fromSize = try members.count("fromSize", from: 0)
            let proof = ConsistencyProof(fromSize: fromSize, size: size, path: path)
            claim = .consistency(proof, fromRoot: try members.hash("fromRoot"))
        }
        try members.end()
        self.init(space: space, lineage: lineage, claim: claim, root: root)
    }
}

extension ProofEvent {
    fileprivate init(_ value: JSON) throws(ProofTextError) {
        var members = try ProofMembers(value)
        guard let bytes = HexadecimalText.bytes(try members.text("row")) else {
            throw .invalid("row", wanted: "lower-case hexadecimal")
        }
        let acceptedAt = try members.integer("acceptedAt")
        try members.end()
        do throws(FormatError) {
            self.init(row: try ProofRow(bytes), acceptedAt: acceptedAt)
        } catch {
            throw .row(error)
        }
    }
}

/// The members of an object that were not read yet.
private struct ProofMembers {
    private var rest: [JSON.Member]

    init(_ value: JSON) throws(ProofTextError) {
        guard case .object(let members) = value else { throw .notAnObject }
        rest = members
    }

    /// Takes a member; nil if it is not there.
    mutating func take(_ name: String) -> JSON? {
        guard let index = rest.firstIndex(where: { $0.key.hasBytes(of: name) }) else {
            return nil
        }
        return rest.remove(at: index).item.value
    }

    private mutating func need(_ name: String) throws(ProofTextError) -> JSON {
        guard let value = take(name) else { throw .missing(name) }
        return value
    }

    mutating func text(_ name: String) throws(ProofTextError) -> String {
        guard case .string(let text) = try need(name) else {
            throw .invalid(name, wanted: "a string")
        }
        return text
    }

    mutating func integer(_ name: String) throws(ProofTextError) -> Int64 {
        guard case .integer(let value) = try need(name) else {
            throw .invalid(name, wanted: "a whole number")
        }
        return value
    }

    mutating func count(_ name: String, from minimum: Int64) throws(ProofTextError) -> UInt64 {
        let value = try integer(name)
        guard value >= minimum, value <= Int64(TreeNode.sizeMax) else {
            throw .invalid(name, wanted: "a whole number from \(minimum) to 2^62 - 1")
        }
        return UInt64(value)
    }

    mutating func hash(_ name: String) throws(ProofTextError) -> Hash32 {
        try Self.hash(try need(name), name)
    }

    mutating func hashes(_ name: String) throws(ProofTextError) -> [Hash32] {
        guard case .array(let items) = try need(name) else {
            throw .invalid(name, wanted: "an array")
        }
        var hashes: [Hash32] = []
        for item in items { hashes.append(try Self.hash(item.value, name)) }
        return hashes
    }

    private static func hash(_ value: JSON, _ name: String) throws(ProofTextError) -> Hash32 {
        guard case .string(let text) = value, let hash = Hash32(text: text) else {
            throw .invalid(name, wanted: "made of hashes: 64 digits of lower-case hexadecimal")
        }
        return hash
    }

    func end() throws(ProofTextError) {
        if let member = rest.first { throw .unknown(member.key) }
    }
}

/// Bytes as lower-case hexadecimal digits.
private enum HexadecimalText {
    static func bytes(_ text: String) -> [UInt8]? {
        guard text.utf8.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for character in text.utf8 {
            let digit: UInt8
            switch character {
            case 0x30...0x39: digit = character - 0x30
            case 0x61...0x66: digit = character - 0x61 + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return bytes
    }
}
