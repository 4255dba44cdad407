import DiarioCore
import DiarioSchema

enum ReportRules {
    static func set(
        _ input: Fish.DetailSet,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.DetailSet.Result> {
        let assessment = try Fish.OpenAssessment(input.assessmentId, in: space)
        guard assessment.row.text("sizeResult") != nil else {
            throw FishRule.noVerdict.broken("assessmentId", input.assessmentId)
        }
        switch input.field {
        case .origin:
            guard Fish.Origin(rawValue: input.value) != nil else {
                throw FishRule.detailValue.broken("value", input.value)
            }
        case .production:
            guard Fish.Production(rawValue: input.value) != nil else {
                throw FishRule.detailValue.broken("value", input.value)
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
        guard let length = row.integer("verdictLengthUm"), let day = assessment.day,
            let size = row.text("sizeResult").flatMap({ Fish.RecordedSizeResult(rawValue: $0) }),
            let date = row.text("dateResult").flatMap({ Fish.DateResult(rawValue: $0) }),
            let kind = row.text("minSizeKind").flatMap({ Fish.RecordedMinSizeKind(rawValue: $0) }
            )
        else { throw FishRule.noVerdict.broken("assessmentId", input.assessmentId) }
        if let what = row.text("verdictOutdatedBy") {
            throw FishRule.verdictOutdated.broken("assessmentId", what)
        }
        let origin = input.origin ?? row.text("origin").flatMap { Fish.Origin(rawValue: $0) }
        let production =
            input.production ?? row.text("production").flatMap { Fish.Production(rawValue: $0) }
        guard let origin else { throw FishRule.details.broken("origin") }
        guard let production else { throw FishRule.details.broken("production") }
        guard let place = input.placeId ?? row.text("placeId") else {
            throw FishRule.details.broken("placeId")
        }
        try Fish.checkPlace(place, field: "placeId", in: space)
        try checkPurchase(input.boughtOn, input.boughtPlaceId, before: day, in: space)
        let applicability = Fish.Applicability(origin: origin, production: production)
        return Outcome(Fish.ReportFile.Result()).recording(
            Fish.Recorded.ReportFiled(
                reportId: input.reportId,
                assessmentId: input.assessmentId,
                speciesId: row.text("verdictSpeciesId") ?? assessment.speciesID,
                placeId: place,
                observedOn: day,
                lengthUm: length,
                sigmaUm: row.integer("verdictSigmaUm"),
                method: Fish.ReportMethod(rawValue: row.text("method") ?? "") ?? .unknown,
                referenceId: row.text("measuredReferenceId"),
                minSizeUm: row.integer("minSizeUm"),
                minSizeKind: kind,
                seasonMask: row.integer("seasonMask"),
                zoneId: row.text("zoneId"),
                sizeResult: size,
                isBorderline: row.isTrue("isBorderline"),
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

    private static func checkPurchase(
        _ day: CivilDay?,
        _ place: String?,
        before judged: CivilDay,
        in space: any CommandSpace
    ) throws(BrokenRule) {
        if let day, day > judged { throw FishRule.dayOrder.broken("boughtOn", day.text) }
        guard let place else { return }
        // People may not know more than the town.
        guard space.row("places", ["placeId": .text(place)]) != nil else {
            throw FishRule.unknownPlace.broken("boughtPlaceId", place)
        }
    }

    // MARK: Later

    /// A report that is not withdrawn.
    private static func report(
        _ id: String,
        in space: any CommandSpace
    ) throws(BrokenRule) -> CommandRow {
        guard let row = space.row("report", ["reportId": .text(id)]) else {
            throw FishRule.unknownReport.broken("reportId", id)
        }
        guard !row.isTrue("isWithdrawn") else { throw FishRule.withdrawn.broken("reportId", id) }
        return row
    }

    static func amend(
        _ input: Fish.ReportAmend,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.ReportAmend.Result> {
        let row = try report(input.reportId, in: space)
        guard Fish.isOwn(row.text("actor"), space) else {
            throw FishRule.otherPerson.broken("reportId", input.reportId)
        }
        var changes = input
        changes.reason = nil
        guard changes != Fish.ReportAmend(reportId: input.reportId) else {
            throw FishRule.nothingGiven.broken("reportId", input.reportId)
        }
        guard let day = input.observedOn ?? row.day("observedOn"),
            let length = input.lengthUm ?? row.integer("lengthUm"),
            let speciesID = input.speciesId ?? row.text("speciesId")
        else { throw FishRule.unknownReport.broken("reportId", input.reportId) }
        _ = try Fish.notInFuture(day, field: "observedOn", space)
        if let place = input.placeId { try Fish.checkPlace(place, field: "placeId", in: space) }
        try checkPurchase(input.boughtOn, input.boughtPlaceId, before: day, in: space)
        // A length that is typed has no uncertainty that is known.
        let sigma = input.lengthUm == nil ? row.integer("sigmaUm") : nil
        let judged = try Fish.Judgement(
            speciesID: speciesID,
            lengthUm: length,
            sigmaUm: sigma,
            on: day,
            zone: row.text("zoneId") ?? Fish.everywhere,
            origin: input.origin?.rawValue ?? row.text("origin"),
            production: input.production?.rawValue ?? row.text("production"),
            in: space
        )
        return Outcome(Fish.ReportAmend.Result()).recording(
            Fish.Recorded.ReportAmended(
                reportId: input.reportId,
                speciesId: input.speciesId,
                placeId: input.placeId,
                observedOn: input.observedOn,
                lengthUm: input.lengthUm,
                sigmaUm: input.lengthUm == nil ? nil : sigma,
                minSizeUm: judged.rule.minimum.lengthUm,
                minSizeKind: judged.minSizeKind,
                seasonMask: Int64(judged.rule.season.mask),
                zoneId: row.text("zoneId") ?? Fish.everywhere,
                sizeResult: judged.sizeResult,
                isBorderline: judged.verdict.isBorderline,
                dateResult: judged.dateResult,
                applicability: judged.applicability,
                origin: input.origin,
                production: input.production,
                boughtOn: input.boughtOn,
                boughtPlaceId: input.boughtPlaceId,
                reason: input.reason
            )
        )
    }

    static func withdraw(
        _ input: Fish.ReportWithdraw,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.ReportWithdraw.Result> {
        let row = try report(input.reportId, in: space)
        guard Fish.isOwn(row.text("actor"), space) else {
            throw FishRule.otherPerson.broken("reportId", input.reportId)
        }
        return Outcome(Fish.ReportWithdraw.Result()).recording(
            Fish.Recorded.ReportWithdrawn(reportId: input.reportId, reason: input.reason)
        )
    }

    static func review(
        _ input: Fish.ReportReview,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.ReportReview.Result> {
        let row = try report(input.reportId, in: space)
        guard row.text("actor") == Fish.nobody || row.text("actor") != space.actor else {
            throw FishRule.ownReport.broken("reportId", input.reportId)
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
