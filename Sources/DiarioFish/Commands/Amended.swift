import DiarioCore
import DiarioSchema

/// What the answers of a report are after an amendment, as the read model computes them.
struct Amended {
    private let row: Fish.Rows.Report
    private let input: Fish.ReportAmend
    private let minimum: MinimumSize?
    private let date: Fish.DateResult
    private let day: CivilDay
    /// The species, if it or the day was amended.
    private let species: Fish.CatalogueEntry?

    init(
        _ row: Fish.Rows.Report,
        _ input: Fish.ReportAmend,
        on day: CivilDay,
        in space: any CommandSpace
    ) throws(BrokenRule) {
        (self.row, self.input, self.day) = (row, input, day)
        guard input.speciesId == nil, input.observedOn == nil else {
            let species = input.speciesId ?? row.speciesId
            let zone = row.zoneId ?? Fish.everywhere
            let entry = try Fish.species(species, on: day, zone: zone, in: space)
            guard let month = Month(day.month) else { preconditionFailure("a day has a month") }
            (minimum, date) = (entry.rule.minimum, entry.rule.season.result(in: month))
            self.species = entry
            return
        }
        species = nil
        minimum = MinimumSize(kind: row.minSizeKind.rawValue, lengthUm: row.minSizeUm)
        date = input.lengthUm == nil ? row.dateResult : row.dateFollowing ?? row.dateResult
    }

    /// True if the read model computes the answer about the size again.
    private var isJudgedAgain: Bool {
        input.speciesId != nil || input.observedOn != nil || input.lengthUm != nil
    }

    private var length: Int64 { input.lengthUm ?? row.lengthUm }

    var result: Fish.ReportAmend.Result {
        let sigma = input.lengthUm == nil ? row.sigmaUm : nil
        let size = minimum.flatMap {
            Fish.SizeResult(rawValue: $0.result(lengthUm: length).rawValue)
        }
        return Fish.ReportAmend.Result(
            sizeResult: isJudgedAgain ? size : Fish.SizeResult(rawValue: row.sizeResult.rawValue),
            isBorderline: isJudgedAgain
                ? minimum?.isBorderline(lengthUm: length, sigmaUm: sigma) ?? false
                : row.isBorderline,
            dateResult: date,
            applicability: applicability,
            minSizeUm: minimum?.lengthUm,
            minSizeKind: minimum.flatMap { Fish.MinSizeKind(rawValue: $0.kind) }
        )
    }

    private var applicability: Fish.Applicability {
        guard input.origin != nil || input.production != nil else { return row.applicability }
        return Fish.Applicability(
            origin: input.origin ?? Fish.Origin(rawValue: row.origin.rawValue) ?? .mediterranean,
            production: input.production ?? row.production
        )
    }

    /// What the report says now, in sentences.
    func text(of result: Fish.ReportAmend.Result, in space: any CommandSpace) -> [String] {
        let say = Fish.Speech(space.language)
        let place = input.placeId ?? row.placeId
        let town = input.placeId == nil ? row.place : space.places(placeId: place).first?.name
        let italian = species?.nameIt ?? row.nameIt ?? row.speciesId
        let english = species.map { $0.nameEn } ?? row.nameEn
        var lines = [
            say(
                Fish.Words.corrected(
                    species: say.name(it: italian, en: english),
                    length: say.length(length),
                    place: town ?? place,
                    day: day.text
                )
            ),
            size(result.sizeResult, say),
        ]
        if result.isBorderline == true { lines.append(say.borderline(row.method)) }
        lines.append(say(date == .inSeason ? Fish.Words.wasInSeason : Fish.Words.wasClosed))
        lines += say.reach(applicability)
        if row.photoId != nil, let isShown = input.consentPhoto {
            lines.append(say(isShown ? Fish.Words.photoShown : Fish.Words.photoStays))
        }
        return lines
    }

    /// Old reports do not say by which minimum they were judged, or say what does not follow.
    private func size(_ size: Fish.SizeResult?, _ say: Fish.Speech) -> String {
        guard let size else { return say(Fish.Words.sizeUnknown) }
        guard let minimum, minimum.result(lengthUm: length).rawValue == size.rawValue else {
            let stored = Fish.RecordedSizeResult(size)
            return say(Fish.Words.sizeStored(answer: say(stored.texts)))
        }
        return say.size(lengthUm: length, minimum)
    }
}
