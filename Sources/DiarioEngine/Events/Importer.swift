import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSchema
package import DiarioStorage

/// What an import did.
package struct ImportSummary: Sendable {
    /// The space that holds the events now: another one if the import replaced what `init` wrote.
    package let space: Space
    /// Events that were taken up, those of an authority included.
    package let imported: Int
    /// Events that were passed over, because they had been imported before.
    package let known: Int
    /// References to events that are neither in the file nor were imported before: they stay as
    /// they are.
    package let unresolved: Int
    /// Attributes of CloudEvents that Diario has no place for; at most 16 of them.
    package let ignoredNames: [String]
}

extension Space {
    /// Takes up events from a file as `export` writes it: all of them or none.
    ///
    /// All events of a space come into a space without events of its packs as they are, with
    /// origins, positions and times, in a space of a new lineage that takes the place of this one.
    /// Into any other space they are recorded as new events of this replica, each origin once; so
    /// are events without what the authority wrote, and CloudEvents that other programs recorded,
    /// into any space.
    ///
    /// What others record into this space meanwhile stays: the events come as new ones then.
    ///
    /// `progress` is told how many bytes of the file were read, of how many to read in all.
    package func importEvents(
        of file: any LogFile,
        as form: EventForm,
        progress: (Int, Int) -> Void
    ) throws(DiarioError) -> ImportSummary {
        var importer = Importer(space: self, file: file, form: form)
        return try importer.run(progress)
    }
}

/// Takes the events of a file into a space.
private struct Importer {
    /// The space that is there: others may make another one in its place.
    var space: Space
    let file: any LogFile
    let form: EventForm

    /// How often others may adopt a pack meanwhile; once an event is there, this ends.
    private static let attemptCountMax = 16

    mutating func run(_ progress: (Int, Int) -> Void) throws(DiarioError) -> ImportSummary {
        let hold = try holdImports()
        defer { hold.release() }
        let size: Int
        do { size = Int(try file.size()) } catch { throw DiarioError(error) }
        for _ in 0..<Self.attemptCountMax {
            try space.takeUpAdoptions()
            // Looked at first, so that whatever is recorded behind it is noticed.
            let standing = space.store[space.id].standing()
            let (status, isServed): (SpaceStatus, Bool)
            do {
                status = try space.store[space.id].status()
                // Others know a server's space by its id, so no other one takes its place.
                isServed = try space.store.isOfServer()
            } catch {
                throw DiarioError(error)
            }
            let isEmpty = status.manifest.authority != nil && status.events == 0 && !isServed
            let beginning = try isEmpty ? beginning() : .foreign
            guard beginning == .whole else {
                let takesAuthority = beginning != .part
                var recorder = try ImportRecorder(space, status, takesAuthority: takesAuthority)
                return try recorder.record({ input(takesForeign: true) }, size, progress)
            }
            if let summary = try restore(size, ifStill: standing, progress) { return summary }
        }
        throw DiarioError(
            .busy,
            "Other programs change this space all the time, so nothing was imported. Try again "
                + "later."
        )
    }

    /// Holds the imports of the space that is there once nobody else does.
    private mutating func holdImports() throws(DiarioError) -> any DirectoryLock {
        while true {
            try space.refresh()
            let held = space.id
            let hold: any DirectoryLock
            do { hold = try space.store[held].imports.hold() } catch { throw DiarioError(error) }
            // Whoever held them before may have made it anew.
            do throws(DiarioError) { try space.refresh() } catch {
                hold.release()
                throw error
            }
            if space.id == held { return hold }
            hold.release()
        }
    }

    private func input(takesForeign: Bool) -> EventInput {
        switch form {
        case .lines: .lines(FileLines(file))
        case .cloudEvents:
            .cloudEvents(
                CloudEventBatch(file, CloudEventReader(space.catalog, takesForeign: takesForeign))
            )
        }
    }

    /// How a file of events begins.
    private enum Beginning {
        /// With the first event of a space, or one that does not say where it stood.
        case whole
        /// With a later one: what is before it is left out, as what an authority wrote is.
        case part
        /// With an event of another program than Diario.
        case foreign
    }

    private func beginning() throws(DiarioError) -> Beginning {
        var first: [UInt8] = []
        func keep(_ text: Span<UInt8>) { first = text.indices.map { text[$0] } }
        switch form {
        case .lines:
            var lines = FileLines(file)
            while first.isEmpty,
                try lines.next({ (text, _) throws(DiarioError) in if !text.isBlank { keep(text) } })
            {}
        case .cloudEvents:
            var batch = CloudEventBatch(file, CloudEventReader(space.catalog, takesForeign: true))
            _ = try batch.next { (text, _) throws(DiarioError) in keep(text) }
            if batch.isForeign { return .foreign }
        }
        // What is no JSON is told by whoever takes it in.
        guard
            case .integer(let position)? = try? JSON.parse(first).value.member("position")?.item
                .value
        else { return .whole }
        return position == 1 ? .whole : .part
    }

    /// Makes a space of the events that takes the place of this one; nil if this one is not what it
    /// was any more, and stays.
    private func restore(
        _ size: Int,
        ifStill standing: SpaceStanding,
        _ progress: (Int, Int) -> Void
    ) throws(DiarioError) -> ImportSummary? {
        let store = space.store
        let (staged, lock): (SpaceID, any DirectoryLock)
        do {
            try store.removeRemains()
            (staged, lock) = try store.stageSpace()
        } catch {
            throw DiarioError(error)
        }
        defer { lock.release() }
        do throws(DiarioError) {
            let target = try Space(store: store, id: staged)
            let packs = try space.adoptedPacks().map { $0.pack }
            var restorer = Restorer(target, space.catalog, packs: packs)
            var input = input(takesForeign: false)
            let count = try restorer.restore(&input, size, progress)
            let isActive: Bool
            do {
                // Without events nothing says which packs it uses, so this space stays.
                isActive =
                    count > 0
                    ? try store[staged].activate(inPlaceOf: space.id, ifStill: standing) : false
                if !isActive { try store[staged].remove() }
            } catch {
                throw DiarioError(error)
            }
            guard isActive || count == 0 else { return nil }
            return ImportSummary(
                space: isActive ? try Space(store: store, id: staged) : space,
                imported: count,
                known: 0,
                unresolved: 0,
                ignoredNames: input.ignoredNames
            )
        } catch {
            // What took the place of this space already is not staged any more.
            try? store[staged].removeStaged()
            throw error
        }
    }
}
