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
    /// Takes up events from a file of lines as `export` writes them: all of them or none.
    package func importLines(
        of file: any LogFile,
        progress: (Int, Int) -> Void
    ) throws(DiarioError) -> ImportSummary {
        try importEvents(of: file, as: .lines, progress: progress)
    }

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
        var space = self
        let hold = try space.holdImports()
        defer { hold.release() }
        return try space.importHeld(file, form, progress)
    }

    /// The same for a caller that holds the imports of the space.
    private mutating func importHeld(
        _ file: any LogFile,
        _ form: EventForm,
        _ progress: (Int, Int) -> Void
    ) throws(DiarioError) -> ImportSummary {
        let size: Int
        do throws(StorageError) { size = Int(try file.size()) } catch { throw DiarioError(error) }
        for _ in 0..<Self.importAttemptCountMax {
            try takeUpAdoptions()
            // Looked at first, so that whatever is recorded behind it is noticed.
            let standing = store.standing(of: id)
            let status = try logging { () throws(LogError) in try store.status(of: id) }
            // Others know a server's space by its id, so no other one takes its place.
            let isServed = try logging { () throws(LogError) in try store.isOfServer() }
            let isEmpty = status.manifest.authority != nil && status.events == 0 && !isServed
            let beginning = try isEmpty ? beginning(of: file, form) : .foreign
            guard beginning == .whole else {
                var recorder = try ImportRecorder(
                    self,
                    status,
                    takesAuthority: beginning != .part
                )
                let space = self
                let input = { space.makeInput(file, form, takesForeign: true) }
                return try recorder.record(input, size, progress)
            }
            var input = makeInput(file, form, takesForeign: false)
            if let summary = try restore(&input, size, ifStill: standing, progress) {
                return summary
            }
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
            try refresh()
            let held = id
            let hold = try logging { () throws(LogError) in try store[held].imports.hold() }
            // Whoever held them before may have made it anew.
            do throws(DiarioError) { try refresh() } catch {
                hold.release()
                throw error
            }
            if id == held { return hold }
            hold.release()
        }
    }

    /// How often others may adopt a pack meanwhile; once an event is there, this ends.
    private static let importAttemptCountMax = 16

    private func makeInput(
        _ file: any LogFile,
        _ form: EventForm,
        takesForeign: Bool
    ) -> EventInput {
        switch form {
        case .lines: .lines(FileLines(file))
        case .cloudEvents:
            .cloudEvents(
                CloudEventBatch(file, CloudEventReader(catalog, takesForeign: takesForeign))
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

    private func beginning(
        of file: any LogFile,
        _ form: EventForm
    ) throws(DiarioError) -> Beginning {
        var first: [UInt8] = []
        func keep(_ text: Span<UInt8>) { first = text.indices.map { text[$0] } }
        switch form {
        case .lines:
            var lines = FileLines(file)
            while first.isEmpty,
                try lines.next({ (text, _) throws(DiarioError) in if !text.isBlank { keep(text) } })
            {}
        case .cloudEvents:
            var batch = CloudEventBatch(file, CloudEventReader(catalog, takesForeign: true))
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
        _ input: inout EventInput,
        _ size: Int,
        ifStill standing: SpaceStanding,
        _ progress: (Int, Int) -> Void
    ) throws(DiarioError) -> ImportSummary? {
        try logging { () throws(LogError) in try store.removeRemains() }
        let (staged, lock) = try logging { () throws(LogError) in try store.stageSpace() }
        defer { lock.release() }
        do throws(DiarioError) {
            let target = try Space(store: store, id: staged)
            var restorer = Restorer(target, catalog, packs: try adoptedPacks())
            let count = try restorer.restore(&input, size, progress)
            guard count > 0 else {
                // Without events nothing says which packs it uses, so this space stays.
                try logging { () throws(LogError) in try store.remove(staged) }
                return ImportSummary(
                    space: self,
                    imported: 0,
                    known: 0,
                    unresolved: 0,
                    ignoredNames: input.ignoredNames
                )
            }
            let isActive = try logging { () throws(LogError) in
                try store.activate(staged, inPlaceOf: id, ifStill: standing)
            }
            guard isActive else {
                try logging { () throws(LogError) in try store.remove(staged) }
                return nil
            }
            let space = try Space(store: store, id: staged)
            return ImportSummary(
                space: space,
                imported: count,
                known: 0,
                unresolved: 0,
                ignoredNames: input.ignoredNames
            )
        } catch {
            // What took the place of this space already is not staged any more.
            try? store.removeStaged(staged)
            throw error
        }
    }

    /// The packs that the space uses, in the order in which it adopted them.
    func adoptedPacks() throws(DiarioError) -> [Pack] {
        var packs: [Pack] = []
        for adoption in try logging({ () throws(LogError) in try store.status(of: id) }).adoptions {
            packs.append(try Self.adoptedPack(adoption.fingerprint, in: store))
        }
        return packs
    }
}
