package import DiarioCore
import DiarioEngine
import DiarioLog
package import DiarioSchema
import DiarioStorage

// The spaces of a folder: listed, made, named and removed.

extension DataFolder {
    /// A space of the folder.
    package struct ListedSpace {
        package let id: SpaceID
        /// Nil if it has none.
        package let name: SpaceName?
        package let quota: SpaceQuota?
        package let head: UInt64
        /// Why it cannot be used; nil if it can.
        package let fault: Fault?
    }

    /// All spaces: those with names, and then the others.
    package func spaces() throws -> [ListedSpace] {
        try withStore(.readOnly) { store in
            let named = try names()
            let made = try store.readableManifests().manifests.filter { !$0.isStaging }.map(\.space)
            let broken = try brokenSpaces(of: store)
            let unnamed = (made + broken.map(\.id)).filter { id in !named.contains { $0.id == id } }
            func listed(_ id: SpaceID, _ named: NamedSpace?) -> ListedSpace {
                ListedSpace(
                    id: id,
                    name: named?.name,
                    quota: named?.quota,
                    head: made.contains(id) ? store[id].standing().head : 0,
                    fault: broken.first { $0.id == id }?.fault
                )
            }
            return named.map { listed($0.id, $0) } + unnamed.sorted().map { listed($0, nil) }
        }
    }

    /// Makes a space that has a name.
    package func makeSpace(_ name: SpaceName, _ packs: [Pack]) throws -> SpaceID {
        let control = try control(for: .making)
        guard try control.space(name) == nil else {
            throw ControlError.taken("The name \(name.text)")
        }
        let id = try withLog { store in
            let id = try Space.make(in: store, packs: packs).id
            // Last, because it is served from then on.
            do {
                try markServed(id, in: store)
                try control.name(id, name)
            } catch {
                try? store[id].remove()
                throw error
            }
            return id
        }
        // One of them may be the one that is meant.
        remarkUnnamed()
        return id
    }

    /// The packs in use of a space that has a name; none if it is not made yet.
    package func packs(of name: SpaceName) throws -> [Pack] {
        guard let space = try control().space(name) else {
            throw ControlError.unknownSpace(name.text)
        }
        return try withStore(.readOnly) { store in
            try store.hasSpace(space.id) ? Space(store: store, id: space.id).packs : []
        }
    }

    /// Gives a space of the folder a name.
    package func name(_ id: SpaceID, _ name: SpaceName) throws {
        guard try directory(.read).exists(LogPaths.manifest(id)) else {
            throw DiarioError(
                .notFound,
                "there is no space \(id.text). They are listed by: diario space list"
            )
        }
        let control = try control(for: .making)
        try withLog { try markServed(id, in: $0) }
        try control.name(id, name)
    }

    /// A space that is to be removed, and all that goes with it.
    package struct Loss {
        package let id: SpaceID
        /// Nil if it has none.
        package let name: SpaceName?
        package let events: Int
        package let tokens: Int
        package let replicas: Int
    }

    /// Says what is lost with the space of this name, or id, and removes it if that is meant.
    package func lose(_ text: String, shown: String, isMeant: Bool) throws -> Loss {
        let control = try control(for: .writing)
        return try withLog { store in
            let loss = try find(text, shown: shown, control, store)
            guard isMeant else { return loss }
            var ids = [loss.id]
            // First: a server lets nobody in from then on. After a crash here the space has no
            // name, and its id can be removed.
            if let name = loss.name { ids += try control.removeSpace(name) }
            for id in ids where try store.hasSpace(id) { try store[id].remove() }
            return loss
        }
    }

    private func find(
        _ text: String,
        shown: String,
        _ control: ControlFile,
        _ store: LogStore
    ) throws -> Loss {
        let spaces = try control.spaces()
        let named = spaces.first { $0.name.text == text }
        let unnamed = SpaceID(text: text).flatMap { id in
            spaces.contains { $0.id == id } || (try? store.hasSpace(id)) != true ? nil : id
        }
        guard let id = named?.id ?? unnamed else {
            throw DiarioError(
                .notFound,
                "there is no space \(shown). They are listed by: diario space list"
            )
        }
        if let broken = try brokenSpaces(of: store).first(where: { $0.id == id }) {
            throw DiarioError(
                .corrupt,
                "\(broken.shown) is damaged, and cannot be removed: \(broken.remedy)"
            )
        }
        let name = named?.name
        return Loss(
            id: id,
            name: name,
            events: try store.hasSpace(id) ? store[id].status().events : 0,
            tokens: try name.map { try control.tokens(of: $0).count { $0.revoked == nil } } ?? 0,
            replicas: try name.map { try control.replicas(of: $0).count } ?? 0
        )
    }

    // MARK: Where positions are given

    /// A space whose positions are given in the folder.
    package struct Authority {
        package let id: SpaceID
        package let name: SpaceName?
        package let epoch: UInt64
        package let head: UInt64
        package var isWaiting: Bool

        package var shown: String { name?.text ?? id.text }
    }

    /// The state that a space is to have.
    package enum AuthorityState {
        case resumed
        case held
        case heldWithoutRestore
    }

    package func authorities() throws -> [Authority] {
        let (found, broken) = try withStore(.readOnly) { try authorities(in: $0) }
        for space in broken { remark("\(space.shown) cannot be used: \(space.remedy)") }
        return found
    }

    /// Resumes spaces that wait, or holds those that do not, or the one that is wanted; gives them
    /// as they are then.
    package func change(to state: AuthorityState, _ wanted: SpaceName?) throws -> [Authority] {
        try withStore(.readWrite) { store in
            let (known, broken) = try authorities(in: store)
            for space in broken {
                let problem = "\(space.shown) cannot be used: \(space.remedy)"
                if let wanted, space.name == wanted { throw DiarioError(.corrupt, problem) }
                if wanted == nil { remark(problem) }
            }
            if let wanted, !known.contains(where: { $0.name == wanted }) {
                throw DiarioError(
                    .notFound,
                    "there is no space called \(wanted.text). They are listed by: diario space list"
                )
            }
            var chosen = known.filter { space in
                let isInState = space.isWaiting == (state != .resumed)
                guard state == .heldWithoutRestore || !isInState else { return false }
                return wanted == nil || space.name == wanted
            }
            for index in chosen.indices {
                if state == .resumed {
                    try store[chosen[index].id].resumeAuthority()
                } else {
                    try store[chosen[index].id].holdAuthority(mayBeRestored: state == .held)
                }
                chosen[index].isWaiting = state != .resumed
            }
            return chosen
        }
    }

    private func authorities(
        in store: LogStore
    ) throws -> (spaces: [Authority], broken: [BrokenSpace]) {
        let names = Dictionary(try names().map { ($0.id, $0.name) }) { first, _ in first }
        var broken = try brokenSpaces(of: store)
        var spaces: [Authority] = []
        for manifest in try store.readableManifests().manifests
        where !manifest.isStaging && manifest.authority != nil {
            let id = manifest.space
            do throws(LogError) {
                // A copy that nobody has written to yet finds out now that it is one.
                if store.access == .readWrite { _ = try store[id].author() }
                spaces.append(
                    Authority(
                        id: id,
                        name: names[id],
                        epoch: try store[id].status().manifest.epoch,
                        head: store[id].standing().head,
                        isWaiting: try store[id].isWaiting()
                    )
                )
            } catch {
                guard case .corrupt(let fault) = error else { throw error }
                broken.append(self.broken(id, names[id], fault))
            }
        }
        return (spaces, broken)
    }
}
