import DiarioCore
import DiarioLog
import DiarioSchema

/// The new ids of things made by events that were recorded again.
struct RewrittenIDs: Sendable {
    private var new: [[UInt8]: [UInt8]] = [:]

    /// Takes up that events are recorded again.
    mutating func add(_ note: InboxNote) {
        for index in 0..<note.count {
            let old = Origin(replica: note.old.replica, sequence: note.old.sequence + index)
            let new = Origin(replica: note.new.replica, sequence: note.new.sequence + index)
            self.new[Array(old.text.utf8)] = Array(new.text.utf8)
        }
    }

    /// The payload of an event with new ids in the place of old ones.
    func payload(of line: EventLine) -> Payload {
        var payload = line.payload
        payload.replaceIDs(of: line.type) { new[Array($0)] }
        return payload
    }

    /// The row's own subject with a new id in the place of an old one; nil if it has none.
    func subject(of line: EventLine) -> [UInt8]? {
        line.subject.map { range in
            let old = Array(line.arena[range])
            return new[old] ?? old
        }
    }

    /// True if an event is another one but for its ids, its clock and its base.
    func isSame(_ old: EventLine, as recorded: EventLine) -> Bool {
        old.type.name == recorded.type.name && old.type.version == recorded.type.version
            && old.at == recorded.at && old.ownActor == recorded.ownActor
            && subject(of: old) == recorded.subject.map { Array(recorded.arena[$0]) }
            && payload(of: old) == recorded.payload
    }
}

extension EventLine {
    fileprivate var ownActor: [UInt8]? { actor.map { Array(arena[$0]) } }

    /// The ids of other events that this one names, as far as they are origins.
    var namedOrigins: [Origin] {
        var texts = type.idFieldIndices.compactMap { payload.bytes(at: $0).map { Array($0) } }
        if let subject { texts.append(Array(arena[subject])) }
        return texts.compactMap { Origin(text: String(decoding: $0, as: UTF8.self)) }
    }
}
