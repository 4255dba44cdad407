import DiarioCore

// What becomes of meals, weights and allergies after they were entered.
extension WorkloadGenerator {
    /// How many of the entries of all replicas are kept for late corrections.
    private static let oldEntryCount = 4096

    mutating func keep(_ entry: Entry) {
        guard options.goesOn else { return }
        replicas[replica].entries.append(entry)
        if oldEntries.count < Self.oldEntryCount {
            oldEntries.append(entry)
        } else if random.oneIn(16) {
            oldEntries[random.below(oldEntries.count)] = entry
        }
    }

    /// An entry of this replica, or now and then any other one.
    private mutating func entry(isRemoved: Bool) -> Entry? {
        if !oldEntries.isEmpty, random.oneIn(12) {
            return oldEntries[random.below(oldEntries.count)]
        }
        return isRemoved
            ? replicas[replica].entries.take(&random) : replicas[replica].entries.draw(&random)
    }

    /// Half as much again, the wrong meal, not eaten after all.
    mutating func putChangedEntry() {
        let way = random.below(24)
        if way == 23, let removal = replicas[replica].removal { return putRestored(removal) }
        guard let entry = entry(isRemoved: way >= 18) else { return putFood() }
        switch way {
        case 0..<13: line.put("meals.quantity.changed\",\"payload\":{\"entryId\":\"")
        case 13..<18: line.put("meals.food.moved\",\"payload\":{\"entryId\":\"")
        default: line.put("meals.food.removed\",\"payload\":{\"entryId\":\"")
        }
        putID(entry.subject, .ulid)
        switch way {
        case 0..<13:
            line.put("\",\"amountMg\":")
            line.put(number: world.foods[entry.food].usualMg * (10 + random.below(21)) / 20)
        case 13..<18:
            line.put("\",\"day\":\"")
            line.put(year.dates, happens(80) ? entry.day : max(0, entry.day - 1))
            switch random.below(4) {
            case 0: line.put("\",\"meal\":\"breakfast\"")
            case 1: line.put("\",\"meal\":\"lunch\"")
            case 2: line.put("\",\"meal\":\"snack\"")
            default: line.put("\",\"meal\":\"dinner\"")
            }
        default:
            replicas[replica].removal = (entry, replicas[replica].sequence)
            line.put("\"")
        }
    }

    /// The last removal here was a mistake.
    private mutating func putRestored(_ removal: (entry: Entry, sequence: UInt64)) {
        replicas[replica].removal = nil
        replicas[replica].entries.append(removal.entry)
        line.put("meals.food.restored\",\"payload\":{\"entryId\":\"")
        putID(removal.entry.subject, .ulid)
        line.put("\",\"removalId\":\"")
        putOrigin(replica: replica, sequence: removal.sequence)
        line.put("\"")
    }

    /// A watch tells again and again how far it has counted.
    mutating func putHealthDay() {
        if replicas[replica].healthDay.day != day {
            replicas[replica].healthDay = HealthDay(day: day)
        }
        replicas[replica].healthDay.revision += 1
        // Who looks all the time has walked less since the last time; nobody walks all day.
        let more = random.below(replicas[replica].healthDay.revision < 24 ? 2400 : 80)
        let steps = min(180_000, replicas[replica].healthDay.steps + more)
        replicas[replica].healthDay.steps = steps
        let state = replicas[replica].healthDay
        line.put("meals.health.day.recorded\",\"payload\":{\"day\":\"")
        putDate()
        line.put("\",\"timeZone\":\"Europe/Rome\",\"sourceName\":\"")
        line.put(Phrases.watches, replica % Phrases.watches.count)
        line.put("\",\"steps\":")
        line.put(number: state.steps)
        line.put(",\"activeMkcal\":")
        line.put(number: 1000 * (state.steps * (38 + replica % 9) / 1000 + random.below(16)))
        line.put(",\"basalMkcal\":")
        line.put(number: 1000 * (millisecond / 60_000 * (1300 + 11 * replica) / 1440))
        line.put(",\"revision\":")
        line.put(number: state.revision)
    }

    mutating func putRareMeals() {
        if let alert = replicas[replica].alert {
            replicas[replica].alert = nil
            return putAcknowledged(alert)
        }
        switch random.below(16) {
        case 0..<3: putRemovedMeasure()
        case 3..<6: putAllergy()
        case 6: putRemovedAllergy()
        case 7..<11: putAlert()
        case 11..<14: putGoal()
        default: putPlan()
        }
    }

    private mutating func putRemovedMeasure() {
        guard let measure = replicas[replica].measures.take(&random) else { return putFood() }
        line.put("meals.measure.removed\",\"payload\":{\"measureId\":\"")
        putID(measure, .ulid)
        line.put("\"")
    }

    private mutating func putRemovedAllergy() {
        guard let allergy = replicas[replica].allergies.take(&random) else { return putAllergy() }
        line.put("meals.allergy.removed\",\"payload\":{\"allergyId\":\"")
        putID(allergy, .ulid)
        line.put("\"")
    }

    private mutating func putAlert() {
        guard let entry = replicas[replica].entries.draw(&random) else { return putFood() }
        line.put("meals.allergy.alert.shown\",\"payload\":{")
        replicas[replica].alert = putNewID("\"alertId\":\"", .ulid)
        line.put("\"entryId\":\"")
        putID(entry.subject, .ulid)
        line.put("\",\"allergenId\":\"")
        line.put(Phrases.allergens, random.below(Phrases.allergens.count))
        if happens(60) {
            line.put("\",\"level\":\"contains\"")
        } else {
            line.put("\",\"level\":\"traces\"")
        }
    }

    private mutating func putAcknowledged(_ alert: Subject) {
        line.put("meals.allergy.alert.acknowledged\",\"payload\":{\"alertId\":\"")
        putID(alert, .ulid)
        if happens(70) {
            line.put("\",\"choice\":\"log_anyway\"")
        } else {
            line.put("\",\"choice\":\"cancel\"")
        }
    }

    private mutating func putGoal() {
        if random.oneIn(3) {
            line.put("meals.goal.pace.set\",\"payload\":{\"pace\":\"")
            if happens(70) { line.put("normal\"") } else { line.put("speed\"") }
        } else {
            line.put("meals.goal.weight.set\",\"payload\":{\"targetG\":")
            line.put(number: 50_000 + 500 * random.below(60))
        }
        line.put(",\"override\":false")
    }

    private mutating func putPlan() {
        let weightG = 52_000 + replica * 900
        let needMkcal = 1000 * (1200 + random.below(1000))
        line.put("meals.plan.confirmed\",\"payload\":{")
        _ = putNewID("\"planId\":\"", .ulid)
        line.put("\"effectiveFrom\":\"")
        putDate()
        line.put("\",\"formula\":\"hb-thesis-1\",\"inputs\":{\"sex\":\"female\",\"age\":")
        line.put(number: 19 + replica)
        line.put(",\"weightG\":")
        line.put(number: weightG)
        line.put(",\"heightMm\":")
        line.put(number: 1550 + 6 * replica)
        line.put(",\"level\":\"light\",\"targetG\":")
        line.put(number: weightG - 4000)
        line.put(",\"pace\":\"normal\"},\"outputs\":{\"needMkcal\":")
        line.put(number: needMkcal)
        line.put(",\"proteinMg\":")
        line.put(number: needMkcal / 16)
        line.put(",\"carbMg\":")
        line.put(number: needMkcal / 8)
        line.put(",\"fatMg\":")
        line.put(number: needMkcal / 36)
        line.put(",\"days\":")
        line.put(number: 30 + random.below(200))
        line.put("}")
    }
}
