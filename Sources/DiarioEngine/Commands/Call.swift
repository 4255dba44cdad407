package import DiarioCore
package import DiarioSchema

/// A command or a view that somebody calls.
package struct Call: Sendable {
    /// The full name, such as `fish.report.file`.
    package var name: String
    /// The input, as an object of JSON.
    package var input: [UInt8]
    /// When it happens; now if nil.
    package var at: Timestamp?
    /// Who does it: an opaque id, never a name.
    package var actor: String?
    package var language = Language.english
    /// True if nobody asked for the language: then the one that the actor prefers takes its place.
    package var isLanguageUsual = false
    /// True to compute everything, and record nothing.
    package var isDryRun = false
    /// False for a caller who may not read what others recorded: it is told ids and codes alone.
    package var mayRead = true
    /// False at a server: what stays on the device that records it cannot be recorded there.
    package var takesStayingBlobs = true

    package init(_ name: String, _ input: [UInt8]) {
        self.name = name
        self.input = input
    }
}

/// What came of a call.
package struct CallAnswer: Sendable {
    /// The events of a command: those that it recorded, or that were recorded before.
    package var events: [Event] = []
    /// What it answers, as an object of JSON.
    package let result: [UInt8]
    /// The last position at that moment.
    package let head: UInt64
    /// True if something was recorded.
    package var isNew = false

    /// An event that a command recorded.
    package struct Event: Sendable {
        package let type: String
        /// Nil if nothing was recorded.
        package let origin: Origin?
        /// Nil while it is pending.
        package let position: UInt64?
        /// An object of JSON; nil for a caller who may not read.
        package let payload: [UInt8]?
    }

    /// An object of JSON.
    package var json: [UInt8] {
        JSONObjectWriter.object { json in
            json.add(
                "events",
                list: events.map { event in
                    JSONObjectWriter.object { json in
                        json.add("type", event.type)
                        if let origin = event.origin { json.add("origin", origin.text) }
                        if let position = event.position { json.add("position", position) }
                        if let payload = event.payload { json.add("payload", json: payload) }
                    }
                }
            )
            json.add("result", json: result)
            json.add("head", head)
        }
    }
}

extension DiarioError {
    /// A rule of a domain that a command would break, in a language.
    init(_ broken: BrokenRule, in language: Language) {
        self.init(
            .rule,
            broken.message[language],
            rule: broken.rule,
            field: broken.field,
            value: broken.value,
            remedy: broken.remedy[language]
        )
    }
}
