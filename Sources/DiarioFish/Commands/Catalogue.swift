package import DiarioCore
import DiarioSchema

// What commands ask of the catalogue.

extension Fish {
    /// A species as the catalogue has it on a day, in a zone of the sea.
    struct CatalogueEntry {
        let rule: SpeciesRule
        let nameIt: String
        let nameEn: String?
        let measure: BodyMeasure
        let isRetired: Bool
    }

    static func species(
        _ id: String,
        on day: CivilDay,
        zone: String = everywhere,
        field: String = "speciesId",
        in space: any CommandSpace
    ) throws(BrokenRule) -> CatalogueEntry {
        guard let row = space.species(speciesId: id, day: day, zone: zone).first,
            let minimum = MinimumSize(kind: row.minSizeKind.rawValue, lengthUm: row.minSizeUm),
            let season = row.seasonMask.flatMap({ Season(mask: Int(clamping: $0)) })
        else {
            let known = space.species(day: day).map { $0.speciesId }
            throw Fish.Rule.unknownSpecies(field, id, values: list(known))
        }
        return CatalogueEntry(
            rule: SpeciesRule(speciesID: id, minimum: minimum, season: season),
            nameIt: row.nameIt,
            nameEn: row.nameEn,
            measure: row.measure,
            isRetired: row.isRetired
        )
    }

    /// The zone that has the seasons of all seas without their own.
    static let everywhere = "*"

    static func checkZone(
        _ id: String,
        field: String,
        in space: any CommandSpace
    ) throws(BrokenRule) {
        let known = space.zones().map { $0.zoneId }
        guard known.contains(where: { $0.hasBytes(of: id) }) else {
            throw Fish.Rule.unknownZone(field, id, values: list(known))
        }
    }

    /// The values that there are, for messages.
    static func list(_ values: [String]) -> String {
        let shown = values.prefix(listedMax).joined(separator: ", ")
        return values.count > listedMax ? shown + ", ..." : shown
    }

    private static let listedMax = 100

    private static func unknownReference(
        _ field: String,
        _ id: String,
        in space: any CommandSpace
    ) -> BrokenRule {
        let known = space.references().map { $0.referenceId }
        return Fish.Rule.unknownReference(field, id, values: list(known))
    }

    static func unknownPlace(
        _ field: String,
        _ id: String,
        in space: any CommandSpace
    ) -> BrokenRule {
        Fish.Rule.unknownPlace(field, id, values: list(space.places().map { $0.placeId }))
    }

    /// The zone that is given, else the one that the user prefers, else everywhere.
    static func zone(
        _ given: String?,
        in space: any CommandSpace
    ) throws(BrokenRule) -> String {
        let id = given ?? Preferences(in: space).zone ?? everywhere
        try checkZone(id, field: "zone", in: space)
        return id
    }

    static func reference(
        _ id: String,
        field: String,
        in space: any CommandSpace
    ) throws(BrokenRule) -> ReferenceObject {
        guard let row = space.references(referenceId: id).first else {
            throw unknownReference(field, id, in: space)
        }
        if let diameter = row.diameterUm {
            return .disc(diameterUm: diameter, thicknessUm: row.thicknessUm)
        }
        guard let width = row.widthUm, let height = row.heightUm else {
            throw unknownReference(field, id, in: space)
        }
        return .card(widthUm: width, heightUm: height, thicknessUm: row.thicknessUm)
    }

    /// Makes sure that a report may name the place: one that is in use, and has none inside.
    static func checkPlace(
        _ id: String,
        field: String,
        in space: any CommandSpace
    ) throws(BrokenRule) {
        guard let row = space.places(placeId: id).first else {
            throw unknownPlace(field, id, in: space)
        }
        guard row.isLeaf, row.parentId != nil else {
            throw Fish.Rule.municipality(field, id)
        }
        guard !row.isRetired else { throw Fish.Rule.retired(field, id) }
    }

    // MARK: Days

    /// The day in Italy, whose rules on summer time the European Union made in 2001: it goes from
    /// the last Sunday of March to that of October, at one o'clock universal time.
    static func today(_ space: any CommandSpace) -> CivilDay { day(at: space.now) }

    /// The milliseconds from 1970 to now, as far as the calendar goes: a clock may say anything.
    static func now(_ space: any CommandSpace) -> Int64 {
        CivilTime.clamped(space.now).milliseconds
    }

    /// The day, if it is from 1970 to tomorrow: a clock may be a little ahead, or wholly wrong.
    static func credible(
        _ day: CivilDay,
        field: String,
        _ space: any CommandSpace
    ) throws(BrokenRule) -> CivilDay {
        guard day.daysSince1970 <= today(space).daysSince1970 + 1 else {
            throw Fish.Rule.future(field, day.text)
        }
        guard day.daysSince1970 >= min(0, today(space).daysSince1970) else {
            throw Fish.Rule.past(field, day.text)
        }
        return day
    }

    /// The day in Italy.
    package static func day(at time: Timestamp) -> CivilDay {
        let hour: Int64 = 3_600_000
        let milliseconds = CivilTime.clamped(time).milliseconds
        let winter = civilDay(at: milliseconds + hour)
        let start = lastSunday(ofMonth: 3, year: winter.year) * 24 * hour + hour
        let end = lastSunday(ofMonth: 10, year: winter.year) * 24 * hour + hour
        guard start..<end ~= milliseconds else { return winter }
        return civilDay(at: milliseconds + 2 * hour)
    }

    private static func civilDay(at milliseconds: Int64) -> CivilDay {
        let day: Int64 = 86_400_000
        let days = milliseconds / day - (milliseconds % day < 0 ? 1 : 0)
        let known = CivilTime.daysMin...CivilTime.daysMax
        guard
            let day = CivilDay(
                daysSince1970: Int(min(max(days, known.lowerBound), known.upperBound))
            )
        else { preconditionFailure("the days of the calendar are clamped") }
        return day
    }

    /// The days from 1970 to the last Sunday of a month that has 31 days.
    private static func lastSunday(ofMonth month: Int, year: Int) -> Int64 {
        let last = CivilDay(year: year, month: month, day: 31)?.daysSince1970 ?? 0
        // 1970 began on a Thursday.
        return Int64(last - ((last + 4) % 7 + 7) % 7)
    }
}
