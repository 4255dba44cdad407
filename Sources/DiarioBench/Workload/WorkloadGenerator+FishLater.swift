import DiarioCore

// A fish from the choice of its species to the report, and what becomes of reports.
extension WorkloadGenerator {
    private static let photoWidthMpx = 4_032_000
    private static let photoHeightMpx = 3_024_000

    mutating func putFishStep() {
        guard var open = replicas[replica].assessment else {
            if happens(12), let report = replicas[replica].reports.draw(&random) {
                return putChangedReport(report)
            }
            return putAssessment()
        }
        guard !happens(2) else { return putAbandoned(open) }
        replicas[replica].assessment = nil
        putStep(of: &open)
        if !open.isFiled { replicas[replica].assessment = open }
    }

    private mutating func putStep(of open: inout Assessment) {
        switch open.stage {
        case .reference: putReference(&open)
        case .photo: putPhoto(&open)
        case .coinMarks, .fishMarks: putMarks(&open)
        case .verdict: putVerdict(&open)
        case .origin: putDetail(&open, "origin\",\"value\":\"mediterranean", next: .production)
        case .production: putDetail(&open, "production\",\"value\":\"wild_fresh", next: .place)
        case .place:
            begin("fish.report.detail.set", open.subject)
            line.put("\",\"field\":\"place\",\"value\":\"")
            line.put(Phrases.harbours, world.harbourRanks.draw(&random))
            line.put("\"")
            open.stage = .report
        case .report:
            putReport(open)
            open.isFiled = true
        }
    }

    /// The start of a line about `subject`, without the closing quote of its id.
    private mutating func begin(
        _ type: StaticString,
        _ subject: Subject,
        _ field: StaticString = "assessmentId"
    ) {
        line.put(type)
        line.put("\",\"payload\":{\"")
        line.put(field)
        line.put("\":\"")
        putID(subject, .ulid)
    }

    private mutating func putReference(_ open: inout Assessment) {
        if random.oneIn(16) {
            open.species = world.speciesRanks.draw(&random)
            begin("fish.assessment.species.changed", open.subject)
            line.put("\",\"speciesId\":\"")
            line.put(Phrases.species, open.species)
            return line.put("\"")
        }
        if happens(15) {
            open.lengthUm = anyLength(open.species)
            open.stage = .verdict
            begin("fish.length.entered", open.subject)
            line.put("\",\"lengthUm\":")
            return line.put(number: open.lengthUm)
        }
        open.coin = random.below(4)
        open.stage = .photo
        begin("fish.reference.selected", open.subject)
        line.put("\",\"referenceId\":\"")
        putCoin(open)
        line.put("\"")
    }

    private mutating func putCoin(_ open: Assessment) {
        switch open.coin {
        case 0, 1: line.put("eur2")
        case 2: line.put("eur1")
        default: line.put("eur050")
        }
    }

    private mutating func putMethod(_ open: Assessment) {
        line.put("\",\"method\":\"")
        switch open.coin {
        case 0, 1: line.put("pins2\"")
        case 2: line.put("circle3\"")
        default: line.put("conic\"")
        }
    }

    private mutating func putPhoto(_ open: inout Assessment) {
        if !open.photo.isEmpty {
            // The photo was no good; the next one follows.
            begin("fish.photo.discarded", open.subject)
            line.put("\",\"photoSha256\":\"")
            line.put(base64: open.photo)
            line.put("\"")
            return open.photo = []
        }
        open.photo = (0..<4).map { _ in random.next() }
        begin("fish.photo.captured", open.subject)
        line.put("\",\"photoSha256\":\"")
        line.put(base64: open.photo)
        line.put("\",\"mime\":\"image/jpeg\",\"widthPx\":4032,\"heightPx\":3024,\"takenOn\":\"")
        putDate()
        line.put("\",\"gateResult\":\"ok\"")
        if !happens(8) { open.stage = .coinMarks }
    }

    /// Marks on the coin, then on the fish; each may be nudged some times.
    private mutating func putMarks(_ open: inout Assessment) {
        let isOfFish = open.stage == .fishMarks
        if open.isMarked, happens(55) {
            begin("fish.marks.nudged", open.subject)
            putTarget(isOfFish)
            switch random.below(4) {
            case 0: line.put(",\"side\":\"up\",\"deltaMpx\":-500")
            case 1: line.put(",\"side\":\"down\",\"deltaMpx\":500")
            case 2: line.put(",\"side\":\"left\",\"deltaMpx\":-500")
            default: line.put(",\"side\":\"right\",\"deltaMpx\":500")
            }
            return
        }
        if open.isMarked, isOfFish { return putLength(&open) }
        if random.oneIn(24) {
            begin("fish.marks.cleared", open.subject)
            return putTarget(isOfFish)
        }
        if open.isMarked { open.stage = .fishMarks }
        begin("fish.marks.placed", open.subject)
        putMethod(open)
        line.put(open.stage == .fishMarks ? ",\"target\":\"fish\"" : ",\"target\":\"reference\"")
        line.put(",\"points\":[")
        for index in 0..<(open.coin == 2 && open.stage == .coinMarks ? 3 : 2) {
            line.put(index > 0 ? ",{\"xMpx\":" : "{\"xMpx\":")
            line.put(number: 500 * random.below(Self.photoWidthMpx / 500))
            line.put(",\"yMpx\":")
            line.put(number: 500 * random.below(Self.photoHeightMpx / 500))
            line.put("}")
        }
        line.put("],\"via\":\"drag\"")
        open.isMarked = true
    }

    private mutating func putTarget(_ isOfFish: Bool) {
        line.put(isOfFish ? "\",\"target\":\"fish\"" : "\",\"target\":\"reference\"")
    }

    private mutating func putLength(_ open: inout Assessment) {
        open.lengthUm = anyLength(open.species)
        open.stage = .verdict
        begin("fish.length.measured", open.subject)
        putMethod(open)
        line.put(",\"algorithmVersion\":1,\"lengthUm\":")
        line.put(number: open.lengthUm)
        line.put(",\"scaleNmPerPx\":")
        line.put(number: 30_000 + random.below(30_000))
        line.put(",\"referenceId\":\"")
        putCoin(open)
        line.put("\"")
    }

    private mutating func putVerdict(_ open: inout Assessment) {
        open.stage = .origin
        begin("fish.verdict.issued", open.subject)
        line.put("\",\"lengthUm\":")
        line.put(number: open.lengthUm)
        if open.species % 3 > 0 {
            line.put(",\"minSizeUm\":")
            line.put(number: 110_000 + 10_000 * open.species)
        }
        putResults()
        line.put(",\"month\":")
        line.put(number: min(12, 1 + day / 30))
        line.put(",\"catalogueVersion\":1")
    }

    private mutating func putDetail(
        _ open: inout Assessment,
        _ detail: StaticString,
        next: AssessmentStage
    ) {
        begin("fish.report.detail.set", open.subject)
        line.put("\",\"field\":\"")
        line.put(detail)
        line.put("\"")
        open.stage = next
    }

    private mutating func putAbandoned(_ open: Assessment) {
        replicas[replica].assessment = nil
        begin("fish.assessment.abandoned", open.subject)
        switch open.stage {
        case .reference: line.put("\",\"step\":\"reference\"")
        case .photo: line.put("\",\"step\":\"photo\"")
        case .coinMarks, .fishMarks: line.put("\",\"step\":\"marks\"")
        case .verdict: line.put("\",\"step\":\"verdict\"")
        case .origin, .production, .place, .report: line.put("\",\"step\":\"details\"")
        }
        if happens(40) { putNote(",\"reason\":\"", phraseCountMax: 2) }
    }

    private mutating func putChangedReport(_ report: Report) {
        switch random.below(8) {
        case 0..<3:
            begin("fish.report.amended", report.subject, "reportId")
            line.put("\",\"lengthUm\":")
            line.put(number: report.lengthUm + 100 * random.below(40))
            if happens(60) { putNote(",\"reason\":\"", phraseCountMax: 2) }
        case 3:
            begin("fish.report.withdrawn", report.subject, "reportId")
            line.put("\"")
            if happens(60) { putNote(",\"reason\":\"", phraseCountMax: 2) }
        default:
            begin("fish.report.reviewed", report.subject, "reportId")
            line.put("\",\"outcome\":\"")
            line.put(happens(80) ? "confirmed\"" : "doubtful\"")
            if happens(40) { putNote(",\"note\":\"", phraseCountMax: 2) }
        }
    }
}
