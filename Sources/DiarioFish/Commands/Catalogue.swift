import DiarioCore
import DiarioSchema

// What commands ask of the catalogue, and those that change it.

extension Fish {
    /// A species as the catalogue has it on a day, in a zone of the sea.
    struct CatalogueEntry {
        let rule: SpeciesRule
        let isRetired: Bool
    }

    static func species(
        _ id: String,
        on day: CivilDay,
        zone: String = everywhere,
        field: String = "speciesId",
        in space: any CommandSpace
    ) throws(BrokenRule) -> CatalogueEntry {
        let row = space.row(
            "species",
            ["speciesId": .text(id), "day": .text(day.text), "zone": .text(zone)]
        )
        guard let row, let kind = row.text("minSizeKind"),
            let minimum = MinimumSize(kind: kind, lengthUm: row.integer("minSizeUm")),
            let season = row.integer("seasonMask").flatMap({ Season(mask: Int(clamping: $0)) })
        else { throw FishRule.unknownSpecies.broken(field, id) }
        return CatalogueEntry(
            rule: SpeciesRule(speciesID: id, minimum: minimum, season: season),
            isRetired: row.isTrue("isRetired")
        )
    }

    /// The zone that has the seasons of all seas without their own.
    static let everywhere = "*"

    static func checkZone(
        _ id: String,
        field: String,
        in space: any CommandSpace
    ) throws(BrokenRule) {
        let known = space.rows("zones", [:])
        guard known.contains(where: { $0.text("zoneId") == id }) else {
            throw FishRule.unknownZone.broken(field, id)
        }
    }

    static func reference(
        _ id: String,
        field: String,
        in space: any CommandSpace
    ) throws(BrokenRule) -> ReferenceObject {
        guard let row = space.row("references", ["referenceId": .text(id)]) else {
            throw FishRule.unknownReference.broken(field, id)
        }
        let thickness = row.integer("thicknessUm") ?? 0
        if let diameter = row.integer("diameterUm") {
            return .disc(diameterUm: diameter, thicknessUm: thickness)
        }
        guard let width = row.integer("widthUm"), let height = row.integer("heightUm") else {
            throw FishRule.unknownReference.broken(field, id)
        }
        return .card(widthUm: width, heightUm: height, thicknessUm: thickness)
    }

    /// Makes sure that a report may name the place: one that is in use, and has none inside.
    static func checkPlace(
        _ id: String,
        field: String,
        in space: any CommandSpace
    ) throws(BrokenRule) {
        guard let row = space.row("places", ["placeId": .text(id)]) else {
            throw FishRule.unknownPlace.broken(field, id)
        }
        guard row.isTrue("isLeaf"), row.text("parentId") != nil else {
            throw FishRule.municipality.broken(field, id)
        }
        guard !row.isTrue("isRetired") else { throw FishRule.retired.broken(field, id) }
    }

    // MARK: Commands of curators

    static func define(
        _ input: SpeciesDefine,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<SpeciesDefine.Result> {
        guard (input.minSizeKind == .none) == (input.minSizeUm == nil) else {
            throw FishRule.minimumSize.broken("minSizeUm", input.minSizeKind.rawValue)
        }
        return Outcome(SpeciesDefine.Result()).recording(
            Recorded.SpeciesDefined(
                speciesId: input.speciesId,
                ordinal: input.ordinal,
                nameIt: input.nameIt,
                nameEn: input.nameEn,
                nameSci: input.nameSci,
                family: input.family,
                measure: input.measure,
                minSizeKind: input.minSizeKind,
                minSizeUm: input.minSizeUm,
                seasonMask: input.seasonMask,
                legalBasis: input.legalBasis,
                validFrom: input.validFrom
            )
        )
    }

    static func retire(
        _ input: SpeciesRetire,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<SpeciesRetire.Result> {
        let known = try species(input.speciesId, on: today(space), in: space)
        guard !known.isRetired else { throw FishRule.retired.broken("speciesId", input.speciesId) }
        return Outcome(SpeciesRetire.Result()).recording(
            Recorded.SpeciesRetired(speciesId: input.speciesId, reason: input.reason)
        )
    }

    static func set(
        _ input: SeasonSet,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<SeasonSet.Result> {
        _ = try species(input.speciesId, on: max(today(space), input.validFrom), in: space)
        let zone = input.zoneId ?? everywhere
        try checkZone(zone, field: "zoneId", in: space)
        return Outcome(SeasonSet.Result()).recording(
            Recorded.SeasonSet(
                speciesId: input.speciesId,
                zoneId: zone,
                seasonMask: input.seasonMask,
                validFrom: input.validFrom
            )
        )
    }

    static func define(
        _ input: ZoneDefine,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<ZoneDefine.Result> {
        Outcome(ZoneDefine.Result()).recording(
            Recorded.ZoneDefined(
                zoneId: input.zoneId,
                nameIt: input.nameIt,
                nameEn: input.nameEn
            )
        )
    }

    static func define(
        _ input: ReferenceDefine,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<ReferenceDefine.Result> {
        let isDisc = input.shape == .disc
        guard (input.diameterUm != nil) == isDisc, (input.widthUm == nil) == isDisc,
            (input.heightUm == nil) == isDisc
        else { throw FishRule.referenceSize.broken("shape", input.shape.rawValue) }
        return Outcome(ReferenceDefine.Result()).recording(
            Recorded.ReferenceDefined(
                referenceId: input.referenceId,
                nameIt: input.nameIt,
                nameEn: input.nameEn,
                shape: input.shape,
                diameterUm: input.diameterUm,
                widthUm: input.widthUm,
                heightUm: input.heightUm,
                thicknessUm: input.thicknessUm
            )
        )
    }

    static func define(
        _ input: PlaceDefine,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<PlaceDefine.Result> {
        if let parent = input.parentId {
            guard let row = space.row("places", ["placeId": .text(parent)]) else {
                throw FishRule.unknownPlace.broken("parentId", parent)
            }
            guard row.text("parentId") == nil else {
                throw FishRule.parent.broken("parentId", parent)
            }
        }
        return Outcome(PlaceDefine.Result()).recording(
            Recorded.PlaceDefined(
                placeId: input.placeId,
                parentId: input.parentId,
                name: input.name,
                aliases: input.aliases,
                latE7: input.latE7,
                lonE7: input.lonE7
            )
        )
    }

    static func retire(
        _ input: PlaceRetire,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<PlaceRetire.Result> {
        guard let row = space.row("places", ["placeId": .text(input.placeId)]) else {
            throw FishRule.unknownPlace.broken("placeId", input.placeId)
        }
        guard !row.isTrue("isRetired") else {
            throw FishRule.retired.broken("placeId", input.placeId)
        }
        return Outcome(PlaceRetire.Result()).recording(
            Recorded.PlaceRetired(placeId: input.placeId, reason: input.reason)
        )
    }

    // MARK: Days

    /// The day in Italy, whose rules on summer time the European Union made in 2001: it goes from
    /// the last Sunday of March to that of October, at one o'clock universal time.
    static func today(_ space: any CommandSpace) -> CivilDay { day(at: space.now) }

    /// The milliseconds from 1970 to now, as far as the calendar goes: a clock may say anything.
    static func now(_ space: any CommandSpace) -> Int64 {
        CivilTime.clamped(space.now).milliseconds
    }

    /// The day, if it is not later than tomorrow: a clock may be a little ahead.
    static func notInFuture(
        _ day: CivilDay,
        field: String,
        _ space: any CommandSpace
    ) throws(BrokenRule) -> CivilDay {
        guard day.daysSince1970 <= today(space).daysSince1970 + 1 else {
            throw FishRule.future.broken(field, day.text)
        }
        return day
    }

    static func day(at time: Timestamp) -> CivilDay {
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
