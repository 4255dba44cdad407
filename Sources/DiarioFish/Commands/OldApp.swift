import DiarioCore
import DiarioSchema

// The old interface: schema/fish/README.md.

enum OldAppRules {
    /// The species in the form of the old app, those of a month alone if one is named.
    static func species(
        _ input: Fish.OldSpecies,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Fish.OldSpecies.Result {
        var month: Month?
        if let text = input.month {
            month = Month(named: text)
            guard month != nil else { throw Fish.Rule.month("month", text) }
        }
        let unit = unit(input.unit)
        var list: [Fish.OldSpeciesRow] = []
        for row in space.species(day: Fish.today(space)) {
            let mask = row.seasonMask.map { Int(clamping: $0) }
            guard let season = mask.flatMap({ Season(mask: $0) }) else { continue }
            if let month, season.isClosed(in: month) { continue }
            list.append(
                Fish.OldSpeciesRow(
                    id: row.ordinal.map { "\($0)" } ?? row.speciesId,
                    commName: row.nameIt,
                    sciName: row.nameSci ?? "",
                    minSize: row.minSizeUm.map { unit.text(um: $0) } ?? "0",
                    reproduction: Month.all.filter { season.isClosed(in: $0) }
                        .map { $0.italianName }.joined(separator: ", ")
                )
            )
        }
        return Fish.OldSpecies.Result(species: list)
    }

    /// Takes a report of the old app, which is of the day on which it comes.
    ///
    /// The same again within ten minutes is the same report: people tap twice.
    static func receive(
        _ input: Fish.OldReceive,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.OldReceive.Result> {
        let day = Fish.today(space)
        var catalogue = OldCatalogue(space)
        let id = try catalogue.species(input.idFish, input.fishName, on: day)
        let length = try OldText.length(input.detectedSize, in: unit(input.unit))
        let size = try OldText.truth(input.eligibilitySize, "eligibilitySize")
        let date = try OldText.truth(input.eligibilityDate, "eligibilityDate")
        let origin = try OldText.origin(input.origin)
        let production = try OldText.production(input.production)
        let place = try catalogue.place(input.townReport)
        let judged = try Fish.Judgement(
            speciesID: id,
            lengthUm: length,
            sigmaUm: nil,
            on: day,
            zone: Fish.everywhere,
            origin: origin.rawValue,
            production: production.rawValue,
            in: space
        )
        guard judged.verdict.eligibilitySize == size else {
            throw Fish.Rule.answers("eligibilitySize", input.eligibilitySize)
        }
        guard judged.verdict.eligibilityDate == date else {
            throw Fish.Rule.answers("eligibilityDate", input.eligibilityDate)
        }
        let since = Fish.now(space) - repeatedMilliseconds
        let same = space.oldAppReports(since: since).first { row in
            row.speciesId == id && row.placeId == place && row.lengthUm == length
                && row.origin == .init(origin) && row.production == production
        }
        if let same { return Outcome(Fish.OldReceive.Result(reportId: same.reportId)) }
        return Outcome(Fish.OldReceive.Result()).recording(
            Fish.Recorded.ReportFiled(
                speciesId: id,
                placeId: place,
                observedOn: day,
                lengthUm: length,
                method: .unknown,
                minSizeUm: judged.rule.minimum.lengthUm,
                minSizeKind: .init(judged.minSizeKind),
                seasonMask: Int64(judged.rule.season.mask),
                zoneId: Fish.everywhere,
                sizeResult: .init(judged.sizeResult),
                isBorderline: false,
                dateResult: judged.dateResult,
                applicability: judged.applicability,
                origin: .init(origin),
                production: production,
                source: .legacyHttp
            )
        )
    }

    private static let repeatedMilliseconds: Int64 = 10 * 60 * 1000

    /// The unit of lengths that are written without one.
    static func unit(_ unit: Fish.Unit?) -> Fish.Unit {
        unit ?? .mm
    }
}
