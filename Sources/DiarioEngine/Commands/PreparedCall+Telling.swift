import DiarioCore
import DiarioSchema

// A caller who may not read is told ids and codes: schema/format/http.md, section 9.

extension PreparedCall {
    /// The answer as the caller may have it.
    func told(_ answer: CallAnswer) -> CallAnswer {
        guard !call.mayRead else { return answer }
        var ids = CommandValues()
        if case .object(let members)? = try? JSON.parse(answer.result).value {
            for member in members where isNewID(member.key) {
                ids.set(member.key, to: member.item.value)
            }
        }
        var told = CallAnswer(result: ids.json, head: answer.head)
        told.events = answer.events.map { event in
            CallAnswer.Event(
                type: event.type,
                origin: event.origin,
                position: event.position,
                payload: nil
            )
        }
        told.isNew = answer.isNew
        return told
    }

    /// True for a field of the result that is the id of something that the command makes.
    private func isNewID(_ name: String) -> Bool {
        declaration.events.contains { type in
            guard let type = pack.types.last(where: { $0.name.hasBytes(of: type) }),
                let index = type.newIDFieldIndex
            else { return false }
            return type.fields[index].name.hasBytes(of: name)
        }
    }

    /// The error of a rule that is broken; its words and its value may be about what others
    /// recorded.
    func refusal(_ broken: BrokenRule) -> DiarioError {
        guard !call.mayRead else { return DiarioError(broken, in: call.language) }
        let given = broken.field.flatMap { input.text($0) }
        let told = BrokenRule(
            broken.rule,
            field: broken.field,
            value: given == broken.value ? given : nil,
            Texts(
                "The rule \(broken.rule) forbids it.",
                it: "La regola \(broken.rule) lo vieta."
            ),
            remedy: Texts(
                "Call it with a token that may read, which is told more.",
                it: "Usa un token con il diritto di leggere, che riceve pi\u{f9} dettagli."
            )
        )
        return DiarioError(told, in: call.language)
    }
}
