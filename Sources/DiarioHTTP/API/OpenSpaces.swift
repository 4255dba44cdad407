import DiarioCore

/// The spaces that a server has at hand; those that were quiet for longest are closed first.
///
/// Nothing is lost by closing one: it is opened again when it is asked for.
struct OpenSpaces: Sendable {
    private struct Entry: Sendable {
        var space: ServedSpace
        var lastUse: UInt64

        /// True if no request uses it or waits for news of it: two objects of one space would
        /// not know each other's listeners.
        mutating func isQuiet() -> Bool {
            isKnownUniquelyReferenced(&space) && space.bell.listenerCount == 0
        }
    }

    private var entries: [SpaceID: Entry] = [:]
    private var useCount: UInt64 = 0
    private let spaceCountMax: Int
    private let modelCountMax: Int

    init(
        spaceCountMax: Int = Limits.servedSpaceCountMax,
        modelCountMax: Int = Limits.servedModelCountMax
    ) {
        self.spaceCountMax = spaceCountMax
        self.modelCountMax = modelCountMax
    }

    var count: Int { entries.count }
    var all: [ServedSpace] { entries.values.map(\.space) }

    /// The space, if it is open; counts as a use.
    mutating func find(_ id: SpaceID) -> ServedSpace? {
        useCount += 1
        entries[id]?.lastUse = useCount
        return entries[id]?.space
    }

    /// Adds a space, and closes others if there are too many.
    mutating func add(_ space: ServedSpace, _ id: SpaceID) {
        useCount += 1
        entries[id] = Entry(space: space, lastUse: useCount)
        var byUse: [SpaceID]?
        while entries.count > spaceCountMax {
            var order = byUse ?? quietestFirst
            guard let index = order.firstIndex(where: { entries[$0]?.isQuiet() == true }) else {
                return
            }
            entries[order.remove(at: index)] = nil
            byUse = order
        }
    }

    mutating func remove(_ id: SpaceID) { entries[id] = nil }

    /// Closes read models, if those of too many spaces are open; that of `id` are used now.
    func closeModels(but id: SpaceID) {
        let open = quietestFirst.filter { $0 != id && entries[$0]?.space.hasModels == true }
        for id in open.dropLast(max(0, modelCountMax - 1)) { entries[id]?.space.closeModels() }
    }

    private var quietestFirst: [SpaceID] {
        entries.sorted { $0.value.lastUse < $1.value.lastUse }.map(\.key)
    }
}
