import DiarioCore

// What visitors do with pins and places, and designers with their plans.
extension WorkloadGenerator {
    mutating func putMapsStep() {
        switch random.below(1000) {
        case 0..<3: putMap()
        case 3..<45: putPlace()
        case 45..<140: putChangedPlace()
        case 140..<145: putChangedMap()
        case 145..<295: putPin()
        case 295..<350: putReplacedPin()
        case 350..<450: putMovedPin()
        case 450..<550: putRemovedPin()
        case 550..<560: putClearedPins()
        case 560..<830: putVisit()
        case 830..<920: putFavourite()
        default: putLocation()
        }
    }

    private mutating func begin(
        _ type: StaticString,
        _ field: StaticString,
        _ subject: Subject
    ) {
        line.put(type)
        line.put("\",\"payload\":{\"")
        line.put(field)
        line.put("\":\"")
        putID(subject, .ulid)
        line.put("\"")
    }

    private mutating func putPoint(_ xMpx: Int, _ yMpx: Int) {
        line.put(",\"xMpx\":")
        line.put(number: xMpx)
        line.put(",\"yMpx\":")
        line.put(number: yMpx)
    }

    /// A place somewhat beside another, still on the map.
    private mutating func point(near xMpx: Int, _ yMpx: Int) -> (xMpx: Int, yMpx: Int) {
        let (dx, dy) = (250 * (random.below(400) - 200), 250 * (random.below(400) - 200))
        return (
            max(0, min(Self.widthMpx, xMpx + dx)), max(0, min(Self.heightMpx, yMpx + dy))
        )
    }

    private mutating func putChangedPlace() {
        let known = replicas[replica].knownPlaces
        guard known > 0 else { return putPlace() }
        // Whoever draws a plan works on what was drawn last.
        let index =
            happens(70) ? known - 1 - min(known - 1, random.below(16)) : favourite(of: known)
        let place = places[index]
        switch random.below(20) {
        case 0..<9:
            begin("maps.place.edited", "placeId", place.subject)
            if happens(50) {
                line.put(",\"title\":\"")
                line.put(Phrases.places, random.below(Phrases.places.count))
                line.put("\"")
            } else {
                line.put(",\"code\":\"B")
                line.put(number: 1 + random.below(90))
                line.put("\"")
            }
        case 9..<16:
            begin("maps.place.moved", "placeId", place.subject)
            let point = point(near: place.xMpx, place.yMpx)
            putPoint(point.xMpx, point.yMpx)
            places[index].xMpx = point.xMpx
            places[index].yMpx = point.yMpx
        case 16..<19:
            begin("maps.place.reshaped", "placeId", place.subject)
            let width = 1000 * (3 + random.below(20))
            putOutline(place.xMpx, place.yMpx, width: width, height: 6000)
        default: begin("maps.place.removed", "placeId", place.subject)
        }
    }

    private mutating func putChangedMap() {
        let map = favourite(of: replicas[replica].knownMaps)
        switch random.below(5) {
        case 0: begin("maps.map.removed", "mapId", maps[map])
        case 1: begin("maps.map.restored", "mapId", maps[map])
        default:
            begin("maps.map.renamed", "mapId", maps[map])
            line.put(",\"name\":\"Fiera ")
            line.put(number: map)
            line.put(" bis\"")
        }
    }

    private mutating func putReplacedPin() {
        guard let pin = replicas[replica].pins.take(&random) else { return putPin() }
        begin("maps.pin.replaced", "oldPinId", pin.subject)
        line.put(",")
        let known = replicas[replica].knownPlaces
        putNewPin(at: known > 0 && happens(30) ? places[favourite(of: known)] : nil)
    }

    private mutating func putMovedPin() {
        guard let pin = replicas[replica].pins.draw(&random) else { return putPin() }
        let known = replicas[replica].knownPlaces
        begin("maps.pin.moved", "pinId", pin.subject)
        if known > 0, random.oneIn(4) {
            let place = places[favourite(of: known)]
            putPoint(place.xMpx, place.yMpx)
            line.put(",\"snappedPlaceId\":\"")
            putID(place.subject, .ulid)
            line.put("\"")
        } else {
            let point = point(near: pin.xMpx, pin.yMpx)
            putPoint(point.xMpx, point.yMpx)
        }
    }

    private mutating func putRemovedPin() {
        guard let pin = replicas[replica].pins.take(&random) else { return putPin() }
        begin("maps.pin.removed", "pinId", pin.subject)
    }

    private mutating func putClearedPins() {
        guard let pin = replicas[replica].pins.draw(&random) else { return putPin() }
        replicas[replica].pins.removeAll()
        begin("maps.pins.cleared", "mapId", maps[pin.map])
        if happens(30) { line.put(",\"via\":\"tap\"") }
    }

    private mutating func putFavourite() {
        let known = replicas[replica].knownPlaces
        guard known > 0 else { return putPlace() }
        if happens(30), let index = replicas[replica].favourites.take(&random) {
            begin("maps.favourite.removed", "refId", places[index].subject)
        } else {
            let index = favourite(of: known)
            replicas[replica].favourites.append(index)
            begin("maps.favourite.added", "refId", places[index].subject)
        }
        line.put(",\"refKind\":\"place\"")
    }

    /// Somebody says that they stand at this place.
    private mutating func putLocation() {
        let known = replicas[replica].knownPlaces
        guard known > 0 else { return putPlace() }
        let place = places[favourite(of: known)]
        begin("maps.location.declared", "mapId", maps[place.map])
        line.put(",\"placeId\":\"")
        putID(place.subject, .ulid)
        line.put("\"")
    }
}
