package import DiarioEngine
import DiarioSchema

extension DiarioError {
    /// The error as a page gets it.
    package var json: [UInt8] {
        JSONObjectWriter.object { json in
            json.add("kind", kindName)
            json.add("message", message)
            if let rule { json.add("rule", rule) }
            if let field { json.add("field", field) }
            if let value { json.add("value", value) }
            if let remedy { json.add("remedy", remedy) }
            if let line { json.add("line", line) }
        }
    }

    private var kindName: String {
        switch kind {
        case .invalid: "invalid"
        case .rule: "rule"
        case .notFound: "notFound"
        case .ambiguous: "ambiguous"
        case .exists: "exists"
        case .full: "full"
        case .readOnly: "readOnly"
        case .busy: "busy"
        case .corrupt: "corrupt"
        case .incompatible: "incompatible"
        case .tooLarge: "tooLarge"
        case .system: "system"
        case .offline: "offline"
        case .unauthorized: "unauthorized"
        case .diverged: "diverged"
        }
    }
}
