package import DiarioCore
import DiarioProjection
package import DiarioSchema
import DiarioStorage

extension ReadModels {
    /// Builds read models aside, and tells how their tables differ from the live ones.
    ///
    /// They are built row by row, whatever waited when the live ones were. Nothing is left of it.
    package func compare(
        _ packs: [Pack],
        progress: Progress = { _, _, _ in }
    ) throws(DiarioError) -> [(pack: String, table: TableDifference)] {
        guard !place.isReadOnly else {
            throw DiarioError(
                .readOnly,
                "The space may only be read here, so nothing is built aside. Do it where it may be "
                    + "written."
            )
        }
        try space.refuseChangedSchemas(packs)
        var differences: [(pack: String, table: TableDifference)] = []
        for pack in packs where !pack.sql.readModels.isEmpty {
            let found = try builder.alone { () throws(DiarioError) in
                try compare(pack, progress)
            }
            differences += found.map { (pack: pack.name, table: $0) }
        }
        return differences
    }

    private func compare(
        _ pack: Pack,
        _ progress: Progress
    ) throws(DiarioError) -> [TableDifference] {
        let scratch = "\(pack.name).aside"
        do { try place.remove(scratch) } catch { throw DiarioError(error) }
        do throws(DiarioError) {
            let path = place.path(of: scratch)
            let file: ModelFile
            do {
                file = try ModelFile(path: path, plan: PackPlan(pack), space: space.id, .building)
            } catch {
                throw DiarioError(error)
            }
            try modelUpdate(of: file).run { progress(pack.name, $0, $1) }
            let live = try locked([pack.name]) { () throws(DiarioError) in
                try attachLive(to: file)
            }
            let found: [TableDifference]
            do { found = try file.differences(from: live) } catch { throw DiarioError(error) }
            do { try place.remove(scratch) } catch { throw DiarioError(error) }
            return found
        } catch {
            try? place.remove(scratch)
            // A file may have gone with the space that it was of.
            try refresh()
            throw error
        }
    }

    /// Lets a generation that was built aside be compared with the live one, both at one event;
    /// gives the path of that.
    private func attachLive(to file: ModelFile) throws(DiarioError) -> String? {
        // Others may have recorded meanwhile, and applied that to the live one.
        try refresh()
        if let live = try liveFile(file.plan, keepsOwnPack: true) {
            try modelUpdate(of: live).run { _, _ in }
        }
        try modelUpdate(of: file).run { _, _ in }
        let path = place.live(file.plan.pack.name).map { place.path(of: $0.name) }
        // The models of a space that is replaced go after it.
        if path == nil { try refresh() }
        do { try file.attachOther(path) } catch { throw DiarioError(error) }
        return path
    }

    private func refresh() throws(DiarioError) {
        var newer = space
        try newer.refresh()
        guard newer.id == spaceID else {
            throw DiarioError(.busy, "An import has just replaced the space. Do it again.")
        }
        space = newer
    }
}
