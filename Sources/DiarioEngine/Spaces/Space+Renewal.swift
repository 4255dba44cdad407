package import DiarioCore
import DiarioLog

// A space that took the place of this one: an import that found it empty made it, or a sync.

extension Space {
    /// Reads what other processes recorded, and goes on with the space that took the place of this
    /// one if one of them made it.
    ///
    /// True if there is more than before.
    @discardableResult
    package mutating func refresh() throws(DiarioError) -> Bool {
        let isMore: Bool
        do {
            isMore = try store.refresh()
            if try store.hasSpace(id) { return isMore }
        } catch {
            throw DiarioError(error)
        }
        return try followRenewal(of: id) || isMore
    }

    /// The space with what others recorded, and with the types of packs that they adopted.
    package func refreshed() throws(DiarioError) -> Space {
        var space = self
        try space.refresh()
        try space.takeUpAdoptions()
        return space
    }

    /// Goes on with the space that took the place of `old`, if another process made one.
    package mutating func followRenewal(of old: SpaceID) throws(DiarioError) -> Bool {
        guard id == old else { return true }
        let manifests: [Manifest]
        do {
            // Packs adopted in the new one are in the log.
            _ = try store.refresh()
            manifests = try store.manifests().filter { !$0.isStaging }
        } catch {
            throw DiarioError(error)
        }
        var next = manifests.first { $0.replaces == old }
        if next == nil, manifests.count == 1, manifests[0].replaces != nil {
            // That one was replaced in its turn before anybody looked.
            next = manifests[0]
        }
        guard let next, next.space != old else { return false }
        try move(to: next.space)
        return true
    }

    /// Its lineage, which changes when an import replaces the space.
    package func lineage() throws(DiarioError) -> Lineage {
        do { return try store[id].outline().manifest.lineage } catch { throw DiarioError(error) }
    }
}
