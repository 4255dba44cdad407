import DiarioCore

extension WorkloadGenerator {
    static let widthMpx = 4_000_000
    static let heightMpx = 3_000_000

    mutating func putMaps() {
        guard replicas[replica].knownMaps > 0 else { return putMap() }
        guard !options.goesOn else { return putMapsStep() }
        switch random.below(200) {
        case 0: putMap()
        case 1..<17: putPlace()
        case 17..<120: putPin()
        default: putVisit()
        }
    }

    mutating func putMap() {
        line.put("maps.map.created\",\"payload\":{")
        maps.append(putNewID("\"mapId\":\"", .ulid, isMentioned: true))
        line.put("\"name\":\"Fiera ")
        line.put(number: maps.count)
        line.put("\",\"widthMpx\":")
        line.put(number: Self.widthMpx)
        line.put(",\"heightMpx\":")
        line.put(number: Self.heightMpx)
        let latE7 = 360_000_000 + random.below(280_000_000)
        let lonE7 = random.below(360_000_000) - 180_000_000
        line.put(",\"topLatE7\":")
        line.put(number: latE7 + 20_000)
        line.put(",\"leftLonE7\":")
        line.put(number: lonE7)
        line.put(",\"bottomLatE7\":")
        line.put(number: latE7)
        line.put(",\"rightLonE7\":")
        line.put(number: lonE7 + 40_000)
        // Its maker knows it at once.
        replicas[replica].knownMaps = maps.count
    }

    mutating func putPlace() {
        let map = favourite(of: replicas[replica].knownMaps)
        line.put("maps.place.added\",\"payload\":{")
        let subject = putNewID("\"placeId\":\"", .ulid, isMentioned: true)
        line.put("\"mapId\":\"")
        putID(maps[map], .ulid)
        line.put("\",\"kind\":\"")
        switch random.below(4) {
        case 0: line.put("poi\"")
        case 1: line.put("pavilion\"")
        default:
            line.put("stand\",\"code\":\"B")
            line.put(number: 1 + random.below(90))
            line.put("\"")
        }
        line.put(",\"title\":\"")
        line.put(Phrases.places, random.below(Phrases.places.count))
        line.put("\"")
        let (xMpx, yMpx) = putPoint()
        if random.oneIn(4) { putOutline(xMpx, yMpx, width: 9000, height: 6000) }
        places.append(Place(subject: subject, map: map, xMpx: xMpx, yMpx: yMpx))
        replicas[replica].knownPlaces = places.count
    }

    mutating func putPin() {
        line.put("maps.pin.placed\",\"payload\":{")
        let known = replicas[replica].knownPlaces
        let place = known > 0 && happens(40) ? places[favourite(of: known)] : nil
        putNewPin(at: place)
    }

    /// The fields of a new pin, at a place or anywhere.
    mutating func putNewPin(at place: Place?) {
        let subject = putNewID("\"pinId\":\"", .ulid)
        line.put("\"mapId\":\"")
        if let place {
            keep(Pin(subject: subject, map: place.map, xMpx: place.xMpx, yMpx: place.yMpx))
            putID(maps[place.map], .ulid)
            line.put("\",\"xMpx\":")
            line.put(number: place.xMpx)
            line.put(",\"yMpx\":")
            line.put(number: place.yMpx)
            line.put(",\"placeId\":\"")
            putID(place.subject, .ulid)
            line.put("\",\"via\":\"list\"")
        } else {
            let map = favourite(of: replicas[replica].knownMaps)
            putID(maps[map], .ulid)
            line.put("\"")
            let (xMpx, yMpx) = putPoint()
            keep(Pin(subject: subject, map: map, xMpx: xMpx, yMpx: yMpx))
            switch random.below(4) {
            case 0, 1: line.put(",\"via\":\"tap\"")
            case 2: line.put(",\"via\":\"manual\"")
            default: line.put(",\"via\":\"fix\"")
            }
        }
        if happens(35) { putNote(",\"title\":\"", phraseCountMax: 1) }
        if adds(20) { putNote(",\"note\":\"") }
    }

    mutating func putVisit() {
        let known = replicas[replica].knownPlaces
        guard known > 0 else { return putPlace() }
        line.put("maps.visit.noted\",\"payload\":{\"placeId\":\"")
        putID(places[favourite(of: known)].subject, .ulid)
        line.put("\",\"day\":\"")
        putDate()
        line.put("\"")
        if happens(70) {
            line.put(",\"rating\":")
            line.put(number: 1 + random.below(5))
        }
        if happens(15) {
            line.put(",\"contact\":\"")
            line.put(Phrases.people, random.below(Phrases.people.count))
            line.put("\"")
        }
        if happens(80) { putNote(",\"note\":\"") }
    }

    /// Writes a place on a map, after a comma.
    mutating func putPoint() -> (xMpx: Int, yMpx: Int) {
        let xMpx = 250 * random.below(Self.widthMpx / 250)
        let yMpx = 250 * random.below(Self.heightMpx / 250)
        line.put(",\"xMpx\":")
        line.put(number: xMpx)
        line.put(",\"yMpx\":")
        line.put(number: yMpx)
        return (xMpx, yMpx)
    }

    private mutating func keep(_ pin: Pin) {
        if options.goesOn { replicas[replica].pins.append(pin) }
    }

    /// Writes the corners of a rectangle, after a comma.
    mutating func putOutline(_ xMpx: Int, _ yMpx: Int, width: Int, height: Int) {
        line.put(",\"outline\":[")
        let corners = [(0, 0), (width, 0), (width, height), (0, height)]
        for (index, corner) in corners.enumerated() {
            if index > 0 { line.put(",") }
            line.put("{\"xMpx\":")
            line.put(number: xMpx + corner.0)
            line.put(",\"yMpx\":")
            line.put(number: yMpx + corner.1)
            line.put("}")
        }
        line.put("]")
    }
}
