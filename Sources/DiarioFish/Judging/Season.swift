/// The months in which a species reproduces, as a set: so it may go past the end of the year.
///
/// They are the thesis's table on reproduction, and no legal closure.
package struct Season: Equatable, Sendable {
    /// One bit for each closed month, January's the lowest.
    package let mask: Int

    /// A season by its mask; nil outside 0 (never closed) to 4095 (always).
    package init?(mask: Int) {
        guard 0...0xfff ~= mask else { return nil }
        self.mask = mask
    }

    package func isClosed(in month: Month) -> Bool { mask >> (month.number - 1) & 1 == 1 }

    package func result(in month: Month) -> DateResult {
        isClosed(in: month) ? .reproducing : .inSeason
    }

    /// For each month from January on, true if the species may be bought in it.
    package var openMonths: [Bool] { Month.all.map { !isClosed(in: $0) } }

    /// The months to wait until the species may be bought: 0 if it may now, nil if it never may.
    package func monthsUntilOpen(from month: Month) -> Int? {
        (0..<12).first { !isClosed(in: month.advanced(by: $0)) }
    }
}

/// Whether the species reproduces in the month of the photo.
package enum DateResult: String, Sendable {
    case inSeason = "in_season"
    case reproducing
}

/// A season as it holds in a zone from some day on.
package struct ZoneSeason: Equatable, Sendable {
    /// The zone in which it holds; `*` stands for all that have no season of their own.
    package let zoneID: String
    /// The first day, in days since 1970.
    package let validFrom: Int64
    package let season: Season

    package init(zoneID: String, validFrom: Int64, season: Season) {
        self.zoneID = zoneID
        self.validFrom = validFrom
        self.season = season
    }

    /// The season that holds in a zone on a day; nil if none of those given does.
    ///
    /// That is the zone's own with the latest first day not after `day`, and without one of its
    /// own the latest of `*`. Of two with the same first day the later in the list holds.
    package static func holding(
        in zoneID: String,
        on day: Int64,
        of all: [ZoneSeason]
    ) -> Season? {
        for zone in [zoneID, "*"] {
            var found: ZoneSeason?
            for candidate in all where candidate.zoneID == zone && candidate.validFrom <= day {
                if let best = found, best.validFrom > candidate.validFrom { continue }
                found = candidate
            }
            if let found { return found.season }
        }
        return nil
    }
}
