/// A column of a file of reports: schema/fish/README.md, "Files of reports".
package enum ReportColumn: String, CaseIterable, Sendable {
    // Those of the old app, in its order.
    case idFish = "id_fish"
    case fishName = "fish_name"
    case detectedSize, eligibilitySize, eligibilityDate, origin, production, townReport
    // What an import takes besides.
    case unit, reportId, observedOn, speciesId, placeId, sigmaUm, method, referenceId, minSizeUm
    case minSizeKind, seasonMask, zoneId, isBorderline, boughtOn, boughtPlaceId
    // What only an export tells.
    case sizeResult, dateResult, applicability, remeasuredUm, assessmentId, nameSci, source
    case status, review

    /// Those of the old app.
    package static var old: [ReportColumn] { Array(allCases[...7]) }

    /// True if an import takes it.
    package var isTaken: Bool { sizeMax > 0 }

    /// The name of its field in a command.
    var fieldName: String {
        switch self {
        case .idFish: "idFish"
        case .fishName: "fishName"
        default: rawValue
        }
    }

    /// The most characters that the command `report.import` takes; 0 if it takes none.
    var sizeMax: Int {
        switch self {
        case .eligibilitySize, .eligibilityDate, .unit, .isBorderline: 10
        case .observedOn, .boughtOn, .sigmaUm, .minSizeUm, .minSizeKind, .seasonMask, .method: 20
        case .idFish, .detectedSize, .zoneId: 40
        case .reportId, .speciesId, .placeId, .referenceId, .boughtPlaceId: 64
        case .fishName, .origin, .production: 80
        case .townReport: 160
        case .sizeResult, .dateResult, .applicability, .remeasuredUm, .assessmentId, .nameSci,
            .source, .status, .review:
            0
        }
    }
}
