import DiarioCore

/// The current state of the network between a device and the server.
struct Link {
    /// Neither requests nor answers get through.
    var isCut = false
    /// Requests get through, and answers do not.
    var isHalfOpen = false
    /// One message in so many is lost, comes twice, or is damaged; never for 0.
    var lossPeriod = 0
    var copyPeriod = 0
    var damagePeriod = 0
    /// Milliseconds that a message takes, at most.
    var delayMax: Int64 = 200

    init() {}

    /// A network that is disturbed in this way.
    init(_ kind: SyncStep.Kind, _ draw: inout SeededRandom) {
        switch kind {
        case .partition: isCut = true
        case .halfOpen: isHalfOpen = true
        default:
            lossPeriod = draw.oneIn(2) ? 2 + draw.below(6) : 0
            copyPeriod = draw.oneIn(2) ? 1 + draw.below(4) : 0
            damagePeriod = draw.oneIn(2) ? 2 + draw.below(6) : 0
            delayMax = Int64(draw.oneIn(2) ? 40_000 : 2000)
        }
    }

    /// The longest delay of a copy.
    private static let copyDelayMax = 400_000

    /// A message in transit: its time of arrival, and its bytes as they arrive.
    struct Delivery {
        let delay: Int64
        let bytes: [UInt8]
        let isDamaged: Bool
    }

    /// The deliveries of a message.
    func carry(_ bytes: [UInt8], _ random: inout SeededRandom) -> [Delivery] {
        guard !isCut, !isHit(lossPeriod, &random) else { return [] }
        var deliveries: [Delivery] = []
        let delay = 1 + Int64(random.below(Int(delayMax)))
        if isHit(damagePeriod, &random) {
            let damaged = Self.damage(bytes, &random)
            deliveries.append(
                Delivery(delay: delay, bytes: damaged, isDamaged: damaged != bytes)
            )
        } else {
            deliveries.append(Delivery(delay: delay, bytes: bytes, isDamaged: false))
        }
        if isHit(copyPeriod, &random) {
            let delay = 1 + Int64(random.below(random.oneIn(3) ? Self.copyDelayMax : 5000))
            deliveries.append(Delivery(delay: delay, bytes: bytes, isDamaged: false))
        }
        return deliveries
    }

    private func isHit(_ period: Int, _ random: inout SeededRandom) -> Bool {
        period > 0 && random.oneIn(period)
    }

    /// Cuts a message short, spoils a bit of it, or puts something else in the place of its end.
    private static func damage(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = bytes
        guard !bytes.isEmpty else { return bytes }
        switch random.below(3) {
        case 0: bytes.removeLast(1 + random.below(bytes.count))
        case 1: bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8))
        default:
            for index in random.below(bytes.count)..<bytes.count {
                bytes[index] = UInt8(truncatingIfNeeded: random.next())
            }
        }
        return bytes
    }
}
