import DiarioCore
import DiarioCrypto

extension ProofText {
    /// Appends the proof as one line, or for people with a line for each member and hash.
    package func append(to output: inout [UInt8], isIndented: Bool) {
        var members = [
            ("version", "\(Self.version)"),
            ("space", Self.quoted(space.text)),
            ("lineage", Self.quoted(lineage)),
        ]
        let end = [("size", "\(size)"), ("root", Self.quoted(root.text))]
        let path: [Hash32]
        switch claim {
        case .inclusion(let proof, let leaf, let event):
            path = proof.path
            members.insert(("proof", Self.quoted("inclusion")), at: 0)
            members.append(("position", "\(proof.index + 1)"))
            if let event { members.append(("event", Self.text(event))) }
            members.append(("leaf", Self.quoted(leaf.text)))
        case .consistency(let proof, let fromRoot):
            path = proof.path
            members.insert(("proof", Self.quoted("consistency")), at: 0)
            members.append(("fromSize", "\(proof.fromSize)"))
            members.append(("fromRoot", Self.quoted(fromRoot.text)))
        }
        members += end
        members.append(("path", Self.list(path, isIndented: isIndented)))
        let (open, between, close) = isIndented ? ("{\n  ", ",\n  ", "\n}\n") : ("{", ",", "}\n")
        let colon = isIndented ? ": " : ":"
        let lines = members.map { "\(Self.quoted($0.0))\(colon)\($0.1)" }
        output += (open + lines.joined(separator: between) + close).utf8
    }

    private static func list(_ path: [Hash32], isIndented: Bool) -> String {
        guard !path.isEmpty else { return "[]" }
        let (open, between, close) = isIndented ? ("[\n    ", ",\n    ", "\n  ]") : ("[", ",", "]")
        return open + path.map { quoted($0.text) }.joined(separator: between) + close
    }

    private static func text(_ event: ProofEvent) -> String {
        "{\"row\":\"\(hexadecimal(event.row.bytes))\",\"acceptedAt\":\(event.acceptedAt)}"
    }

    /// For texts that need no escapes: names, digits and ids.
    private static func quoted(_ text: String) -> String { "\"\(text)\"" }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let characters = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: characters, as: UTF8.self)
    }
}
