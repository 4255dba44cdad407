import DiarioCore
import DiarioSchema

// What a person wants to know of a fish, in sentences.

extension Fish {
    /// The words of one language, with numbers as people write them there.
    struct Speech {
        private let language: Language

        init(_ language: Language) { self.language = language }

        func callAsFunction(_ texts: Texts) -> String { texts[language] }

        func name(it italian: String, en english: String?) -> String {
            Texts(english ?? italian, it: italian)[language]
        }

        /// A length in millimetres, as exact as it is.
        func length(_ lengthUm: Int64) -> String {
            let text = HumanUnit(of: "lengthUm")?.text(lengthUm) ?? "\(lengthUm)"
            let parts = text.split(separator: ".").map { String($0) }
            return parts.joined(separator: self(Words.decimal)) + " mm"
        }

        func month(_ number: Int) -> String {
            let names = [
                Words.month1, Words.month2, Words.month3, Words.month4, Words.month5, Words.month6,
                Words.month7, Words.month8, Words.month9, Words.month10, Words.month11,
                Words.month12,
            ]
            return 1...12 ~= number ? self(names[number - 1]) : "\(number)"
        }

        /// What a length means for the size.
        func size(lengthUm: Int64, _ minimum: MinimumSize) -> String {
            guard let leastUm = minimum.lengthUm else { return self(Words.noMinimum) }
            let least = length(leastUm)
            let lack = length(leastUm.subtractingReportingOverflow(lengthUm).partialValue)
            switch (minimum.result(lengthUm: lengthUm), minimum) {
            case (.undersize, _): return self(Words.tooShort(lack: lack, least: least))
            case (.belowRecommended, _):
                return self(Words.belowRecommended(lack: lack, least: least))
            case (_, .recommended): return self(Words.reachesRecommended(least: least))
            default: return self(Words.reachesLegal(least: least))
            }
        }

        /// How to be surer than by a method.
        func borderline(_ method: ReportMethod?) -> String {
            let isExact = method == .card || method == .rectified
            return self(isExact ? Words.borderlineCard : Words.borderline)
        }

        /// How far the answers go, unless that is all the way.
        func reach(_ applicability: Applicability) -> [String] {
            switch applicability {
            case .full: []
            case .sizeOnly: [self(Words.otherSea)]
            case .informative: [self(Words.farmed)]
            }
        }
    }
}

extension Fish.Judgement {
    /// The answers about a fish of this length, which was found by a method.
    func text(
        lengthUm: Int64,
        sigmaUm: Int64?,
        _ method: Fish.ReportMethod?,
        in space: any CommandSpace
    ) -> [String] {
        let say = Fish.Speech(space.language)
        var lines = [
            say(verdict.isPositive ? Fish.Words.goodChoice : Fish.Words.otherChoice),
            length(lengthUm, sigmaUm, say), say.size(lengthUm: lengthUm, rule.minimum),
        ]
        if verdict.isBorderline { lines.append(say.borderline(method)) }
        lines.append(season(say))
        if zoneID != Fish.everywhere,
            let zone = space.zones().first(where: { $0.zoneId == zoneID })
        {
            lines.append(say(Fish.Words.zone(zone: say.name(it: zone.nameIt, en: zone.nameEn))))
        }
        lines += say.reach(applicability)
        if !verdict.isPositive { lines.append(instead(say)) }
        return lines + [say(Fish.Words.source)]
    }

    private func length(_ lengthUm: Int64, _ sigmaUm: Int64?, _ say: Fish.Speech) -> String {
        let what = say(species.measure.texts)
        let length = say.length(lengthUm)
        guard let sigmaUm, 1...Self.sigmaMax ~= sigmaUm else {
            return say(Fish.Words.length(what: what, length: length))
        }
        // Two sigma, up to the next tenth of a millimetre.
        let spread = say.length((2 * sigmaUm + 99) / 100 * 100)
        return say(Fish.Words.lengthAbout(what: what, length: length, spread: spread))
    }

    private static let sigmaMax: Int64 = 5_000_000

    private func season(_ say: Fish.Speech) -> String {
        let isClosed = rule.season.isClosed(in: month)
        guard let last = rule.season.lastMonth(from: month) else {
            return say(isClosed ? Fish.Words.closedAlways : Fish.Words.seasonAlways)
        }
        let name = say.month(last.number)
        return say(
            isClosed ? Fish.Words.closedUntil(month: name) : Fish.Words.seasonUntil(month: name)
        )
    }

    private func instead(_ say: Fish.Speech) -> String {
        let month = say.month(month.number)
        guard !others.isEmpty else { return say(Fish.Words.insteadNone(month: month)) }
        let list = others.map { row in
            let name = say.name(it: row.nameIt, en: row.nameEn)
            guard let least = row.minSizeUm else { return name }
            return say(Fish.Words.fromLength(name: name, least: say.length(least)))
        }
        return say(Fish.Words.instead(month: month, list: list.joined(separator: ", ")))
    }
}
