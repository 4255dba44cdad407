import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioProjection
package import DiarioSchema

// Commands and views: schema/README.md.

extension ReadModels {
    /// Calls a command or a view of a pack in use.
    ///
    /// A command checks and records in one step: if somebody else records meanwhile, it runs again.
    /// What it records is durable when this returns; when it throws, nothing is recorded.
    ///
    /// - Throws: `DiarioError` of the kind `rule` if a rule of the domain forbids it.
    package func call(
        _ call: Call,
        of domains: [Domain],
        progress: Progress = { _, _, _ in }
    ) throws(DiarioError) -> CallAnswer {
        try takeUpAdoptions()
        var call = call
        if call.isLanguageUsual {
            let pack = String(call.name.prefix { $0 != "." })
            let preferred = try language(of: call.actor, in: pack, of: domains, progress)
            call.language = preferred ?? call.language
        }
        let prepared = try PreparedCall(call, of: domains, in: space)
        for _ in 0..<Self.tryCountMax {
            if let answer = try run(prepared, progress) { return prepared.told(answer) }
        }
        throw DiarioError(
            .busy,
            "Others record so fast that \(call.name) could not be decided on what they had "
                + "recorded, \(Self.tryCountMax) times. Nothing was recorded. Call it again."
        )
    }

    private static var tryCountMax: Int { 3 }

    /// The language in which a user wants to read what a pack says; nil if they never said.
    package func language(
        of actor: String?,
        in pack: String,
        of domains: [Domain],
        _ progress: Progress = { _, _, _ in }
    ) throws(DiarioError) -> Language? {
        guard let actor, let domain = domains.first(where: { $0.pack.hasBytes(of: pack) }),
            let pack = packs.first(where: { $0.name.hasBytes(of: pack) })
        else { return nil }
        try update([pack.name], progress: progress)
        guard isCurrent(pack.name) else { return nil }
        let reader = try callReader(try builtSource(of: pack.name))
        var call = Call("\(pack.name).", [])
        call.actor = actor
        let view = LiveCommandSpace(call, pack, reader, space)
        let language = try locked([pack.name]) { () throws(DiarioError) in domain.language(view) }
        // What an older pack does not tell is not preferred.
        return view.failure == nil ? language : nil
    }

    /// The declaration that a call is about, which has to be of this kind.
    package func declaration(
        of call: Call,
        _ kind: Declaration.Kind
    ) throws(DiarioError) -> Declaration {
        try takeUpAdoptions()
        let pack = try space.pack(of: call.name)
        let found = pack.declarations.first { $0.name.hasBytes(of: call.name) }
        guard let found else {
            throw DiarioError(
                .notFound,
                "There is no \(kind.rawValue) \(call.name).",
                rule: "command"
            )
        }
        guard found.kind == kind else {
            throw DiarioError(
                .notFound,
                "\(call.name) is a \(found.kind.rawValue), not a \(kind.rawValue).",
                rule: "command"
            )
        }
        return found
    }

    /// Decides on what is recorded now; nil if somebody recorded something else meanwhile.
    private func run(
        _ prepared: PreparedCall,
        _ progress: Progress
    ) throws(DiarioError) -> CallAnswer? {
        let call = prepared.call
        let records = prepared.declaration.kind == .command && !call.isDryRun
        let moment = try Moment(of: space, forRecording: records)
        if let answer = try prepared.earlierAnswer(in: space, head: moment.head) { return answer }
        let pack = prepared.pack
        try update([pack.name], progress: progress)
        guard isCurrent(pack.name) else {
            throw DiarioError(
                .busy,
                "The read models of \(pack.name) are not those of the pack in use, so nothing can "
                    + "be decided by them. Rebuild them: diario rebuild \(pack.name)"
            )
        }
        let source = try builtSource(of: pack.name)
        let reader = try callReader(source)
        let view = LiveCommandSpace(call, pack, reader, space)
        let outcome = try locked([pack.name]) { () throws(DiarioError) in
            try prepared.outcome(in: view)
        }
        var draft = try CallDraft(outcome, prepared, moment, in: space)
        try space.check(draft.asked)
        guard !draft.isEmpty, !call.isDryRun else { return draft.answer(isNew: false) }
        let append = Append(
            space: moment.space,
            contents: [.new([draft.batch])],
            firstSequence: moment.nextSequence,
            behind: moment.head
        )
        switch space.store.commit([append])[0] {
        case .success(let batches):
            guard let first = batches.first else { return nil }
            draft.note(first)
            return draft.answer(isNew: true)
        case .failure(.outOfOrder) where try Moment(of: space, forRecording: true) != moment:
            return nil
        case .failure(.unknownSpace) where try space.followRenewal(of: moment.space):
            return nil
        case .failure(let error): throw DiarioError(error)
        }
    }
}

/// What a space holds at the moment at which something is decided.
struct Moment: Equatable {
    let space: SpaceID
    let head: UInt64
    let replica: ReplicaID?
    /// The sequence that the next event here gets.
    let nextSequence: UInt64?

    init(of space: Space, forRecording: Bool) throws(DiarioError) {
        self.space = space.id
        guard forRecording else {
            (head, replica, nextSequence) = (space.head, nil, nil)
            return
        }
        do throws(LogError) {
            // Reads what other processes recorded, too.
            let (own, last) = try space.store[space.id].author()
            (replica, nextSequence) = (own, last + 1)
        } catch {
            throw DiarioError(error)
        }
        head = space.head
    }

    /// The origin of the event that comes so many after the next one.
    func origin(_ index: Int) -> Origin? {
        guard let replica, let nextSequence else { return nil }
        return Origin(replica: replica, sequence: nextSequence + UInt64(index))
    }
}
