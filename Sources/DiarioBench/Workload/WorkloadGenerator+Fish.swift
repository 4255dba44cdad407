import DiarioCore

extension WorkloadGenerator {
    mutating func putFish() {
        if options.goesOn { return putFishStep() }
        if let open = replicas[replica].assessment, happens(75) {
            replicas[replica].assessment = nil
            putReport(open)
        } else {
            putAssessment()
        }
    }

    mutating func putAssessment() {
        line.put("fish.assessment.started\",\"payload\":{")
        let subject = putNewID("\"assessmentId\":\"", .ulid, isMentioned: true)
        let species = world.speciesRanks.draw(&random)
        replicas[replica].assessment = Assessment(subject: subject, species: species)
        line.put("\"speciesId\":\"")
        line.put(Phrases.species, species)
        line.put("\",\"startedOn\":\"")
        putDate()
        if adds(70) {
            line.put("\",\"timeZone\":\"Europe/Rome\"")
        } else {
            line.put("\"")
        }
        if happens(45) { putNote(",\"note\":\"") }
    }

    mutating func putReport(_ assessment: Assessment) {
        let species = assessment.species
        line.put("fish.report.filed\",\"payload\":{")
        let subject = putNewID("\"reportId\":\"", .ulid)
        line.put("\"assessmentId\":\"")
        putID(assessment.subject, .ulid)
        line.put("\",\"speciesId\":\"")
        line.put(Phrases.species, species)
        line.put("\",\"placeId\":\"")
        let harbour = world.harbourRanks.draw(&random)
        line.put(Phrases.harbours, harbour)
        line.put("\",\"observedOn\":\"")
        putDate()
        line.put("\",\"lengthUm\":")
        let lengthUm = options.goesOn ? assessment.lengthUm : anyLength(species)
        line.put(number: lengthUm)
        replicas[replica].reports.append(
            Report(subject: subject, species: species, lengthUm: lengthUm)
        )
        let way = options.goesOn ? assessment.coin : happens(30) ? nil : random.below(4)
        switch way {
        case nil: line.put(",\"method\":\"ruler\"")
        case 0, 1: line.put(",\"method\":\"pins2\",\"coin\":\"eur2\"")
        case 2: line.put(",\"method\":\"circle3\",\"coin\":\"eur1\"")
        default: line.put(",\"method\":\"conic\",\"coin\":\"eur050\"")
        }
        putResults()
        if adds(15) { line.put(",\"production\":\"wild_fresh\"") }
        if adds(20) { putNote(",\"note\":\"", phraseCountMax: 2) }
        if happens(40) {
            line.put(",\"latE7\":")
            line.put(number: 424_000_000 + 40_000 * harbour + 10 * random.below(3000))
            line.put(",\"lonE7\":")
            line.put(number: 111_000_000 + 40_000 * harbour + 10 * random.below(3000))
        }
    }

    mutating func anyLength(_ species: Int) -> Int {
        40_000 + 20_000 * species + 100 * (random.below(400) + random.below(400))
    }

    mutating func putResults() {
        switch random.below(6) {
        case 0: line.put(",\"sizeResult\":\"undersize\"")
        case 1: line.put(",\"sizeResult\":\"borderline\"")
        case 2: line.put(",\"sizeResult\":\"not_required\"")
        default: line.put(",\"sizeResult\":\"ok\"")
        }
        if random.oneIn(4) {
            line.put(",\"dateResult\":\"reproducing\"")
        } else {
            line.put(",\"dateResult\":\"in_season\"")
        }
    }
}
