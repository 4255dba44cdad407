import DiarioCore
import DiarioLog
import DiarioSchema

/// A call whose declaration is known, and whose input has its form.
struct PreparedCall {
    let call: Call
    let pack: Pack
    let declaration: Declaration
    /// The input; it has the form of the declaration.
    let input: CommandValues
    private let entry: Domain.Entry

    init(_ call: Call, of domains: [Domain], in space: Space) throws(DiarioError) {
        try EventTime.check(call.at, now: space.now)
        self.call = call
        let pack = try space.pack(of: call.name)
        self.pack = pack
        let known = domains.first { $0.pack.hasBytes(of: pack.name) }?.entries ?? []
        let declared = pack.declarations.first { $0.name.hasBytes(of: call.name) }
        let entry = known.first { $0.declaration.name.hasBytes(of: call.name) }
        let agreed = try Self.agreed(declared, entry, call.name, pack)
        let declaration = agreed.0
        self.declaration = declaration
        self.entry = agreed.1
        if call.isDryRun, declaration.kind == .view {
            throw DiarioError(.invalid, "\(call.name) is a view, which records nothing anyway.")
        }
        let input: JSON
        do throws(SchemaError) {
            var payload = Payload()
            var reader = PayloadReader()
            try reader.read(call.input.span, as: declaration.input, into: &payload)
            input = try JSON.parse(call.input).value
        } catch {
            guard let broken = BrokenRule(error, in: declaration) else { throw DiarioError(error) }
            throw DiarioError(broken, in: call.language)
        }
        self.input = CommandValues(input)
        guard call.actor == nil, declaration.needsActor else { return }
        throw DiarioError(Self.withoutActor(call.name), in: call.language)
    }

    /// Both sides, if the program has the rules for what the pack declares.
    private static func agreed(
        _ declared: Declaration?,
        _ entry: Domain.Entry?,
        _ name: String,
        _ pack: Pack
    ) throws(DiarioError) -> (Declaration, Domain.Entry) {
        switch (declared, entry) {
        case (let declared?, let entry?):
            let own = entry.declaration
            if own.text.isEqual(to: declared.canonicalText) { return (declared, entry) }
            throw DiarioError(
                .incompatible,
                declared.version > own.version
                    ? "The pack declares version \(declared.version) of \(name), and this program "
                        + "has the rules of version \(own.version). Install a newer program."
                    : "The space uses an older form of \(name) than this program. "
                        + adopting(pack.name),
                rule: "command-version"
            )
        case (_?, nil):
            throw DiarioError(
                .incompatible,
                "The pack declares \(name), and this program has no rules for it. Install a newer "
                    + "program, or one that was made for this pack.",
                rule: "command-version"
            )
        case (nil, _?):
            throw DiarioError(
                .incompatible,
                "The space uses a pack \(pack.name) that does not declare \(name) yet. "
                    + adopting(pack.name),
                rule: "command-version"
            )
        case (nil, nil):
            throw DiarioError(
                .notFound,
                "There is no command or view \(name).",
                rule: "command"
            )
        }
    }

    private static func adopting(_ pack: String) -> String {
        "Update the pack: diario schema adopt --pack \(pack)"
    }

    private static func withoutActor(_ name: String) -> BrokenRule {
        BrokenRule(
            "actor",
            field: "actor",
            Texts(
                "\(name) belongs to a person, and nobody said who does it.",
                it: "\(name) appartiene a una persona, e nessuno ha detto chi la esegue."
            ),
            remedy: Texts(
                "Name the user once for this replica: diario actor set ID. Or name them in the "
                    + "call.",
                it: "Indica l'utente una volta per questa replica: diario actor set ID. Oppure "
                    + "nella chiamata."
            )
        )
    }

    /// What the rules of the domain make of the input.
    func outcome(in space: LiveCommandSpace) throws(DiarioError) -> RawOutcome {
        let outcome: Result<RawOutcome, BrokenRule>
        do throws(BrokenRule) { outcome = .success(try entry.run(input, space)) } catch {
            outcome = .failure(error)
        }
        // Without rows, whatever was decided is worth nothing.
        if let failure = space.failure { throw failure }
        switch outcome {
        case .success(let outcome): return outcome
        case .failure(let broken): throw refusal(broken)
        }
    }

    /// Makes sure that a result has the form of the declaration.
    func check(_ result: [UInt8]) throws(SchemaError) {
        var payload = Payload()
        var reader = PayloadReader()
        try reader.read(result.span, as: declaration.result, into: &payload)
    }

    // MARK: The same command again

    /// The answer of the call that made the thing with the id that is given, if there was one.
    ///
    /// The same id is the same call for the same actor alone: others are told nothing of it.
    ///
    /// - Throws: `DiarioError` of the kind `rule` if that was another call.
    func earlierAnswer(in space: Space, head: UInt64) throws(DiarioError) -> CallAnswer? {
        guard let field = declaration.newIDField, let id = input.text(field.name),
            let events = try earlierBatch(making: id, as: field.name, in: space)
        else { return nil }
        guard events.allSatisfy({ $0.actor == call.actor }) else {
            throw refusal(Self.idTaken(id, field: field.name))
        }
        for member in input.members {
            let recorded = events.compactMap { event in
                event.payload.member(member.key)?.item.value
            }
            guard !recorded.isEmpty, !recorded.contains(where: { $0.isSame(member.item.value) })
            else { continue }
            throw refusal(Self.idTaken(id, field: field.name, differing: member.key))
        }
        var result = CommandValues()
        for field in declaration.result.fields {
            for event in events {
                guard let value = event.payload.member(field.name)?.item.value else { continue }
                result.set(field.name, to: value)
                break
            }
        }
        // It was made by something else than this command, if it lacks what the command answers.
        do throws(SchemaError) { try check(result.json) } catch {
            throw refusal(Self.idTaken(id, field: field.name))
        }
        var answer = CallAnswer(result: result.json, head: head)
        answer.events = events.map { $0.event }
        return answer
    }

    private static func idTaken(
        _ id: String,
        field: String,
        differing: String? = nil
    ) -> BrokenRule {
        let (english, italian) =
            differing.map {
                (": its \($0) is not the one given", ": il suo \($0) non \u{e8} quello dato")
            } ?? ("", "")
        return BrokenRule(
            "id-taken",
            field: field,
            value: id,
            Texts(
                "There is another \(id) already\(english).",
                it: "Esiste gi\u{e0} un altro \(id)\(italian)."
            ),
            remedy: Texts(
                "Give a new id, or none. To call it again, give the same values.",
                it: "Dai un id nuovo, o nessuno. Per ripetere la chiamata, dai gli stessi valori."
            )
        )
    }

    private struct EarlierEvent {
        let event: CallAnswer.Event
        let payload: JSON
        let actor: String?
    }

    /// The batch with the event that made the thing; nil if nothing is recorded of it.
    private func earlierBatch(
        making id: String,
        as field: String,
        in space: Space
    ) throws(DiarioError) -> [EarlierEvent]? {
        for name in declaration.events {
            guard let type = space.catalog.newest(name),
                let subject = declaration.subjectField(ofMaking: type)
            else { continue }
            var filter = EventFilter(types: [name])
            filter.subject = input.text(subject)
            var reader = try EventReader(space, filter)
            while let line = try reader.next() {
                guard let index = line.type.fieldIndex(field),
                    line.payload.bytes(at: index)?.elementsEqual(id.utf8) == true,
                    let batch = line.batch.map({ Array(line.arena[$0]) })
                else { continue }
                return try self.batch(batch, around: line, in: space)
            }
        }
        return nil
    }

    /// The events of a batch, of which one is at `line`.
    private func batch(
        _ name: [UInt8],
        around line: EventLine,
        in space: Space
    ) throws(DiarioError) -> [EarlierEvent] {
        var filter = EventFilter.everything
        filter.replica = line.origin?.replica
        if let position = line.position {
            let reach = UInt64(Limits.batchCountMax)
            filter.wantPositions(position - min(position - 1, reach)...position + reach)
        } else {
            filter.wantPending()
        }
        var events: [EarlierEvent] = []
        var reader = try EventReader(space, filter)
        while let line = try reader.next() {
            guard line.batch.map({ line.arena[$0].elementsEqual(name) }) == true else { continue }
            var payload: [UInt8] = []
            PayloadWriter.append(line.payload, of: line.type, to: &payload)
            let parsed: JSON
            do throws(SchemaError) { parsed = try JSON.parse(payload).value } catch {
                throw DiarioError(error)
            }
            let event = CallAnswer.Event(
                type: line.type.name,
                origin: line.origin,
                position: line.position,
                payload: payload
            )
            let actor = line.actor.map { String(decoding: line.arena[$0], as: UTF8.self) }
            events.append(EarlierEvent(event: event, payload: parsed, actor: actor))
        }
        return events
    }
}

extension Space {
    /// The pack in use that a command or a view of this name belongs to.
    func pack(of name: String) throws(DiarioError) -> Pack {
        let packName = String(name.prefix { $0 != "." })
        if let pack = packs.first(where: { $0.name.hasBytes(of: packName) }) { return pack }
        throw DiarioError(
            .notFound,
            "This space has no pack \(packName), so there is no \(name).",
            rule: "command"
        )
    }
}

extension StaticString {
    fileprivate func isEqual(to bytes: [UInt8]) -> Bool {
        // Safe: both buffers are read inside the closures and not kept.
        withUTF8Buffer { text in
            guard text.count == bytes.count else { return false }
            return unsafe bytes.withUnsafeBytes { unsafe $0.elementsEqual(text) }
        }
    }
}

extension JSON {
    /// True if both are written alike.
    fileprivate func isSame(_ other: JSON) -> Bool {
        var (one, two): ([UInt8], [UInt8]) = ([], [])
        appendCanonical(to: &one)
        other.appendCanonical(to: &two)
        return one == two
    }
}
