import DiarioCore

// What people do while a zone is on the map: they look at points, and write down what they see.
extension WorkloadGenerator {
    /// The next step if a zone is open; false if one has to be opened first.
    mutating func putZoneStep() -> Bool {
        guard replicas[replica].hasOpenZone, let zone = replicas[replica].lastZone else {
            return false
        }
        if let point = replicas[replica].openPoint {
            putPointStep(zone, point)
            return true
        }
        switch random.below(100) {
        case 0..<52: putInspected(zone)
        case 52..<78: putClosed(zone)
        case 78..<84: putBookmark(zone)
        case 84..<90: putFilter()
        case 90..<95: putMapSetting()
        case 95..<97: putUnpinned(zone)
        default: putRule(zone)
        }
        return true
    }

    /// The server offers a zone no longer, until it is catalogued again.
    mutating func putWithdrawn(_ zone: Int) {
        isZoneKnown[zone] = false
        line.put("zones.zone.withdrawn\",\"payload\":{\"zoneId\":\"")
        putZoneID(zone)
        line.put("\"")
    }

    private mutating func putPointStep(_ zone: Int, _ point: Int) {
        switch random.below(100) {
        case 0..<42:
            replicas[replica].openPoint = nil
            line.put("zones.point.dismissed\",\"payload\":{\"pointKey\":\"")
            putPointKey(zone, point)
            line.put("\",\"dwellMs\":")
            line.put(number: 100 * (4 + min(random.below(900), random.below(900))))
        case 42..<62:
            line.put("zones.point.series.viewed\",\"payload\":{\"pointKey\":\"")
            putPointKey(zone, point)
            line.put(happens(70) ? "\",\"rangeMode\":\"auto\"" : "\",\"rangeMode\":\"fixed\"")
        case 62..<91: putNote(at: zone, point)
        default:
            replicas[replica].pinnedPoints.append((zone, point))
            line.put("zones.point.pinned\",\"payload\":{\"zoneId\":\"")
            putZoneID(zone)
            line.put("\",\"pointKey\":\"")
            putPointKey(zone, point)
            line.put("\"")
            if happens(80) { putNote(",\"label\":\"", phraseCountMax: 2) }
        }
    }

    /// A new note, or another wording of one.
    private mutating func putNote(at zone: Int, _ point: Int) {
        line.put("zones.point.annotated\",\"payload\":{")
        if happens(25), let note = replicas[replica].notes.take(&random) {
            line.put("\"noteId\":\"")
            putID(note.subject, .ulid)
            line.put("\",")
            putZonePoint(note.zone, note.point, note.subject)
        } else {
            let subject = putNewID("\"noteId\":\"", .ulid)
            putZonePoint(zone, point, subject)
        }
    }

    private mutating func putInspected(_ index: Int) {
        let point = world.pointRanks.draw(&random)
        replicas[replica].openPoint = point
        line.put("zones.point.inspected\",\"payload\":{\"zoneId\":\"")
        putZoneID(index)
        line.put("\",\"pointKey\":\"")
        let key = putPointKey(index, point)
        line.put("\"")
        guard happens(70) else { return }
        // A finger hits within some metres of the point.
        let zone = world.zones[index]
        line.put(",\"tapLatDeg\":")
        line.put(scaled: zone.latE6 + Int(key >> 20 & 0xffff) + random.below(60), digits: 6)
        line.put(",\"tapLonDeg\":")
        line.put(scaled: zone.lonE6 + Int(key >> 40 & 0xffff) + random.below(60), digits: 6)
        line.put(",\"distanceM\":")
        line.put(scaled: 1 + random.below(60), digits: 1)
    }

    private mutating func putClosed(_ zone: Int) {
        replicas[replica].hasOpenZone = false
        line.put("zones.zone.closed\",\"payload\":{\"zoneId\":\"")
        putZoneID(zone)
        line.put("\",\"dwellMs\":")
        line.put(number: 100 * (20 + min(random.below(9000), random.below(9000))))
    }

    private mutating func putBookmark(_ zone: Int) {
        if happens(70) {
            line.put("zones.zone.bookmarked\",\"payload\":{\"zoneId\":\"")
        } else {
            line.put("zones.zone.unbookmarked\",\"payload\":{\"zoneId\":\"")
        }
        putZoneID(zone)
        line.put("\"")
    }

    private mutating func putFilter() {
        line.put("zones.filter.changed\",\"payload\":{\"minCoherence\":")
        line.put(scaled: 5 * random.below(20), digits: 2)
        switch random.below(3) {
        case 0: line.put(",\"classes\":[0,1,5,6]")
        case 1: line.put(",\"classes\":[0,1]")
        default: line.put(",\"classes\":[0,1,2,3,4,5,6]")
        }
    }

    private mutating func putMapSetting() {
        switch random.below(8) {
        case 0, 1: line.put("zones.map.style.changed\",\"payload\":{\"style\":\"satellite\"")
        case 2, 3: line.put("zones.map.style.changed\",\"payload\":{\"style\":\"standard\"")
        case 4, 5:
            line.put("zones.map.mode.changed\",\"payload\":{\"mode\":\"automatic\"")
            line.put(",\"cause\":\"gps_button\"")
        default:
            line.put("zones.map.mode.changed\",\"payload\":{\"mode\":\"manual\"")
            line.put(",\"cause\":\"zones_menu_opened\"")
        }
    }

    private mutating func putUnpinned(_ zone: Int) {
        guard let pinned = replicas[replica].pinnedPoints.take(&random) else {
            return putInspected(zone)
        }
        line.put("zones.point.unpinned\",\"payload\":{\"pointKey\":\"")
        putPointKey(pinned.zone, pinned.point)
        line.put("\"")
    }

    private mutating func putRule(_ zone: Int) {
        if happens(40), let rule = replicas[replica].rules.take(&random) {
            line.put("zones.alert.rule.cleared\",\"payload\":{\"ruleId\":\"")
            putID(rule, .ulid)
            return line.put("\"")
        }
        line.put("zones.alert.rule.set\",\"payload\":{")
        if happens(30), let rule = replicas[replica].rules.draw(&random) {
            line.put("\"ruleId\":\"")
            putID(rule, .ulid)
            line.put("\",")
        } else {
            replicas[replica].rules.append(putNewID("\"ruleId\":\"", .ulid))
        }
        line.put("\"zoneId\":\"")
        putZoneID(zone)
        line.put("\",\"metric\":\"velocity\",\"op\":\"below\",\"value\":")
        line.put(number: -random.below(20))
        line.put(",\"unit\":\"mm_per_year\"")
    }
}
