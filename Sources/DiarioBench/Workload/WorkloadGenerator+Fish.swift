import DiarioCore

// A fish from the choice of its species to the report, and what becomes of reports.
extension WorkloadGenerator {
    private static let photoWidthMpx = 4_032_000
    private static let photoHeightMpx = 3_024_000

    mutating func putFish() {
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

    private mutating func putAssessment() {
        begin("fish.assessment.started")
        let subject = putNewID("assessmentId")
        let species = world.speciesRanks.draw(&random)
        replicas[replica].assessment = Assessment(subject: subject, species: species)
        put(#""speciesId":"\#(Phrases.species[species])","startedOn":"\#(date)""#)
        if adds(70) { put(#","timeZone":"Europe/Rome""#) }
        if happens(45) { putNote("note") }
    }

    private mutating func putStep(of open: inout Assessment) {
        switch open.stage {
        case .reference: putReference(&open)
        case .photo: putPhoto(&open)
        case .coinMarks, .fishMarks: putMarks(&open)
        case .verdict: putVerdict(&open)
        case .origin: putDetail(&open, "origin", "mediterranean", next: .production)
        case .production: putDetail(&open, "production", "wild_fresh", next: .place)
        case .place:
            let harbour = Phrases.harbours[world.harbourRanks.draw(&random)]
            putDetail(&open, "place", harbour, next: .report)
        case .report:
            putReport(open)
            open.isFiled = true
        }
    }

    private mutating func begin(_ type: String, _ open: Assessment) {
        begin(type, "assessmentId", open.subject)
    }

    private mutating func putReference(_ open: inout Assessment) {
        if random.oneIn(16) {
            open.species = world.speciesRanks.draw(&random)
            begin("fish.assessment.species.changed", open)
            return put(#","speciesId":"\#(Phrases.species[open.species])""#)
        }
        if happens(15) {
            open.lengthUm = anyLength(open.species)
            open.stage = .verdict
            begin("fish.length.entered", open)
            return put(#","lengthUm":\#(open.lengthUm)"#)
        }
        open.coin = random.below(4)
        open.stage = .photo
        begin("fish.reference.selected", open)
        put(#","referenceId":"\#(coin(open))""#)
    }

    private func coin(_ open: Assessment) -> String {
        switch open.coin {
        case 0, 1: "eur2"
        case 2: "eur1"
        default: "eur050"
        }
    }

    private func method(_ open: Assessment) -> String {
        switch open.coin {
        case 0, 1: "pins2"
        case 2: "circle3"
        default: "conic"
        }
    }

    private mutating func anyLength(_ species: Int) -> Int {
        40_000 + 20_000 * species + 100 * (random.below(400) + random.below(400))
    }

    private mutating func putPhoto(_ open: inout Assessment) {
        if let photo = open.photo {
            // The photo was no good; the next one follows.
            begin("fish.photo.discarded", open)
            put(#","photoId":"\#(photo.id)""#)
            return open.photo = nil
        }
        begin("fish.photo.captured")
        open.photo = putNewID("photoId")
        put(#""assessmentId":"\#(open.subject.id)","#)
        if happens(50) {
            let hashes = (0..<2).map { _ in base64((0..<4).map { _ in random.next() }) }
            put(#""imageId":"\#(hashes[0])","imageKey":"\#(hashes[1])","#)
            put(#""imageSize":\#(random.below(4_000_000)),"imageType":"image/jpeg","#)
        }
        put(#""widthPx":4032,"heightPx":3024,"takenOn":"\#(date)","gate":"standard","#)
        put(#""gateResult":"ok""#)
        if !happens(8) { open.stage = .coinMarks }
    }

    /// Marks on the coin, then on the fish; each may be nudged some times.
    private mutating func putMarks(_ open: inout Assessment) {
        let isOfFish = open.stage == .fishMarks
        let photo = open.photo.map { #","photoId":"\#($0.id)""# } ?? ""
        let target = photo + (isOfFish ? #","target":"fish""# : #","target":"reference""#)
        if open.isMarked, happens(55) {
            begin("fish.marks.nudged", open)
            put(target)
            switch random.below(4) {
            case 0: put(#","side":"up","deltaMpx":-500"#)
            case 1: put(#","side":"down","deltaMpx":500"#)
            case 2: put(#","side":"left","deltaMpx":-500"#)
            default: put(#","side":"right","deltaMpx":500"#)
            }
            return
        }
        if open.isMarked, isOfFish { return putLength(&open) }
        if random.oneIn(24) {
            begin("fish.marks.cleared", open)
            return put(target)
        }
        if open.isMarked { open.stage = .fishMarks }
        let isFish = open.stage == .fishMarks
        let points = (0..<(open.coin == 2 && !isFish ? 3 : 2)).map { _ in
            let xMpx = 500 * random.below(Self.photoWidthMpx / 500)
            return #"{"xMpx":\#(xMpx),"yMpx":\#(500 * random.below(Self.photoHeightMpx / 500))}"#
        }
        begin("fish.marks.placed", open)
        put(photo)
        put(#","method":"\#(method(open))","target":"\#(isFish ? "fish" : "reference")","#)
        put(#""points":[\#(points.joined(separator: ","))],"via":"drag""#)
        open.isMarked = true
    }

    private mutating func putLength(_ open: inout Assessment) {
        open.lengthUm = anyLength(open.species)
        open.stage = .verdict
        begin("fish.length.measured", open)
        put(#","method":"\#(method(open))","algorithmVersion":1,"lengthUm":\#(open.lengthUm),"#)
        put(#""sigmaUm":\#(200 + 100 * random.below(20)),"#)
        put(#""scaleNmPerPx":\#(30_000 + random.below(30_000)),"referenceId":"\#(coin(open))""#)
    }

    private mutating func putVerdict(_ open: inout Assessment) {
        open.stage = .origin
        begin("fish.verdict.issued", open)
        put(#","speciesId":"\#(Phrases.species[open.species])","lengthUm":\#(open.lengthUm)"#)
        putResults(open)
        put(#","month":\#(month),"catalogueVersion":4"#)
    }

    private var month: Int { Int(date.dropFirst(5).prefix(2)) ?? 1 }

    /// The answers, and what they follow from.
    private mutating func putResults(_ open: Assessment) {
        putSize(open.species, open.lengthUm)
        let mask = Phrases.seasonMasks[open.species]
        put(#","seasonMask":\#(mask),"zoneId":"*","applicability":"full""#)
        let isClosed = mask >> (month - 1) & 1 == 1
        put(isClosed ? #","dateResult":"reproducing""# : #","dateResult":"in_season""#)
    }

    private mutating func putSize(_ species: Int, _ lengthUm: Int) {
        let isRecommended = Phrases.recommendations.contains(Phrases.species[species])
        if let minimum = Phrases.minimums[species] {
            put(#","minSizeUm":\#(minimum),"minSizeKind":"#)
            put(isRecommended ? #""recommended","sizeResult":"# : #""legal","sizeResult":"#)
            let short = isRecommended ? #""below_recommended""# : #""undersize""#
            put(lengthUm < minimum ? short : #""ok""#)
            let isBorderline = (lengthUm - minimum).magnitude < 2000
            put(isBorderline ? #","isBorderline":true"# : #","isBorderline":false"#)
        } else {
            put(#","minSizeKind":"none","sizeResult":"not_required","isBorderline":false"#)
        }
    }

    private mutating func putDetail(
        _ open: inout Assessment,
        _ field: String,
        _ value: String,
        next: AssessmentStage
    ) {
        begin("fish.report.detail.set", open)
        put(#","field":"\#(field)","value":"\#(value)""#)
        open.stage = next
    }

    private mutating func putAbandoned(_ open: Assessment) {
        replicas[replica].assessment = nil
        begin("fish.assessment.abandoned", open)
        switch open.stage {
        case .reference: put(#","step":"reference""#)
        case .photo: put(#","step":"photo""#)
        case .coinMarks, .fishMarks: put(#","step":"marks""#)
        case .verdict: put(#","step":"verdict""#)
        case .origin, .production, .place, .report: put(#","step":"details""#)
        }
        if happens(40) { putNote("reason", phraseCountMax: 2) }
    }

    // MARK: Reports

    private mutating func putReport(_ open: Assessment) {
        begin("fish.report.filed")
        let subject = putNewID("reportId")
        let harbour = world.harbourRanks.draw(&random)
        let report = Report(subject: subject, species: open.species, lengthUm: open.lengthUm)
        replicas[replica].reports.append(report)
        put(#""assessmentId":"\#(open.subject.id)","#)
        put(#""speciesId":"\#(Phrases.species[open.species])","#)
        put(#""placeId":"\#(Phrases.harbours[harbour])","observedOn":"\#(date)","#)
        put(#""lengthUm":\#(open.lengthUm),"#)
        if open.coin == nil {
            put(#""method":"ruler""#)
        } else {
            put(#""method":"\#(method(open))","referenceId":"\#(coin(open))""#)
        }
        putResults(open)
        put(#","origin":"mediterranean","production":"wild_fresh","source":"app""#)
        if adds(20) { putNote("note", phraseCountMax: 2) }
        if happens(40) {
            put(#","latE7":\#(424_000_000 + 40_000 * harbour + 10 * random.below(3000))"#)
            put(#","lonE7":\#(111_000_000 + 40_000 * harbour + 10 * random.below(3000))"#)
        }
    }

    private mutating func putChangedReport(_ report: Report) {
        switch random.below(8) {
        case 0..<3:
            begin("fish.report.amended", "reportId", report.subject)
            let lengthUm = report.lengthUm + 100 * random.below(40)
            put(#","lengthUm":\#(lengthUm)"#)
            putSize(report.species, lengthUm)
            if happens(60) { putNote("reason", phraseCountMax: 2) }
        case 3:
            begin("fish.report.withdrawn", "reportId", report.subject)
            if happens(60) { putNote("reason", phraseCountMax: 2) }
        default:
            begin("fish.report.reviewed", "reportId", report.subject)
            put(happens(80) ? #","outcome":"confirmed""# : #","outcome":"doubtful""#)
            if happens(40) { putNote("note", phraseCountMax: 2) }
        }
    }
}
