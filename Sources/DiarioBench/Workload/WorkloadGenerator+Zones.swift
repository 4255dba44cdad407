import DiarioCore

// What people do while a zone is on the map: they look at points, and write down what they see.
extension WorkloadGenerator {
    mutating func putZones() {
        // A zone is in the catalogue before anybody can open it.
        let zone = world.zoneRanks.draw(&random)
        if putZoneStep() { return }
        if isZoneKnown[zone], !random.oneIn(100) { return putOpened(zone) }
        if isZoneKnown[zone], random.oneIn(8) {
            // The server offers a zone no longer, until it is catalogued again.
            isZoneKnown[zone] = false
            begin("zones.zone.withdrawn", "zoneId", zoneID(zone))
        } else {
            putCatalogued(zone)
        }
    }

    private func zoneID(_ index: Int) -> Subject {
        Subject(id: "sar:\(Phrases.towns[world.zones[index].town])_\(index)")
    }

    private func pointKey(_ zone: Int, _ point: Int) -> UInt64 {
        (world.zones[zone].pointKey &+ UInt64(point)) &* 0x9e37_79b9_7f4a_7c15
    }

    private func pointID(_ zone: Int, _ point: Int) -> Subject {
        let key = pointKey(zone, point)
        return Subject(id: hexadecimal(key) + hexadecimal(key ^ key >> 31 &+ UInt64(point)))
    }

    private mutating func putCatalogued(_ index: Int) {
        isZoneKnown[index] = true
        let zone = world.zones[index]
        begin("zones.zone.catalogued", "zoneId", zoneID(index))
        put(#","title":"Zone \#(index)","minLatDeg":\#(decimal(zone.latE6, digits: 6)),"#)
        put(#""minLonDeg":\#(decimal(zone.lonE6, digits: 6)),"#)
        put(#""maxLatDeg":\#(decimal(zone.latE6 + 80_000, digits: 6)),"#)
        put(#""maxLonDeg":\#(decimal(zone.lonE6 + 120_000, digits: 6)),"#)
        put(#""featureCount":\#(1000 * (1 + random.below(600)))"#)
        if random.oneIn(2) { put(#","satellite":"COSMO-SkyMed","band":"x""#) }
        put(#","checkedAt":"\#(date)T03:00:00.000Z""#)
    }

    private mutating func putOpened(_ index: Int) {
        begin("zones.zone.opened", "zoneId", zoneID(index))
        let way = random.below(9)
        switch way {
        case 0, 1, 2: put(#","via":"gps""#)
        case 3, 4: put(#","via":"search""#)
        case 5: put(#","via":"link""#)
        case 6, 7: put(#","via":"favourites_menu""#)
        default: put(#","via":"zones_menu""#)
        }
        if let last = replicas[replica].lastZone, last != index {
            put(#","previousZoneId":"\#(zoneID(last).id)""#)
        }
        replicas[replica].lastZone = index
        replicas[replica].hasOpenZone = true
        let zone = world.zones[index]
        if way < 3 {
            put(#","latE7":\#(10 * (zone.latE6 + random.below(80_000)))"#)
            put(#","lonE7":\#(10 * (zone.lonE6 + random.below(120_000)))"#)
            put(#","accuracyMm":\#(1000 * (3 + random.below(60)))"#)
        } else if way < 5 {
            put(#","query":"\#(Phrases.towns[zone.town])""#)
        }
    }

    /// The next step if a zone is open; false if one has to be opened first.
    private mutating func putZoneStep() -> Bool {
        guard replicas[replica].hasOpenZone, let zone = replicas[replica].lastZone else {
            return false
        }
        if let point = replicas[replica].openPoint {
            putPointStep(zone, point)
            return true
        }
        switch random.below(100) {
        case 0..<52: putInspected(zone)
        case 52..<78:
            replicas[replica].hasOpenZone = false
            begin("zones.zone.closed", "zoneId", zoneID(zone))
            put(#","dwellMs":\#(100 * (20 + min(random.below(9000), random.below(9000))))"#)
        case 78..<84:
            let type = happens(70) ? "zones.zone.bookmarked" : "zones.zone.unbookmarked"
            begin(type, "zoneId", zoneID(zone))
        case 84..<90: putFilter()
        case 90..<95: putMapSetting()
        case 95..<97:
            guard let pinned = replicas[replica].pinnedPoints.take(&random) else {
                putInspected(zone)
                return true
            }
            begin("zones.point.unpinned", "pointKey", pointID(pinned.zone, pinned.point))
        default: putRule(zone)
        }
        return true
    }

    // MARK: Points

    private mutating func putPointStep(_ zone: Int, _ point: Int) {
        switch random.below(100) {
        case 0..<42:
            replicas[replica].openPoint = nil
            begin("zones.point.dismissed", "pointKey", pointID(zone, point))
            put(#","dwellMs":\#(100 * (4 + min(random.below(900), random.below(900))))"#)
        case 42..<62:
            begin("zones.point.series.viewed", "pointKey", pointID(zone, point))
            put(happens(70) ? #","rangeMode":"auto""# : #","rangeMode":"fixed""#)
        case 62..<91: putNote(at: zone, point)
        default:
            replicas[replica].pinnedPoints.append((zone, point))
            begin("zones.point.pinned", "zoneId", zoneID(zone))
            put(#","pointKey":"\#(pointID(zone, point).id)""#)
            if happens(80) { putNote("label", phraseCountMax: 2) }
        }
    }

    /// A new note, or another wording of one.
    private mutating func putNote(at zone: Int, _ point: Int) {
        begin("zones.point.annotated")
        if happens(25), let note = replicas[replica].notes.take(&random) {
            put(#""noteId":"\#(note.subject.id)","#)
            putZonePoint(note.zone, note.point, note.subject)
        } else {
            putZonePoint(zone, point, putNewID("noteId"))
        }
    }

    /// The fields of a note, but for its id.
    private mutating func putZonePoint(_ zone: Int, _ point: Int, _ subject: Subject) {
        replicas[replica].notes.append((subject, zone, point))
        put(#""zoneId":"\#(zoneID(zone).id)","pointKey":"\#(pointID(zone, point).id)""#)
        if happens(80) {
            // A point has the velocity it has, and each reading of it says the same.
            let key = pointKey(zone, point)
            let velocity = decimal(Int(key >> 44 & 0x3fff) - 8192, digits: 3)
            let coherence = decimal(400 + Int(key >> 32 & 511), digits: 3)
            put(#","velocityMmPerYear":\#(velocity),"coherence":\#(coherence)"#)
        }
        if happens(95) { putNote("text") }
    }

    private mutating func putInspected(_ index: Int) {
        let point = world.pointRanks.draw(&random)
        replicas[replica].openPoint = point
        begin("zones.point.inspected", "zoneId", zoneID(index))
        put(#","pointKey":"\#(pointID(index, point).id)""#)
        guard happens(70) else { return }
        // A finger hits within some metres of the point.
        let (zone, key) = (world.zones[index], pointKey(index, point))
        let latE6 = zone.latE6 + Int(key >> 20 & 0xffff) + random.below(60)
        let lonE6 = zone.lonE6 + Int(key >> 40 & 0xffff) + random.below(60)
        put(#","tapLatDeg":\#(decimal(latE6, digits: 6))"#)
        put(#","tapLonDeg":\#(decimal(lonE6, digits: 6))"#)
        put(#","distanceM":\#(decimal(1 + random.below(60), digits: 1))"#)
    }

    // MARK: Settings and rules

    private mutating func putFilter() {
        begin("zones.filter.changed")
        put(#""minCoherence":\#(decimal(5 * random.below(20), digits: 2)),"#)
        switch random.below(3) {
        case 0: put(#""classes":[0,1,5,6]"#)
        case 1: put(#""classes":[0,1]"#)
        default: put(#""classes":[0,1,2,3,4,5,6]"#)
        }
    }

    private mutating func putMapSetting() {
        let way = random.below(8)
        begin(way < 4 ? "zones.map.style.changed" : "zones.map.mode.changed")
        switch way {
        case 0, 1: put(#""style":"satellite""#)
        case 2, 3: put(#""style":"standard""#)
        case 4, 5: put(#""mode":"automatic","cause":"gps_button""#)
        default: put(#""mode":"manual","cause":"zones_menu_opened""#)
        }
    }

    private mutating func putRule(_ zone: Int) {
        if happens(40), let rule = replicas[replica].rules.take(&random) {
            return begin("zones.alert.rule.cleared", "ruleId", rule)
        }
        begin("zones.alert.rule.set")
        if happens(30), let rule = replicas[replica].rules.draw(&random) {
            put(#""ruleId":"\#(rule.id)","#)
        } else {
            replicas[replica].rules.append(putNewID("ruleId"))
        }
        put(#""zoneId":"\#(zoneID(zone).id)","metric":"velocity","op":"below","#)
        put(#""value":\#(-random.below(20)),"unit":"mm_per_year""#)
    }
}
