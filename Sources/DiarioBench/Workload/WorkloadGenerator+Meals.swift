import DiarioCore

extension WorkloadGenerator {
    mutating func putMeals() {
        guard options.goesOn else { return putMadeMeals() }
        switch random.below(1000) {
        case 0..<360: putFood()
        case 360..<660: putHealthDay()
        case 660..<920: putChangedEntry()
        case 920..<980: putWeight()
        default: putRareMeals()
        }
    }

    /// The mix `making`.
    private mutating func putMadeMeals() {
        switch random.below(100) {
        case 0..<63: putFood()
        case 63..<95: putWeight()
        default: putAllergy()
        }
    }

    mutating func putFood() {
        line.put("meals.food.logged\",\"payload\":{")
        let subject = putNewID("\"entryId\":\"", .ulid)
        line.put("\"day\":\"")
        putDate()
        switch millisecond / 3_600_000 {
        case 4..<10: line.put("\",\"meal\":\"breakfast\",\"foodId\":\"")
        case 10..<15: line.put("\",\"meal\":\"lunch\",\"foodId\":\"")
        case 15..<18: line.put("\",\"meal\":\"snack\",\"foodId\":\"")
        default: line.put("\",\"meal\":\"dinner\",\"foodId\":\"")
        }
        let index = world.foodRanks.draw(&random)
        let food = world.foods[index]
        let isOwn = index % 7 == 3
        if isOwn {
            line.put("custom:")
            line.put(number: index)
        } else {
            line.put("off:")
            line.put(number: food.key)
        }
        keep(Entry(subject: subject, food: index, day: day))
        if options.goesOn || adds(70) {
            line.put("\",\"name\":\"")
            line.put(Phrases.foods, food.name)
            line.put(Phrases.foodKinds, food.kind)
        }
        let amountMg = food.usualMg * (10 + random.below(21)) / 20
        line.put("\",\"amountMg\":")
        line.put(number: amountMg)
        line.put(",\"energyMkcal\":")
        line.put(number: (amountMg * food.energyMkcal + 50_000) / 100_000)
        if options.goesOn || adds(20) { putPer100(food) }
        if isOwn {
            line.put(",\"method\":\"custom\"")
        } else {
            switch random.below(10) {
            case 0..<4: line.put(",\"method\":\"barcode\"")
            case 4..<7: line.put(",\"method\":\"search\"")
            case 7: line.put(",\"method\":\"image\"")
            case 8: line.put(",\"method\":\"quick\"")
            default: line.put(",\"method\":\"copy\"")
            }
        }
        if adds(12) { putNote(",\"note\":\"") }
    }

    private mutating func putPer100(_ food: World.Food) {
        line.put(",\"per100\":{\"energyMkcal\":")
        line.put(number: food.energyMkcal)
        line.put(",\"proteinMg\":")
        line.put(number: food.proteinMg)
        line.put(",\"carbMg\":")
        line.put(number: food.carbMg)
        line.put(",\"fatMg\":")
        line.put(number: food.fatMg)
        line.put("}")
    }

    private mutating func putWeight() {
        line.put("meals.weight.recorded\",\"payload\":{")
        replicas[replica].measures.append(putNewID("\"measureId\":\"", .ulid))
        line.put("\"day\":\"")
        putDate()
        if happens(95) {
            // Each person has a weight, from which a day differs little.
            line.put("\",\"weightG\":")
            line.put(number: 52_000 + replica * 900 + 50 * random.below(60))
            line.put(",\"source\":\"")
        } else {
            line.put("\",\"source\":\"")
        }
        switch random.below(3) {
        case 0: line.put("manual\"")
        case 1: line.put("health_import\"")
        default: line.put("device\"")
        }
        if adds(25) { putNote(",\"note\":\"") }
    }

    mutating func putAllergy() {
        line.put("meals.allergy.added\",\"payload\":{")
        replicas[replica].allergies.append(putNewID("\"allergyId\":\"", .ulid))
        if happens(80) {
            line.put("\"allergenId\":\"")
            line.put(Phrases.allergens, random.below(Phrases.allergens.count))
            line.put("\",")
        } else {
            putNote("\"ownWords\":\"", phraseCountMax: 2)
            line.put(",")
        }
        if random.oneIn(2) {
            line.put("\"severity\":\"allergy\"")
        } else {
            line.put("\"severity\":\"intolerance\"")
        }
        if adds(40) { putNote(",\"note\":\"") }
    }
}
