import DiarioCore
import DiarioSchema

// The steps from a fish to its photo and coin: schema/fish/README.md.

enum AssessmentRules {
    static func start(
        _ input: Fish.AssessmentStart,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.AssessmentStart.Result> {
        let day = try Fish.notInFuture(
            input.startedOn ?? Fish.today(space),
            field: "startedOn",
            space
        )
        let known = try Fish.species(input.speciesId, on: day, in: space)
        guard !known.isRetired else { throw FishRule.retired.broken("speciesId", input.speciesId) }
        return Outcome(Fish.AssessmentStart.Result()).recording(
            Fish.Recorded.AssessmentStarted(
                assessmentId: input.assessmentId,
                speciesId: input.speciesId,
                startedOn: day,
                timeZone: input.timeZone,
                note: input.note
            )
        )
    }

    static func change(
        _ input: Fish.SpeciesChange,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.SpeciesChange.Result> {
        let assessment = try Fish.OpenAssessment(input.assessmentId, in: space)
        let day = assessment.day ?? Fish.today(space)
        let known = try Fish.species(input.speciesId, on: day, in: space)
        guard !known.isRetired else { throw FishRule.retired.broken("speciesId", input.speciesId) }
        return Outcome(Fish.SpeciesChange.Result()).recording(
            Fish.Recorded.AssessmentSpeciesChanged(
                assessmentId: input.assessmentId,
                speciesId: input.speciesId
            )
        )
    }

    static func abandon(
        _ input: Fish.AssessmentAbandon,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.AssessmentAbandon.Result> {
        let assessment = try Fish.OpenAssessment(input.assessmentId, in: space)
        let next = assessment.row.text("nextStep") ?? "photo"
        let step: Fish.Recorded.AssessmentAbandoned.Step =
            switch next {
            case "length": .verdict
            case "report": .details
            default: Fish.Recorded.AssessmentAbandoned.Step(rawValue: next) ?? .photo
            }
        return Outcome(Fish.AssessmentAbandon.Result()).recording(
            Fish.Recorded.AssessmentAbandoned(
                assessmentId: input.assessmentId,
                step: step,
                reason: input.reason
            )
        )
    }

    static func block(
        _ input: Fish.CaptureBlock,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.CaptureBlock.Result> {
        _ = try Fish.OpenAssessment(input.assessmentId, in: space)
        let isUnknown = input.gravityMicroG == nil
        return Outcome(Fish.CaptureBlock.Result(gateResult: isUnknown ? .unknown : .out)).recording(
            Fish.Recorded.CaptureBlocked(
                assessmentId: input.assessmentId,
                gate: input.gate,
                gravityMicroG: input.gravityMicroG
            )
        )
    }

    // MARK: The photo

    static func capture(
        _ input: Fish.PhotoCapture,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.PhotoCapture.Result> {
        _ = try Fish.OpenAssessment(input.assessmentId, in: space)
        let given = input.takenOn ?? input.takenAt.map { Fish.day(at: $0) } ?? Fish.today(space)
        let taken = try Fish.notInFuture(given, field: "takenOn", space)
        let gate = input.gate ?? .standard
        let result = gate.result(zMicroG: Gravity(input.gravityMicroG)?.z)
        return Outcome(Fish.PhotoCapture.Result()).recording(
            Fish.Recorded.PhotoCaptured(
                assessmentId: input.assessmentId,
                photoId: input.photoId,
                imageId: input.imageId,
                imageSize: input.imageSize,
                imageType: input.imageType.flatMap { .init(rawValue: $0.rawValue) },
                imageKey: input.imageKey,
                widthPx: input.widthPx,
                heightPx: input.heightPx,
                takenOn: taken,
                takenAt: input.takenAt,
                gravityMicroG: input.gravityMicroG,
                focalMpx: input.focalMpx,
                focalSource: input.focalSource,
                principal: input.principal,
                gate: Fish.Gate(rawValue: gate.rawValue),
                gateResult: Fish.GateResult(rawValue: result.rawValue) ?? .unknown
            )
        )
    }

    static func discard(
        _ input: Fish.PhotoDiscard,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.PhotoDiscard.Result> {
        let assessment = try Fish.OpenAssessment(input.assessmentId, in: space)
        guard let photo = assessment.photoID else {
            throw FishRule.noPhoto.broken("assessmentId", input.assessmentId)
        }
        let kept = space.rows("photos", ["assessmentId": .text(input.assessmentId)])
        let wanted = input.photoId ?? photo
        guard kept.contains(where: { $0.text("photoId") == wanted }) else {
            throw FishRule.otherPhoto.broken("photoId", wanted)
        }
        return Outcome(Fish.PhotoDiscard.Result()).recording(
            Fish.Recorded.PhotoDiscarded(
                assessmentId: input.assessmentId,
                photoId: wanted,
                reason: input.reason
            )
        )
    }

    static func select(
        _ input: Fish.ReferenceSelect,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.ReferenceSelect.Result> {
        _ = try Fish.OpenAssessment(input.assessmentId, in: space)
        _ = try Fish.reference(input.referenceId, field: "referenceId", in: space)
        return Outcome(Fish.ReferenceSelect.Result()).recording(
            Fish.Recorded.ReferenceSelected(
                assessmentId: input.assessmentId,
                referenceId: input.referenceId
            )
        )
    }
}
