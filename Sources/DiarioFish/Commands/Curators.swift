import DiarioSchema

/// Commands that change the catalogue.
enum CuratorRules {
    static func define(
        _ input: Fish.SpeciesDefine,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.SpeciesDefine.Result> {
        guard (input.minSizeKind == .none) == (input.minSizeUm == nil) else {
            throw Fish.Rule.minimumSize("minSizeUm", input.minSizeKind.rawValue)
        }
        let season = try Season(months: input.months, field: "months")
        return Outcome(Fish.SpeciesDefine.Result()).recording(
            Fish.Recorded.SpeciesDefined(
                speciesId: input.speciesId,
                ordinal: input.ordinal,
                nameIt: input.nameIt,
                nameEn: input.nameEn,
                nameSci: input.nameSci,
                family: input.family,
                measure: input.measure,
                minSizeKind: input.minSizeKind,
                minSizeUm: input.minSizeUm,
                seasonMask: Int64(season.mask),
                legalBasis: input.legalBasis,
                validFrom: input.validFrom
            )
        )
    }

    static func retire(
        _ input: Fish.SpeciesRetire,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.SpeciesRetire.Result> {
        let known = try Fish.species(input.speciesId, on: Fish.today(space), in: space)
        guard !known.isRetired else { throw Fish.Rule.retired("speciesId", input.speciesId) }
        return Outcome(Fish.SpeciesRetire.Result()).recording(
            Fish.Recorded.SpeciesRetired(speciesId: input.speciesId, reason: input.reason)
        )
    }

    static func set(
        _ input: Fish.SeasonSet,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.SeasonSet.Result> {
        _ = try Fish.species(
            input.speciesId,
            on: max(Fish.today(space), input.validFrom),
            in: space
        )
        let zone = input.zoneId ?? Fish.everywhere
        try Fish.checkZone(zone, field: "zoneId", in: space)
        let season = try Season(months: input.months, field: "months")
        return Outcome(Fish.SeasonSet.Result()).recording(
            Fish.Recorded.SeasonSet(
                speciesId: input.speciesId,
                zoneId: zone,
                seasonMask: Int64(season.mask),
                validFrom: input.validFrom
            )
        )
    }

    static func define(
        _ input: Fish.ZoneDefine,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.ZoneDefine.Result> {
        Outcome(Fish.ZoneDefine.Result()).recording(
            Fish.Recorded.ZoneDefined(
                zoneId: input.zoneId,
                nameIt: input.nameIt,
                nameEn: input.nameEn
            )
        )
    }

    static func define(
        _ input: Fish.ReferenceDefine,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.ReferenceDefine.Result> {
        let isDisc = input.shape == .disc
        guard (input.diameterUm != nil) == isDisc, (input.widthUm == nil) == isDisc,
            (input.heightUm == nil) == isDisc
        else { throw Fish.Rule.referenceSize("shape", input.shape.rawValue) }
        return Outcome(Fish.ReferenceDefine.Result()).recording(
            Fish.Recorded.ReferenceDefined(
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
        _ input: Fish.PlaceDefine,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.PlaceDefine.Result> {
        if let parent = input.parentId {
            guard let row = space.places(placeId: parent).first else {
                throw Fish.unknownPlace("parentId", parent, in: space)
            }
            guard row.parentId == nil else {
                throw Fish.Rule.parent("parentId", parent)
            }
        }
        return Outcome(Fish.PlaceDefine.Result()).recording(
            Fish.Recorded.PlaceDefined(
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
        _ input: Fish.PlaceRetire,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.PlaceRetire.Result> {
        guard let row = space.places(placeId: input.placeId).first else {
            throw Fish.unknownPlace("placeId", input.placeId, in: space)
        }
        guard !row.isRetired else {
            throw Fish.Rule.retired("placeId", input.placeId)
        }
        return Outcome(Fish.PlaceRetire.Result()).recording(
            Fish.Recorded.PlaceRetired(placeId: input.placeId, reason: input.reason)
        )
    }
}
