/// Numbers that belong to objects, each found by the very object.
///
/// A few are looked through; of many, most are found by their address at once.
struct ObjectIndices<Object: AnyObject & Sendable>: Sendable {
    private var entries: [(object: Object, index: Int32)] = []
    /// By the address of an object, where in `entries` it may be; -1 if nowhere.
    private var places: [Int16] = []

    private static var fewCount: Int { 4 }
    private static var placeCount: Int { 256 }

    /// The number of an object; nil if it has none.
    mutating func find(_ object: Object) -> Int32? {
        guard entries.count > Self.fewCount else {
            for place in entries.indices where entries[place].object === object {
                return entries[place].index
            }
            return nil
        }
        let slot = Self.slot(of: object)
        let place = Int(places[slot])
        if place >= 0, entries[place].object === object { return entries[place].index }
        guard let found = entries.firstIndex(where: { $0.object === object }) else { return nil }
        places[slot] = Int16(truncatingIfNeeded: found)
        return entries[found].index
    }

    /// Gives a number to an object that has none.
    mutating func insert(_ object: Object, _ index: Int32) {
        precondition(entries.count < Int(Int16.max), "there are no more types than that")
        entries.append((object, index))
        guard entries.count > Self.fewCount else { return }
        if places.isEmpty { places = [Int16](repeating: -1, count: Self.placeCount) }
        places[Self.slot(of: object)] = Int16(entries.count - 1)
    }

    mutating func removeAll() {
        if entries.count > Self.fewCount {
            for slot in places.indices { places[slot] = -1 }
        }
        // Of a few this is quicker than taking them all away at once.
        while entries.popLast() != nil {}
    }

    private static func slot(of object: Object) -> Int {
        // Objects lie at multiples of 16.
        let address = UInt(bitPattern: ObjectIdentifier(object))
        return Int((address >> 4 ^ address >> 12) & UInt(placeCount - 1))
    }
}
