import DiarioCore

/// What the packs in use of a space say of who may record events, ready to be asked of each event.
package struct RecordingPlan: Sendable {
    /// What ids of one kind are: those in the subject field of a type that only an author records.
    package struct Kind: Hashable, Sendable {
        /// The pack and the field, `fish.reportId`.
        package let name: String
        /// A type makes these ids by a field that is marked "new"; else the first event about one
        /// makes it.
        package let isMade: Bool
    }

    /// A field that holds an id of a kind.
    package struct IDField: Sendable {
        package let index: Int
        /// The index of its kind.
        package let kind: Int
    }

    /// What is asked and noted of the events of one version of a type.
    package struct Entry: Sendable {
        /// Nil if whoever may append may record them.
        package let rule: RecordingRule?
        /// What the event is about, if its author may record it.
        package let subject: IDField?
        /// The id that the event makes.
        package let new: IDField?
        /// What the event is about, if the first event about that makes it.
        package let first: IDField?
    }

    package let kinds: [Kind]
    private let rules: [String: RecordingRule]

    /// The plan of no rule.
    package static let open = RecordingPlan(of: [], types: [])

    /// The plan of packs in use; `types` are all versions of types that the space ever had.
    package init(of packs: [Pack], types: [EventType]) {
        var rules: [String: RecordingRule] = [:]
        for pack in packs { for (name, rule) in pack.who { rules[name] = rule } }
        var made: Set<String> = []
        var asked: Set<String> = []
        if !rules.isEmpty {
            for type in types {
                if let index = type.newIDFieldIndex { made.insert(Self.kind(type, index)) }
                guard let rule = rules[type.name], rule.asksAuthor,
                    let index = type.subjectFieldIndex
                else { continue }
                asked.insert(Self.kind(type, index))
            }
        }
        self.rules = rules
        kinds = asked.sorted().map { Kind(name: $0, isMade: made.contains($0)) }
    }

    /// True if events of some type may not be recorded by whoever may append.
    package var hasRules: Bool { !rules.isEmpty }

    /// The entry of a version of a type; nil if nothing is asked or noted of its events.
    package func entry(of type: EventType) -> Entry? {
        guard hasRules else { return nil }
        let rule = rules[type.name]
        let subject = type.subjectFieldIndex.flatMap { idField(type, $0) }
        let new = type.newIDFieldIndex.flatMap { idField(type, $0) }
        let first = subject.flatMap { kinds[$0.kind].isMade ? nil : $0 }
        guard rule != nil || new != nil || first != nil else { return nil }
        return Entry(
            rule: rule,
            subject: rule?.asksAuthor == true ? subject : nil,
            new: new,
            first: first
        )
    }

    private func idField(_ type: EventType, _ index: Int) -> IDField? {
        let name = Self.kind(type, index)
        return kinds.firstIndex { $0.name.hasBytes(of: name) }.map {
            IDField(index: index, kind: $0)
        }
    }

    private static func kind(_ type: EventType, _ index: Int) -> String {
        "\(type.pack).\(type.fields[index].name)"
    }
}

extension Payload {
    /// The bytes of an id in the field `index`: its text, or the digits of an integer; nil if it
    /// is absent.
    package func idBytes(at index: Int) -> ArraySlice<UInt8>? {
        if case .integer(let number) = slots[index] { return Array("\(number)".utf8)[...] }
        return bytes(at: index)
    }
}
