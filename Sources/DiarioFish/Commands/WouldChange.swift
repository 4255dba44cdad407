import DiarioCore
import DiarioSchema

// What a curator asks before a minimum or a season is changed.

extension CuratorRules {
    /// The counted reports that another minimum or season would judge otherwise.
    static func wouldChange(
        _ input: Fish.WouldChange,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Fish.WouldChange.Result {
        let today = Fish.today(space)
        let day = max(today, input.validFrom ?? today)
        _ = try Fish.species(input.speciesId, on: day, in: space)
        let change = try RuleChange(input, in: space)
        let rows = space.judged(speciesId: input.speciesId, first: input.validFrom)
        let changed = rows.compactMap { change.changed($0) }
        return Fish.WouldChange.Result(
            judged: Int64(rows.count),
            changed: Int64(changed.count),
            reports: Array(changed.prefix(RuleChange.listedMax)),
            text: text(changed, of: rows.count, in: space.language)
        )
    }

    private static func text(
        _ changed: [Fish.ChangedReport],
        of judged: Int,
        in language: Language
    ) -> [String] {
        let say = Fish.Speech(language)
        guard !changed.isEmpty else { return [say(Fish.Words.changedNone(judged: "\(judged)"))] }
        var lines = [say(Fish.Words.changedSome(changed: "\(changed.count)", judged: "\(judged)"))]
        for report in changed.prefix(RuleChange.listedMax) {
            var before: [String] = []
            var after: [String] = []
            if let then = report.sizeThen {
                before.append(say(report.sizeResult.texts))
                after.append(say(Fish.RecordedSizeResult(then).texts))
            }
            if let then = report.dateThen {
                before.append(say(report.dateResult.texts))
                after.append(say(then.texts))
            }
            lines.append(
                say(
                    Fish.Words.changedLine(
                        report: report.reportId,
                        day: report.observedOn.text,
                        length: say.length(report.lengthUm),
                        before: before.joined(separator: ", "),
                        after: after.joined(separator: ", ")
                    )
                )
            )
        }
        let rest = changed.count - RuleChange.listedMax
        if rest > 0 { lines.append(say(Fish.Words.changedMore(count: "\(rest)"))) }
        return lines
    }
}

/// A minimum or a season that may come to be.
private struct RuleChange {
    private let minimum: MinimumSize?
    private let season: Season?
    private let zone: String

    /// The most reports that an answer lists.
    static let listedMax = 1000

    init(_ input: Fish.WouldChange, in space: any CommandSpace) throws(BrokenRule) {
        guard input.minSizeKind != nil || input.minSizeUm != nil || input.months != nil else {
            throw Fish.Rule.nothingGiven("minSizeUm")
        }
        zone = input.zoneId ?? Fish.everywhere
        try Fish.checkZone(zone, field: "zoneId", in: space)
        var (minimum, season): (MinimumSize?, Season?)
        if input.minSizeKind != nil || input.minSizeUm != nil {
            let kind = input.minSizeKind ?? .legal
            minimum = MinimumSize(kind: kind.rawValue, lengthUm: input.minSizeUm)
            guard minimum != nil else {
                throw Fish.Rule.minimumSize("minSizeUm", kind.rawValue)
            }
        }
        if let months = input.months { season = try Season(months: months, field: "months") }
        (self.minimum, self.season) = (minimum, season)
    }

    /// The report with the answers that become other ones; nil if none does.
    func changed(_ row: Fish.Rows.Judged) -> Fish.ChangedReport? {
        var (sizeThen, dateThen): (Fish.SizeResult?, Fish.DateResult?)
        if let minimum, row.sizeResult != .unknown {
            let size = Fish.SizeResult(rawValue: minimum.result(lengthUm: row.lengthUm).rawValue)
            if let size, Fish.RecordedSizeResult(size) != row.sizeResult { sizeThen = size }
        }
        if let season, row.zoneId.hasBytes(of: zone), let month = Month(row.observedOn.month) {
            let date = season.result(in: month)
            if date != row.dateResult { dateThen = date }
        }
        guard sizeThen != nil || dateThen != nil else { return nil }
        return Fish.ChangedReport(
            reportId: row.reportId,
            observedOn: row.observedOn,
            lengthUm: row.lengthUm,
            sizeResult: row.sizeResult,
            sizeThen: sizeThen,
            dateResult: row.dateResult,
            dateThen: dateThen
        )
    }
}
