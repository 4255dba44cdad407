public import DiarioSchema

extension Fish {
    /// Its commands and views.
    public static let domain = Domain(
        "fish",
        language: { Preferences(in: $0).language },
        [
            .command { (input: AssessmentStart, space) throws(BrokenRule) in
                try AssessmentRules.start(input, in: space)
            },
            .command { (input: SpeciesChange, space) throws(BrokenRule) in
                try AssessmentRules.change(input, in: space)
            },
            .command { (input: AssessmentAbandon, space) throws(BrokenRule) in
                try AssessmentRules.abandon(input, in: space)
            },
            .command { (input: CaptureBlock, space) throws(BrokenRule) in
                try AssessmentRules.block(input, in: space)
            },
            .command { (input: PhotoCapture, space) throws(BrokenRule) in
                try AssessmentRules.capture(input, in: space)
            },
            .command { (input: PhotoDiscard, space) throws(BrokenRule) in
                try AssessmentRules.discard(input, in: space)
            },
            .command { (input: ReferenceSelect, space) throws(BrokenRule) in
                try AssessmentRules.select(input, in: space)
            },
            .command { (input: MarksPlace, space) throws(BrokenRule) in
                try MarkRules.place(input, in: space)
            },
            .command { (input: MarksNudge, space) throws(BrokenRule) in
                try MarkRules.nudge(input, in: space)
            },
            .command { (input: MarksClear, space) throws(BrokenRule) in
                try MarkRules.clear(input, in: space)
            },
            .view { (input: CornerDrag, _) throws(BrokenRule) in try MarkRules.drag(input) },
            .view { (input: WouldChange, space) throws(BrokenRule) in
                try CuratorRules.wouldChange(input, in: space)
            },
            .command { (input: DetectionCorrect, space) throws(BrokenRule) in
                try PreferenceRules.correct(input, in: space)
            },
            .command { (input: LengthMeasure, space) throws(BrokenRule) in
                try LengthRules.measure(input, in: space)
            },
            .command { (input: LengthEnter, space) throws(BrokenRule) in
                try LengthRules.enter(input, in: space)
            },
            .command { (input: VerdictIssue, space) throws(BrokenRule) in
                try issue(input, in: space)
            },
            .command { (input: DetailSet, space) throws(BrokenRule) in
                try ReportRules.set(input, in: space)
            },
            .command { (input: ReportFile, space) throws(BrokenRule) in
                try ReportRules.file(input, in: space)
            },
            .command { (input: ReportAmend, space) throws(BrokenRule) in
                try ReportRules.amend(input, in: space)
            },
            .command { (input: ReportWithdraw, space) throws(BrokenRule) in
                try ReportRules.withdraw(input, in: space)
            },
            .command { (input: ReportRestore, space) throws(BrokenRule) in
                try ReportRules.restore(input, in: space)
            },
            .command { (input: ReportReview, space) throws(BrokenRule) in
                try ReportRules.review(input, in: space)
            },
            .command { (input: ReportImport, space) throws(BrokenRule) in
                try ImportRules.take(input, in: space)
            },
            .command { (input: OldReceive, space) throws(BrokenRule) in
                try OldAppRules.receive(input, in: space)
            },
            .command { (input: PreferenceSet, space) throws(BrokenRule) in
                try PreferenceRules.set(input, in: space)
            },
            .command { (input: GuideDismiss, space) throws(BrokenRule) in
                try PreferenceRules.dismiss(input, in: space)
            },
            .command { (input: SpeciesDefine, space) throws(BrokenRule) in
                try CuratorRules.define(input, in: space)
            },
            .command { (input: SpeciesRetire, space) throws(BrokenRule) in
                try CuratorRules.retire(input, in: space)
            },
            .command { (input: SeasonSet, space) throws(BrokenRule) in
                try CuratorRules.set(input, in: space)
            },
            .command { (input: ZoneDefine, space) throws(BrokenRule) in
                try CuratorRules.define(input, in: space)
            },
            .command { (input: ReferenceDefine, space) throws(BrokenRule) in
                try CuratorRules.define(input, in: space)
            },
            .command { (input: PlaceDefine, space) throws(BrokenRule) in
                try CuratorRules.define(input, in: space)
            },
            .command { (input: PlaceRetire, space) throws(BrokenRule) in
                try CuratorRules.retire(input, in: space)
            },
            .view { (input: Judge, space) throws(BrokenRule) in try judge(input, in: space) },
            .view { (input: OldSpecies, space) throws(BrokenRule) in
                try OldAppRules.species(input, in: space)
            },
            .view { (input: Measure, space) throws(BrokenRule) in
                try LengthRules.measure(input, in: space)
            },
        ]
    )
}
