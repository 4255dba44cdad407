import Testing

/// Amendments of one report, by two devices that are apart.
@Suite struct FishAmendmentTests {
    /// A field that can be amended.
    private struct Field {
        let name: String
        /// Fields of the event, for the first and for the second device.
        let values: [String]
    }

    private static let fields = [
        Field(name: "species", values: [#""speciesId":"acciuga""#, #""speciesId":"sogliola""#]),
        Field(name: "place", values: [#""placeId":"albinia""#, #""placeId":"giannella""#]),
        Field(name: "day", values: [#""observedOn":"2026-05-20""#, #""observedOn":"2026-02-01""#]),
        Field(
            name: "length",
            values: [
                #""lengthUm":100000"#,
                #""lengthUm":110500,"sigmaUm":300,"method":"views","referenceId":"eur2""#,
            ]
        ), Field(name: "origin", values: [#""origin":"other""#, #""origin":"mediterranean""#]),
        Field(name: "production", values: [#""production":"farmed""#, #""production":"unknown""#]),
        Field(name: "bought", values: [#""boughtOn":"2026-01-30""#, #""boughtOn":"2026-01-31""#]),
        Field(
            name: "boughtPlace",
            values: [#""boughtPlaceId":"orbetello""#, #""boughtPlaceId":"talamone""#]
        ),
    ]

    /// What the catalogue says of the species: the minimum, and the closed months.
    private static let rules: [String: (minimum: Int, closed: ClosedRange<Int>)] = [
        "sardina": (110_000, 5...9), "acciuga": (90_000, 4...11), "sogliola": (200_000, 1...4),
    ]

    /// The answers, by hand: nothing here is shared with the tables.
    private static func row(_ kinds: [(field: String, device: Int)]) -> String {
        var (species, place, day, month) = ("sardina", "talamone", "2026-04-18", 4)
        var (length, isClose, method) = (110_000, false, "ruler -")
        var (isOther, isFarmed, production) = (false, false, "wild_fresh")
        var (bought, boughtPlace) = ("-", "-")
        for (field, device) in kinds {
            let isFirst = device == 0
            switch field {
            case "species": species = isFirst ? "acciuga" : "sogliola"
            case "place": place = isFirst ? "albinia" : "giannella"
            case "day": (day, month) = isFirst ? ("2026-05-20", 5) : ("2026-02-01", 2)
            case "length":
                length = isFirst ? 100_000 : 110_500
                method = isFirst ? "ruler -" : "views eur2"
                isClose = !isFirst
            case "origin": isOther = isFirst
            case "production":
                isFarmed = isFirst
                production = isFirst ? "farmed" : "unknown"
            case "bought": bought = isFirst ? "2026-01-30" : "2026-01-31"
            default: boughtPlace = isFirst ? "orbetello" : "talamone"
            }
        }
        guard let rule = rules[species] else { return "" }
        let size = length >= rule.minimum ? "ok" : "undersize"
        let date = rule.closed.contains(month) ? "reproducing" : "in_season"
        let isBorderline = isClose && (length - rule.minimum).magnitude <= 600
        let applies = isFarmed ? "informative" : isOther ? "size_only" : "full"
        return "counted \(species) \(place) \(day) \(length) \(method) \(rule.minimum) "
            + "\(size) \(isBorderline ? 1 : 0) \(date) \(applies) "
            + "\(isOther ? "other" : "mediterranean") \(production) \(bought) \(boughtPlace)"
    }

    /// All pairs, each of a report of its own.
    @Test(arguments: FishMergeTests.Order.allCases)
    func anyTwoAmendmentsFit(order: FishMergeTests.Order) throws {
        let pairs = Self.fields.flatMap { first in Self.fields.map { (first, $0) } }
        let ids = pairs.map { "\($0.0.name)-\($0.1.name)" }
        func amended(_ device: Int, _ id: String, _ fields: String) -> FishMergeTests.Step {
            .init(device, "report.amended", #"{"reportId":"\#(id)",\#(fields)}"#)
        }
        let example = FishMergeTests.Case(
            testDescription: "pairs of amendments",
            shared: ids.map { FishMergeTests.filed(0, $0, of: $0) },
            apart: zip(ids, pairs).flatMap { id, pair in
                [amended(0, id, pair.0.values[0]), amended(1, id, pair.1.values[1])]
            },
            question: """
                SELECT reportId, status, speciesId, placeId, observedOn, lengthUm, method,
                    referenceId, minSizeUm, sizeResult, isBorderline, dateResult, applicability,
                    origin, production, boughtOn, boughtPlaceId
                FROM report
                """,
            rows: zip(ids, pairs).map { id, pair in
                "\(id) \(Self.row([(pair.0.name, 0), (pair.1.name, 1)]))"
            }
        )
        let rows = try FishMergeTests.rows(of: example, order)
        #expect(rows.sorted() == example.rows.sorted())
    }
}
