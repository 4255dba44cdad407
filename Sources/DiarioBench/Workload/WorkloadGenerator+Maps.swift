import DiarioCore

// What visitors do with pins and places, and designers with their plans.
extension WorkloadGenerator {
    private static let widthMpx = 4_000_000
    private static let heightMpx = 3_000_000

    private typealias Point = (xMpx: Int, yMpx: Int)

    private var knownPlaces: Int { replicas[replica].knownPlaces }

    mutating func putMaps() {
        guard replicas[replica].knownMaps > 0 else { return putMap() }
        switch random.below(1000) {
        case 0..<3: putMap()
        case 3..<45: putPlace()
        case 45..<140: putChangedPlace()
        case 140..<145: putChangedMap()
        case 145..<295: putPin()
        case 295..<350: putReplacedPin()
        case 350..<450: putMovedPin()
        case 450..<550:
            guard let pin = replicas[replica].pins.take(&random) else { return putPin() }
            begin("maps.pin.removed", "pinId", pin.subject)
        case 550..<560: putClearedPins()
        case 560..<830: putVisit()
        case 830..<920: putFavourite()
        default: putLocation()
        }
    }

    private mutating func putMap() {
        begin("maps.map.created")
        maps.append(putNewID("mapId"))
        let latE7 = 360_000_000 + random.below(280_000_000)
        let lonE7 = random.below(360_000_000) - 180_000_000
        put(#""name":"Fiera \#(maps.count)","widthMpx":\#(Self.widthMpx),"#)
        put(#""heightMpx":\#(Self.heightMpx),"topLatE7":\#(latE7 + 20_000),"#)
        put(#""leftLonE7":\#(lonE7),"bottomLatE7":\#(latE7),"rightLonE7":\#(lonE7 + 40_000)"#)
        // Its maker knows it at once.
        replicas[replica].knownMaps = maps.count
    }

    private mutating func putChangedMap() {
        let map = favourite(of: replicas[replica].knownMaps)
        switch random.below(5) {
        case 0: begin("maps.map.removed", "mapId", maps[map])
        case 1: begin("maps.map.restored", "mapId", maps[map])
        default:
            begin("maps.map.renamed", "mapId", maps[map])
            put(#","name":"Fiera \#(map) bis""#)
        }
    }

    // MARK: Places

    private mutating func putPlace() {
        let map = favourite(of: replicas[replica].knownMaps)
        begin("maps.place.added")
        let subject = putNewID("placeId")
        put(#""mapId":"\#(maps[map].id)","kind":"#)
        switch random.below(4) {
        case 0: put("\"poi\"")
        case 1: put("\"pavilion\"")
        default: put(#""stand","code":"B\#(1 + random.below(90))""#)
        }
        put(#","title":"\#(any(Phrases.places))""#)
        let point = anyPoint()
        put(point)
        if random.oneIn(4) { putOutline(point, width: 9000) }
        places.append(Place(subject: subject, map: map, xMpx: point.xMpx, yMpx: point.yMpx))
        replicas[replica].knownPlaces = places.count
    }

    private mutating func putChangedPlace() {
        let known = knownPlaces
        guard known > 0 else { return putPlace() }
        // Whoever draws a plan works on what was drawn last.
        let index =
            happens(70) ? known - 1 - min(known - 1, random.below(16)) : favourite(of: known)
        let place = places[index]
        switch random.below(20) {
        case 0..<9:
            begin("maps.place.edited", "placeId", place.subject)
            if happens(50) {
                put(#","title":"\#(any(Phrases.places))""#)
            } else {
                put(#","code":"B\#(1 + random.below(90))""#)
            }
        case 9..<16:
            begin("maps.place.moved", "placeId", place.subject)
            let point = point(near: (place.xMpx, place.yMpx))
            put(point)
            places[index].xMpx = point.xMpx
            places[index].yMpx = point.yMpx
        case 16..<19:
            begin("maps.place.reshaped", "placeId", place.subject)
            putOutline((place.xMpx, place.yMpx), width: 1000 * (3 + random.below(20)))
        default: begin("maps.place.removed", "placeId", place.subject)
        }
    }

    private mutating func putVisit() {
        guard knownPlaces > 0 else { return putPlace() }
        begin("maps.visit.noted", "placeId", places[favourite(of: knownPlaces)].subject)
        put(#","day":"\#(date)""#)
        if happens(70) { put(#","rating":\#(1 + random.below(5))"#) }
        if happens(15) { put(#","contact":"\#(any(Phrases.people))""#) }
        if happens(80) { putNote("note") }
    }

    private mutating func putFavourite() {
        guard knownPlaces > 0 else { return putPlace() }
        if happens(30), let index = replicas[replica].favourites.take(&random) {
            begin("maps.favourite.removed", "refId", places[index].subject)
        } else {
            let index = favourite(of: knownPlaces)
            replicas[replica].favourites.append(index)
            begin("maps.favourite.added", "refId", places[index].subject)
        }
        put(#","refKind":"place""#)
    }

    /// Somebody says that they are at this place.
    private mutating func putLocation() {
        guard knownPlaces > 0 else { return putPlace() }
        let place = places[favourite(of: knownPlaces)]
        begin("maps.location.declared", "mapId", maps[place.map])
        put(#","placeId":"\#(place.subject.id)""#)
    }

    // MARK: Pins

    private mutating func putPin() {
        begin("maps.pin.placed")
        putNewPin(at: knownPlaces > 0 && happens(40) ? places[favourite(of: knownPlaces)] : nil)
    }

    /// The fields of a new pin, at a place or anywhere.
    private mutating func putNewPin(at place: Place?) {
        let subject = putNewID("pinId")
        if let place {
            keep(Pin(subject: subject, map: place.map, xMpx: place.xMpx, yMpx: place.yMpx))
            put(#""mapId":"\#(maps[place.map].id)""#)
            put((place.xMpx, place.yMpx))
            put(#","placeId":"\#(place.subject.id)","via":"list""#)
        } else {
            let map = favourite(of: replicas[replica].knownMaps)
            put(#""mapId":"\#(maps[map].id)""#)
            let point = anyPoint()
            put(point)
            keep(Pin(subject: subject, map: map, xMpx: point.xMpx, yMpx: point.yMpx))
            switch random.below(4) {
            case 0, 1: put(#","via":"tap""#)
            case 2: put(#","via":"manual""#)
            default: put(#","via":"fix""#)
            }
        }
        if happens(35) { putNote("title", phraseCountMax: 1) }
        if adds(20) { putNote("note") }
    }

    private mutating func putReplacedPin() {
        guard let pin = replicas[replica].pins.take(&random) else { return putPin() }
        begin("maps.pin.replaced", "oldPinId", pin.subject)
        put(",")
        putNewPin(at: knownPlaces > 0 && happens(30) ? places[favourite(of: knownPlaces)] : nil)
    }

    private mutating func putMovedPin() {
        guard let pin = replicas[replica].pins.draw(&random) else { return putPin() }
        begin("maps.pin.moved", "pinId", pin.subject)
        if knownPlaces > 0, random.oneIn(4) {
            let place = places[favourite(of: knownPlaces)]
            put((place.xMpx, place.yMpx))
            put(#","snappedPlaceId":"\#(place.subject.id)""#)
        } else {
            put(point(near: (pin.xMpx, pin.yMpx)))
        }
    }

    private mutating func putClearedPins() {
        guard let pin = replicas[replica].pins.draw(&random) else { return putPin() }
        replicas[replica].pins.removeAll()
        begin("maps.pins.cleared", "mapId", maps[pin.map])
        if happens(30) { put(#","via":"tap""#) }
    }

    private mutating func keep(_ pin: Pin) { replicas[replica].pins.append(pin) }

    // MARK: Points

    private mutating func anyPoint() -> Point {
        (250 * random.below(Self.widthMpx / 250), 250 * random.below(Self.heightMpx / 250))
    }

    /// A point somewhat beside another, still on the map.
    private mutating func point(near point: Point) -> Point {
        let (dx, dy) = (250 * (random.below(400) - 200), 250 * (random.below(400) - 200))
        return (
            max(0, min(Self.widthMpx, point.xMpx + dx)),
            max(0, min(Self.heightMpx, point.yMpx + dy))
        )
    }

    private mutating func put(_ point: Point) {
        put(#","xMpx":\#(point.xMpx),"yMpx":\#(point.yMpx)"#)
    }

    /// Writes the corners of a rectangle.
    private mutating func putOutline(_ point: Point, width: Int) {
        let corners = [(0, 0), (width, 0), (width, 6000), (0, 6000)].map { dx, dy in
            #"{"xMpx":\#(point.xMpx + dx),"yMpx":\#(point.yMpx + dy)}"#
        }
        put(#","outline":[\#(corners.joined(separator: ","))]"#)
    }
}
