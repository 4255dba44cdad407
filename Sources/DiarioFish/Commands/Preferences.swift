import DiarioSchema

extension Fish {
    /// What the user of a call prefers; a choice that there is no more counts for nothing.
    struct Preferences {
        private let rows: [Rows.Preferences]
        private let space: any CommandSpace

        init(in space: any CommandSpace) {
            rows = space.actor.map { space.preferences(user: $0) } ?? []
            self.space = space
        }

        private func value(_ key: PreferenceKey) -> String? {
            rows.first { $0.key == key }?.value
        }

        var language: Language? {
            value(.language).flatMap { languages.contains($0) ? Language(tag: $0) : nil }
        }

        var gate: Gate? { value(.gate).flatMap { Gate(rawValue: $0) } }
        var reference: String? { known(.reference) }
        var zone: String? { known(.zone) }
        var place: String? { known(.place) }

        private func known(_ key: PreferenceKey) -> String? {
            value(key).flatMap { Preferences.values(of: key, in: space).contains($0) ? $0 : nil }
        }

        /// The values that a preference may have.
        static func values(of key: PreferenceKey, in space: any CommandSpace) -> [String] {
            switch key {
            case .language: languages
            case .gate: Gate.allCases.map { $0.rawValue }
            case .reference: space.references().map { $0.referenceId }
            case .zone: space.zones().map { $0.zoneId }
            case .place:
                // Those that a report may name.
                space.places().filter { $0.isLeaf && $0.parentId != nil }.map { $0.placeId }
            }
        }
    }
}

enum PreferenceRules {
    static func set(
        _ input: Fish.PreferenceSet,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.PreferenceSet.Result> {
        if let value = input.value {
            let values = Fish.Preferences.values(of: input.key, in: space)
            guard values.contains(value) else {
                throw Fish.Rule.preference("value", value, values: Fish.list(values))
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
        let guides = space.guide().map { $0.guideId }
        guard guides.contains(input.guideId) else {
            throw Fish.Rule.unknownGuide("guideId", input.guideId, values: Fish.list(guides))
        }
        return Outcome(Fish.GuideDismiss.Result()).recording(
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
