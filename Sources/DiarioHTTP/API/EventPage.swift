import DiarioCore
import DiarioEngine
import DiarioSchema

/// Events of a space behind a position, as JSON: schema/format/http.md, section 7.
struct EventPage: Sendable {
    /// What is asked for.
    struct Wanted: Sendable {
        var filter = EventFilter(types: [])
        var isCloudEvents = false
        var countMax = Limits.answerCountMax

        /// Whether it is what readers ask for who say nothing.
        var isPlain: Bool {
            !isFiltered && !filter.includesAuthority && !isCloudEvents
                && countMax == Limits.answerCountMax
        }

        var isFiltered: Bool {
            !filter.types.isEmpty || filter.subject != nil || filter.actor != nil
                || filter.since != nil || filter.until != nil
        }
    }

    /// The position behind which it begins.
    let start: UInt64
    /// The last position that was looked at.
    let end: UInt64
    /// The head of the space when it was read.
    let head: UInt64
    let count: Int
    /// An array, each event on a line.
    let json: [UInt8]

    var isUpToDate: Bool { end == head }

    /// Ends early once `stop` is asked, or behind the block with which `scanMax` is reached.
    init(
        of space: Space,
        after start: UInt64,
        through head: UInt64,
        _ wanted: Wanted,
        until stop: BuildStop = BuildStop(),
        scanMax: Int = Limits.scanEventCountMax
    ) throws {
        self.start = start
        self.head = head
        var json: [UInt8] = []
        var cloudEvents = CloudEventWriter()
        var count = 0
        var end = head
        if start < head {
            var filter = wanted.filter
            filter.wantPositions(start + 1...head)
            var reader = try EventReader(space, filter)
            reading: while true {
                let line: EventLine
                switch try reader.next(costMax: scanMax, unless: { stop.hasBeenAsked }) {
                case .event(let found): line = found
                case .stopped(let position):
                    end = position
                    break reading
                case .end: break reading
                }
                guard let position = line.position else { continue }
                if wanted.isCloudEvents {
                    cloudEvents.append(line, to: &json)
                } else {
                    json += count == 0 ? [0x5b] : [0x2c, 0x0a]
                    EventLineWriter.append(line, to: &json)
                }
                count += 1
                if count == wanted.countMax || json.count >= Limits.answerSizeMax {
                    end = position
                    break
                }
            }
        }
        if wanted.isCloudEvents {
            cloudEvents.finish(&json)
        } else {
            json += count == 0 ? [0x5b, 0x5d, 0x0a] : [0x5d, 0x0a]
        }
        self.end = max(end, start)
        self.count = count
        self.json = json
    }
}

/// A place in a space's events as it is written in an address.
struct StreamOffset: Hashable, Sendable {
    let position: UInt64

    private static let digitCount = 20

    init(_ position: UInt64) { self.position = position }

    /// Nil if it is none; `head` is what `now` stands for.
    init?(text: String, head: UInt64) {
        switch text {
        case "-1": position = 0
        case "now": position = head
        default:
            guard text.utf8.count == Self.digitCount,
                text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt64(text)
            else { return nil }
            position = number
        }
    }

    var text: String {
        let digits = String(position)
        return String(repeating: "0", count: Self.digitCount - digits.utf8.count) + digits
    }
}
