import DiarioSchema

enum PreferenceRules {
    static func set(
        _ input: Fish.PreferenceSet,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.PreferenceSet.Result> {
        if let value = input.value {
            switch input.key {
            case .language:
                guard Language(rawValue: value) != nil else {
                    throw FishRule.preference.broken("value", value)
                }
            case .gate:
                guard Fish.Gate(rawValue: value) != nil else {
                    throw FishRule.preference.broken("value", value)
                }
            case .place: try Fish.checkPlace(value, field: "value", in: space)
            case .reference: _ = try Fish.reference(value, field: "value", in: space)
            }
        }
        return Outcome(Fish.PreferenceSet.Result()).recording(
            Fish.Recorded.PreferenceSet(key: input.key, value: input.value)
        )
    }

    static func dismiss(
        _ input: Fish.GuideDismiss,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.GuideDismiss.Result> {
        Outcome(Fish.GuideDismiss.Result()).recording(
            Fish.Recorded.GuideDismissed(guideId: input.guideId, version: input.version)
        )
    }

    /// Notes how far a proposal was from what the user made of it.
    static func correct(
        _ input: Fish.DetectionCorrect,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.DetectionCorrect.Result> {
        let assessment = try Fish.OpenAssessment(input.assessmentId, in: space)
        let overlap = input.proposed.overlapMilli(with: input.final)
        return Outcome(Fish.DetectionCorrect.Result(overlapMilli: overlap)).recording(
            Fish.Recorded.DetectionCorrected(
                assessmentId: input.assessmentId,
                photoId: assessment.photoID,
                target: input.target,
                proposed: input.proposed,
                final: input.final,
                overlapMilli: overlap
            )
        )
    }
}
