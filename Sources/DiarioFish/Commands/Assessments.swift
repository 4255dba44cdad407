import DiarioCore
import DiarioSchema

// The steps from a fish to its photo and coin: schema/fish/README.md.

enum AssessmentRules {
    static func start(
        _ input: Fish.AssessmentStart,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.AssessmentStart.Result> {
        let day = try Fish.credible(
            input.startedOn ?? Fish.today(space),
            field: "startedOn",
            space
        )
        let known = try Fish.species(input.speciesId, on: day, in: space)
        guard !known.isRetired else { throw Fish.Rule.retired("speciesId", input.speciesId) }
        let outcome = Outcome(Fish.AssessmentStart.Result()).recording(
            Fish.Recorded.AssessmentStarted(
                assessmentId: input.assessmentId,
                speciesId: input.speciesId,
                startedOn: day,
                timeZone: input.timeZone,
                note: input.note
            )
        )
        guard let reference = Fish.Preferences(in: space).reference else { return outcome }
        return outcome.recording(
            Fish.Recorded.ReferenceSelected(
                assessmentId: input.assessmentId ?? "#1",
                referenceId: reference
            )
        )
    }

    static func change(
        _ input: Fish.SpeciesChange,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.SpeciesChange.Result> {
        let assessment = try Fish.OpenAssessment(input.assessmentId, in: space)
        let known = try Fish.species(input.speciesId, on: assessment.day, in: space)
        guard !known.isRetired else { throw Fish.Rule.retired("speciesId", input.speciesId) }
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
        let step: Fish.Recorded.AssessmentAbandoned.Step =
            switch assessment.row.nextStep {
            case .photo, nil: .photo
            case .reference: .reference
            case .marks: .marks
            case .length, .verdict: .verdict
            case .details, .report: .details
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
        let taken = try Fish.credible(given, field: "takenOn", space)
        guard taken <= Fish.today(space) else { throw Fish.Rule.future("takenOn", taken.text) }
        let gate = input.gate ?? Fish.Preferences(in: space).gate ?? .standard
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
            throw Fish.Rule.noPhoto("assessmentId", input.assessmentId)
        }
        let kept = space.photos(assessmentId: input.assessmentId)
        let wanted = input.photoId ?? photo
        guard kept.contains(where: { $0.photoId == wanted }) else {
            throw Fish.Rule.otherPhoto("photoId", wanted)
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
        guard let reference = input.referenceId ?? Fish.Preferences(in: space).reference else {
            let values = Fish.Preferences.values(of: .reference, in: space)
            throw Fish.Rule.whichReference("referenceId", values: Fish.list(values))
        }
        _ = try Fish.reference(reference, field: "referenceId", in: space)
        return Outcome(Fish.ReferenceSelect.Result()).recording(
            Fish.Recorded.ReferenceSelected(
                assessmentId: input.assessmentId,
                referenceId: reference
            )
        )
    }
}
