import DiarioCore
import DiarioSchema

enum ReportRules {
    static func set(
        _ input: Fish.DetailSet,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.DetailSet.Result> {
        let assessment = try Fish.OpenAssessment(input.assessmentId, in: space)
        guard assessment.row.sizeResult != nil else {
            throw Fish.Rule.noVerdict("assessmentId", input.assessmentId)
        }
        switch input.field {
        case .origin:
            guard Fish.Origin(rawValue: input.value) != nil else {
                throw Fish.Rule.detailValue("value", input.value)
            }
        case .production:
            guard Fish.Production(rawValue: input.value) != nil else {
                throw Fish.Rule.detailValue("value", input.value)
            }
        case .place: try Fish.checkPlace(input.value, field: "value", in: space)
        }
        return Outcome(Fish.DetailSet.Result()).recording(
            Fish.Recorded.ReportDetailSet(
                assessmentId: input.assessmentId,
                field: input.field,
                value: input.value
            )
        )
    }

    static func file(
        _ input: Fish.ReportFile,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.ReportFile.Result> {
        let assessment = try Fish.OpenAssessment(input.assessmentId, in: space)
        let row = assessment.row
        let day = assessment.day
        guard let length = row.verdictLengthUm, let size = row.sizeResult,
            let date = row.dateResult, let kind = row.minSizeKind
        else { throw Fish.Rule.noVerdict("assessmentId", input.assessmentId) }
        if let what = row.verdictOutdatedBy {
            throw Fish.Rule.verdictOutdated("assessmentId", what)
        }
        let origin = input.origin ?? row.origin.flatMap { Fish.Origin(rawValue: $0) }
        let production =
            input.production ?? row.production.flatMap { Fish.Production(rawValue: $0) }
        guard let origin else { throw Fish.Rule.details("origin") }
        guard let production else { throw Fish.Rule.details("production") }
        guard
            let place = input.placeId ?? row.placeId ?? Fish.Preferences(in: space).place
        else {
            throw Fish.Rule.details("placeId")
        }
        try Fish.checkPlace(place, field: "placeId", in: space)
        try checkPurchase(input.boughtOn, input.boughtPlaceId, before: day, in: space)
        if input.consentPhoto == true, row.imageId == nil {
            throw Fish.Rule.noPicture("consentPhoto")
        }
        let applicability = Fish.Applicability(origin: origin, production: production)
        let text = filed(row, length, place, day, input.consentPhoto == true, in: space)
        return Outcome(Fish.ReportFile.Result(text: text)).recording(
            Fish.Recorded.ReportFiled(
                reportId: input.reportId,
                assessmentId: input.assessmentId,
                speciesId: row.verdictSpeciesId ?? assessment.speciesID,
                placeId: place,
                observedOn: day,
                lengthUm: length,
                sigmaUm: row.verdictSigmaUm,
                method: row.method ?? .unknown,
                referenceId: row.measuredReferenceId,
                minSizeUm: row.minSizeUm,
                minSizeKind: kind,
                seasonMask: row.seasonMask,
                zoneId: row.zoneId,
                sizeResult: size,
                isBorderline: row.isBorderline ?? false,
                dateResult: date,
                applicability: applicability,
                origin: .init(origin),
                production: production,
                source: .app,
                boughtOn: input.boughtOn,
                boughtPlaceId: input.boughtPlaceId,
                photoId: assessment.photoID,
                consentPhoto: input.consentPhoto,
                note: input.note,
                latE7: input.latE7,
                lonE7: input.lonE7
            )
        )
    }

    /// What is filed, in sentences.
    private static func filed(
        _ row: Fish.Rows.Assessment,
        _ lengthUm: Int64,
        _ place: String,
        _ day: CivilDay,
        _ isShown: Bool,
        in space: any CommandSpace
    ) -> [String] {
        let say = Fish.Speech(space.language)
        let id = row.verdictSpeciesId ?? row.speciesId
        let species = space.species(speciesId: id, day: day).first
        let town = space.places(placeId: place).first
        var lines = [
            say(
                Fish.Words.filed(
                    species: species.map { say.name(it: $0.nameIt, en: $0.nameEn) } ?? id,
                    length: say.length(lengthUm),
                    place: town?.name ?? place,
                    day: day.text
                )
            )
        ]
        if row.imageId != nil {
            lines.append(say(isShown ? Fish.Words.photoShown : Fish.Words.photoStays))
        }
        return lines
    }

    private static func checkPurchase(
        _ day: CivilDay?,
        _ place: String?,
        before judged: CivilDay,
        in space: any CommandSpace
    ) throws(BrokenRule) {
        if let day { _ = try Fish.credible(day, field: "boughtOn", space) }
        if let day, day > judged { throw Fish.Rule.dayOrder("boughtOn", day.text) }
        guard let place else { return }
        // People may not know more than the town.
        guard !space.places(placeId: place).isEmpty else {
            throw Fish.unknownPlace("boughtPlaceId", place, in: space)
        }
    }

    // MARK: Later

    /// A report that is not withdrawn.
    private static func report(
        _ id: String,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Fish.Rows.Report {
        guard let row = space.report(reportId: id).first else {
            throw Fish.Rule.unknownReport("reportId", id)
        }
        guard !row.isWithdrawn else { throw Fish.Rule.withdrawn("reportId", id) }
        return row
    }

    static func amend(
        _ input: Fish.ReportAmend,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.ReportAmend.Result> {
        let row = try report(input.reportId, in: space)
        guard Fish.isOwn(row.actor, space) else {
            throw Fish.Rule.otherPerson("reportId", input.reportId)
        }
        var changes = input
        changes.reason = nil
        guard changes != Fish.ReportAmend(reportId: input.reportId) else {
            throw Fish.Rule.nothingGiven("reportId", input.reportId)
        }
        let day = input.observedOn ?? row.observedOn
        if input.observedOn != nil { _ = try Fish.credible(day, field: "observedOn", space) }
        if let place = input.placeId { try Fish.checkPlace(place, field: "placeId", in: space) }
        try checkPurchase(input.boughtOn, input.boughtPlaceId, before: day, in: space)
        if input.consentPhoto == true { try checkPicture(of: row, in: space) }
        let amended = try Amended(row, input, on: day, in: space)
        var result = amended.result
        result.text = amended.text(of: result, in: space)
        return Outcome(result).recording(
            Fish.Recorded.ReportAmended(
                reportId: input.reportId,
                speciesId: input.speciesId,
                placeId: input.placeId,
                observedOn: input.observedOn,
                lengthUm: input.lengthUm,
                method: input.lengthUm == nil ? nil : .ruler,
                origin: input.origin,
                production: input.production,
                boughtOn: input.boughtOn,
                boughtPlaceId: input.boughtPlaceId,
                consentPhoto: input.consentPhoto,
                reason: input.reason
            )
        )
    }

    /// Refuses a consent for a picture that is not there.
    private static func checkPicture(
        of row: Fish.Rows.Report,
        in space: any CommandSpace
    ) throws(BrokenRule) {
        let photos = row.assessmentId.map { space.photos(assessmentId: $0) } ?? []
        let picture = photos.first { $0.photoId == row.photoId && $0.imageId != nil }
        guard picture == nil else { return }
        throw Fish.Rule.noPicture("consentPhoto")
    }

    static func withdraw(
        _ input: Fish.ReportWithdraw,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.ReportWithdraw.Result> {
        let row = try report(input.reportId, in: space)
        guard Fish.isOwn(row.actor, space) else {
            throw Fish.Rule.otherPerson("reportId", input.reportId)
        }
        return Outcome(Fish.ReportWithdraw.Result()).recording(
            Fish.Recorded.ReportWithdrawn(reportId: input.reportId, reason: input.reason)
        )
    }

    static func restore(
        _ input: Fish.ReportRestore,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.ReportRestore.Result> {
        guard let row = space.report(reportId: input.reportId).first else {
            throw Fish.Rule.unknownReport("reportId", input.reportId)
        }
        guard Fish.isOwn(row.actor, space) else {
            throw Fish.Rule.otherPerson("reportId", input.reportId)
        }
        guard row.isWithdrawn else { throw Fish.Rule.notWithdrawn("reportId", input.reportId) }
        return Outcome(Fish.ReportRestore.Result()).recording(
            Fish.Recorded.ReportRestored(reportId: input.reportId, reason: input.reason)
        )
    }

    static func review(
        _ input: Fish.ReportReview,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.ReportReview.Result> {
        let row = try report(input.reportId, in: space)
        guard row.actor == Fish.nobody || row.actor != space.actor else {
            throw Fish.Rule.ownReport("reportId", input.reportId)
        }
        return Outcome(Fish.ReportReview.Result()).recording(
            Fish.Recorded.ReportReviewed(
                reportId: input.reportId,
                outcome: input.outcome,
                remeasuredUm: input.remeasuredUm,
                note: input.note
            )
        )
    }
}
