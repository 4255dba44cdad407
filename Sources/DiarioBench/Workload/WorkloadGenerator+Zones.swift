import DiarioCore

extension WorkloadGenerator {
    mutating func putZones() {
        // A zone is in the catalogue before anybody can open it.
        let zone = world.zoneRanks.draw(&random)
        if options.goesOn, putZoneStep() { return }
        guard isZoneKnown[zone], !random.oneIn(100) else {
            if options.goesOn, isZoneKnown[zone], random.oneIn(8) { return putWithdrawn(zone) }
            return putCatalogued(zone)
        }
        guard !options.goesOn else { return putOpened(zone) }
        if happens(60) { putOpened(zone) } else { putAnnotated(zone) }
    }

    private mutating func putCatalogued(_ index: Int) {
        isZoneKnown[index] = true
        let zone = world.zones[index]
        line.put("zones.zone.catalogued\",\"payload\":{\"zoneId\":\"")
        putZoneID(index)
        line.put("\",\"title\":\"Zone ")
        line.put(number: index)
        line.put("\",\"minLatDeg\":")
        line.put(scaled: zone.latE6, digits: 6)
        line.put(",\"minLonDeg\":")
        line.put(scaled: zone.lonE6, digits: 6)
        line.put(",\"maxLatDeg\":")
        line.put(scaled: zone.latE6 + 80_000, digits: 6)
        line.put(",\"maxLonDeg\":")
        line.put(scaled: zone.lonE6 + 120_000, digits: 6)
        line.put(",\"featureCount\":")
        line.put(number: 1000 * (1 + random.below(600)))
        if random.oneIn(2) { line.put(",\"satellite\":\"COSMO-SkyMed\",\"band\":\"x\"") }
        line.put(",\"checkedAt\":\"")
        putDate()
        line.put("T03:00:00.000Z\"")
    }

    private mutating func putOpened(_ index: Int) {
        line.put("zones.zone.opened\",\"payload\":{\"zoneId\":\"")
        putZoneID(index)
        let way = random.below(9)
        switch way {
        case 0, 1, 2: line.put("\",\"via\":\"gps\"")
        case 3, 4: line.put("\",\"via\":\"search\"")
        case 5: line.put("\",\"via\":\"link\"")
        case 6, 7: line.put("\",\"via\":\"favourites_menu\"")
        default: line.put("\",\"via\":\"zones_menu\"")
        }
        if let last = replicas[replica].lastZone, last != index {
            line.put(",\"previousZoneId\":\"")
            putZoneID(last)
            line.put("\"")
        }
        replicas[replica].lastZone = index
        replicas[replica].hasOpenZone = true
        if way < 3 {
            let zone = world.zones[index]
            line.put(",\"latE7\":")
            line.put(number: 10 * (zone.latE6 + random.below(80_000)))
            line.put(",\"lonE7\":")
            line.put(number: 10 * (zone.lonE6 + random.below(120_000)))
            line.put(",\"accuracyMm\":")
            line.put(number: 1000 * (3 + random.below(60)))
        } else if way < 5 {
            line.put(",\"query\":\"")
            line.put(Phrases.towns, world.zones[index].town)
            line.put("\"")
        }
    }

    private mutating func putAnnotated(_ index: Int) {
        line.put("zones.point.annotated\",\"payload\":{")
        let subject = putNewID("\"noteId\":\"", .ulid)
        putZonePoint(index, world.pointRanks.draw(&random), subject)
    }

    /// The fields of a note, but for its id.
    mutating func putZonePoint(_ index: Int, _ point: Int, _ subject: Subject) {
        if options.goesOn { replicas[replica].notes.append((subject, index, point)) }
        line.put("\"zoneId\":\"")
        putZoneID(index)
        line.put("\",\"pointKey\":\"")
        let key = putPointKey(index, point)
        line.put("\"")
        if happens(80) {
            // A point has the velocity it has, and each reading of it says the same.
            line.put(",\"velocityMmPerYear\":")
            line.put(scaled: Int(key >> 44 & 0x3fff) - 8192, digits: 3)
            line.put(",\"coherence\":")
            line.put(scaled: 400 + Int(key >> 32 & 511), digits: 3)
        }
        if happens(options.goesOn ? 95 : 75) { putNote(",\"text\":\"") }
    }

    @discardableResult
    mutating func putPointKey(_ zone: Int, _ index: Int) -> UInt64 {
        let point = UInt64(index)
        let key = (world.zones[zone].pointKey &+ point) &* 0x9e37_79b9_7f4a_7c15
        line.put(hexadecimal: key)
        line.put(hexadecimal: key ^ key >> 31 &+ point)
        return key
    }

    mutating func putZoneID(_ index: Int) {
        line.put("sar:")
        line.put(Phrases.towns, world.zones[index].town)
        line.put("_")
        line.put(number: index)
    }
}
