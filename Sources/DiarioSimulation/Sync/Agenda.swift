/// Something that is still to come in a sync world.
enum Happening {
    case request(Device, number: Int, bytes: [UInt8], isDamaged: Bool)
    case answer(Device, number: Int, bytes: [UInt8])
    /// No answer comes to a request any more, or it cannot be carried at all.
    case failure(Device, number: Int, what: String)
    case wake(Device, number: Int, Waking)
    /// A machine is switched on, or its program is started.
    case start(Peer)
    /// The network of a device works again.
    case calm(Device)
    /// A disk works again.
    case mend(Peer)
    /// A token gives rights again.
    case allow(Device)
    /// The operator resumes the server.
    case resume

    /// Why a device is woken.
    enum Waking {
        /// A time came, or something was recorded.
        case time
        /// There may be news.
        case news
        /// A person ends a pause.
        case person
    }
}

/// The queue of things to come, in order of time.
struct Agenda {
    private var entries: [(time: Int64, item: Happening)] = []

    /// Adds an item at a time; items of one time come in the order in which they were added.
    mutating func add(_ item: Happening, at time: Int64) {
        let index = entries.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
        entries.insert((time, item), at: index)
    }

    /// Takes the next one out, with its time, if that is not after `time`.
    mutating func next(until time: Int64) -> (time: Int64, item: Happening)? {
        guard let first = entries.first, first.time <= time else { return nil }
        return entries.removeFirst()
    }

    mutating func removeAll(where isUnwanted: (Happening) -> Bool) {
        entries.removeAll { isUnwanted($0.item) }
    }
}
