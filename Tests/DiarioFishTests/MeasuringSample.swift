import DiarioFish
import Testing

/// A point in pixels.
func mark(_ x: Double, _ y: Double) throws -> MarkPoint {
    try #require(MarkPoint(Vector(x, y)))
}

func marks(_ points: [(Double, Double)]) throws -> MarkShape {
    .points(try points.map { try mark($0.0, $0.1) })
}

/// The photo of the rectified example, and what is measured and refused on it.
enum MeasuringSample {
    static let photo = PhotoFacts(
        widthPx: 4032,
        heightPx: 3024,
        gravity: Gravity(x: 0, y: -87_156, z: -996_195),
        focalMpx: 3_000_000
    )
    static let rim = [
        (2657.14, 2531.62), (2586.74, 2434.72), (2476.17, 2471.67), (2477.74, 2591.78),
        (2589.89, 2629.07),
    ]
    static let fish = [(2016.00, 2543.08), (2016.00, 529.31)]

    static func measure(
        _ method: Fish.Method,
        fish: MarkShape,
        reference: MarkShape,
        object: ReferenceObject = .eur2,
        photo: PhotoFacts = MeasuringSample.photo,
        height: Int64 = 8000,
        axis: [MarkPoint]? = nil
    ) throws -> Measurement {
        try MeasuringInput(
            method: method,
            fish: fish,
            axis: axis,
            reference: reference,
            object: object,
            photo: photo,
            fishHeightUm: height
        ).measure()
    }

    static func refusal(
        _ method: Fish.Method,
        fish: MarkShape,
        reference: MarkShape,
        object: ReferenceObject = .eur2,
        photo: PhotoFacts = MeasuringSample.photo,
        height: Int64 = 8000
    ) throws -> MeasuringRefusal {
        try #require(throws: MeasuringRefusal.self) {
            try measure(
                method,
                fish: fish,
                reference: reference,
                object: object,
                photo: photo,
                height: height
            )
        }
    }
}
