import DiarioCore

// Meals, weights and allergies, and what becomes of them after they were entered.
extension WorkloadGenerator {
    mutating func putMeals() {
        switch random.below(1000) {
        case 0..<360: putFood()
        case 360..<660: putHealthDay()
        case 660..<920: putChangedEntry()
        case 920..<980: putWeight()
        default: putRareMeals()
        }
    }

    private mutating func putFood() {
        begin("meals.food.logged")
        let subject = putNewID("entryId")
        let meal =
            switch millisecond / 3_600_000 {
            case 4..<10: "breakfast"
            case 10..<15: "lunch"
            case 15..<18: "snack"
            default: "dinner"
            }
        let index = world.foodRanks.draw(&random)
        let food = world.foods[index]
        let isOwn = index % 7 == 3
        keep(Entry(subject: subject, food: index, day: day))
        let amountMg = food.usualMg * (10 + random.below(21)) / 20
        let energyMkcal = (amountMg * food.energyMkcal + 50_000) / 100_000
        put(#""day":"\#(date)","meal":"\#(meal)","foodId":""#)
        put(isOwn ? "custom:\(index)" : "off:\(food.key)")
        put(#"","name":"\#(Phrases.foods[food.name])\#(Phrases.foodKinds[food.kind])","#)
        put(#""amountMg":\#(amountMg),"energyMkcal":\#(energyMkcal),"#)
        put(#""per100":{"energyMkcal":\#(food.energyMkcal),"proteinMg":\#(food.proteinMg),"#)
        put(#""carbMg":\#(food.carbMg),"fatMg":\#(food.fatMg)},"method":"#)
        if isOwn {
            put("\"custom\"")
        } else {
            switch random.below(10) {
            case 0..<4: put("\"barcode\"")
            case 4..<7: put("\"search\"")
            case 7: put("\"image\"")
            case 8: put("\"quick\"")
            default: put("\"copy\"")
            }
        }
        if adds(12) { putNote("note") }
    }

    private mutating func putWeight() {
        begin("meals.weight.recorded")
        replicas[replica].measures.append(putNewID("measureId"))
        put(#""day":"\#(date)","#)
        // Each person has a weight, from which a day differs little.
        if happens(95) { put(#""weightG":\#(52_000 + replica * 900 + 50 * random.below(60)),"#) }
        switch random.below(3) {
        case 0: put(#""source":"manual""#)
        case 1: put(#""source":"health_import""#)
        default: put(#""source":"device""#)
        }
        if adds(25) { putNote("note") }
    }

    private mutating func putAllergy() {
        begin("meals.allergy.added")
        replicas[replica].allergies.append(putNewID("allergyId"))
        if happens(80) {
            put(#""allergenId":"\#(any(Phrases.allergens))","#)
        } else {
            put(#""ownWords":"\#(phrases(max: 2))","#)
        }
        put(random.oneIn(2) ? #""severity":"allergy""# : #""severity":"intolerance""#)
        if adds(40) { putNote("note") }
    }

    // MARK: Changes of entries

    /// How many of the entries of all replicas are kept for late corrections.
    private static let oldEntryCount = 4096

    private mutating func keep(_ entry: Entry) {
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
    private mutating func putChangedEntry() {
        let way = random.below(24)
        if way == 23, let removal = replicas[replica].removal { return putRestored(removal) }
        guard let entry = entry(isRemoved: way >= 18) else { return putFood() }
        switch way {
        case 0..<13:
            begin("meals.quantity.changed", "entryId", entry.subject)
            let usualMg = world.foods[entry.food].usualMg
            put(#","amountMg":\#(usualMg * (10 + random.below(21)) / 20)"#)
        case 13..<18:
            begin("meals.food.moved", "entryId", entry.subject)
            put(#","day":"\#(year.dates[happens(80) ? entry.day : max(0, entry.day - 1)])","#)
            switch random.below(4) {
            case 0: put(#""meal":"breakfast""#)
            case 1: put(#""meal":"lunch""#)
            case 2: put(#""meal":"snack""#)
            default: put(#""meal":"dinner""#)
            }
        default:
            begin("meals.food.removed", "entryId", entry.subject)
            replicas[replica].removal = (entry, replicas[replica].sequence)
        }
    }

    /// The last removal here was a mistake.
    private mutating func putRestored(_ removal: (entry: Entry, sequence: UInt64)) {
        replicas[replica].removal = nil
        replicas[replica].entries.append(removal.entry)
        begin("meals.food.restored", "entryId", removal.entry.subject)
        put(#","removalId":"\#(origin(removal.sequence))""#)
    }

    // MARK: What a watch counts, and what is rare

    /// A watch tells again and again how far it has counted.
    private mutating func putHealthDay() {
        if replicas[replica].healthDay.day != day {
            replicas[replica].healthDay = HealthDay(day: day)
        }
        replicas[replica].healthDay.revision += 1
        // Who looks all the time has walked less since the last time; nobody walks all day.
        let more = random.below(replicas[replica].healthDay.revision < 24 ? 2400 : 80)
        let steps = min(180_000, replicas[replica].healthDay.steps + more)
        replicas[replica].healthDay.steps = steps
        let watch = Phrases.watches[replica % Phrases.watches.count]
        let activeMkcal = 1000 * (steps * (38 + replica % 9) / 1000 + random.below(16))
        let basalMkcal = 1000 * (millisecond / 60_000 * (1300 + 11 * replica) / 1440)
        begin("meals.health.day.recorded")
        put(#""day":"\#(date)","timeZone":"Europe/Rome","sourceName":"\#(watch)","#)
        put(#""steps":\#(steps),"activeMkcal":\#(activeMkcal),"basalMkcal":\#(basalMkcal),"#)
        put(#""revision":\#(replicas[replica].healthDay.revision)"#)
    }

    private mutating func putRareMeals() {
        if let alert = replicas[replica].alert {
            replicas[replica].alert = nil
            begin("meals.allergy.alert.acknowledged", "alertId", alert)
            return put(happens(70) ? #","choice":"log_anyway""# : #","choice":"cancel""#)
        }
        switch random.below(16) {
        case 0..<3:
            guard let measure = replicas[replica].measures.take(&random) else { return putFood() }
            begin("meals.measure.removed", "measureId", measure)
        case 3..<6: putAllergy()
        case 6:
            guard let allergy = replicas[replica].allergies.take(&random) else {
                return putAllergy()
            }
            begin("meals.allergy.removed", "allergyId", allergy)
        case 7..<11: putAlert()
        case 11..<14: putGoal()
        default: putPlan()
        }
    }

    private mutating func putAlert() {
        guard let entry = replicas[replica].entries.draw(&random) else { return putFood() }
        begin("meals.allergy.alert.shown")
        replicas[replica].alert = putNewID("alertId")
        put(#""entryId":"\#(entry.subject.id)","allergenId":"\#(any(Phrases.allergens))","#)
        put(happens(60) ? #""level":"contains""# : #""level":"traces""#)
    }

    private mutating func putGoal() {
        if random.oneIn(3) {
            begin("meals.goal.pace.set")
            put(happens(70) ? #""pace":"normal""# : #""pace":"speed""#)
        } else {
            begin("meals.goal.weight.set")
            put(#""targetG":\#(50_000 + 500 * random.below(60))"#)
        }
        put(#","override":false"#)
    }

    private mutating func putPlan() {
        let weightG = 52_000 + replica * 900
        let needMkcal = 1000 * (1200 + random.below(1000))
        begin("meals.plan.confirmed")
        _ = putNewID("planId")
        put(#""effectiveFrom":"\#(date)","formula":"hb-thesis-1","inputs":{"sex":"female","#)
        put(#""age":\#(19 + replica),"weightG":\#(weightG),"heightMm":\#(1550 + 6 * replica),"#)
        put(#""level":"light","targetG":\#(weightG - 4000),"pace":"normal"},"#)
        put(#""outputs":{"needMkcal":\#(needMkcal),"proteinMg":\#(needMkcal / 16),"#)
        put(#""carbMg":\#(needMkcal / 8),"fatMg":\#(needMkcal / 36),"#)
        put(#""days":\#(30 + random.below(200))}"#)
    }
}
