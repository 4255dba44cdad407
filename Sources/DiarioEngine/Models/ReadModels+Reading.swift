package import DiarioProjection
package import DiarioSchema

extension ReadModels {
    /// The live generations, as queries read them.
    package func sources() -> [ModelReader.Source] {
        packs.compactMap { source(of: $0.name) }
    }

    package func source(of pack: String) -> ModelReader.Source? {
        place.live(pack).map {
            ModelReader.Source(
                pack: pack,
                path: place.path(of: $0.name),
                isImmutable: place.isReadOnly
            )
        }
    }

    /// True if a pack's read models were undone, and stay as they are until they are rebuilt.
    package func isHeld(_ pack: String) -> Bool {
        guard let live = place.live(pack) else { return false }
        return (try? place.summary(of: live).isHeld) ?? false
    }

    /// A named query of a pack in use, and its pack.
    package func query(_ name: String) throws(DiarioError) -> (Pack, PackQuery) {
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        var found: [(Pack, PackQuery)] = []
        for pack in packs where parts.count < 2 || pack.name == parts[0] {
            for query in pack.sql.queries where query.name == parts.last {
                found.append((pack, query))
            }
        }
        guard let first = found.first else {
            throw DiarioError(
                .notFound,
                "There is no query \(name). `diario query` lists those there are.",
                rule: "query"
            )
        }
        guard found.count == 1 else {
            let names = found.map { "\($0.0.name).\(name)" }.joined(separator: " and ")
            throw DiarioError(.invalid, "Several packs have a query \(name): say \(names).")
        }
        return first
    }
}
