import DiarioCore
import DiarioSchema

// Reports of files: schema/fish/README.md.

enum ImportRules {
    /// Takes the rows that can be taken, each once, and says why the others cannot.
    static func take(
        _ input: Fish.ReportImport,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.ReportImport.Result> {
        var reading = RowReading(input, space)
        var taken: [(Fish.Recorded.ReportFiled, ordinal: Int64, Fish.ImportedRow)] = []
        var refused: [Fish.RefusedRow] = []
        var known: Int64 = 0
        for row in input.rows {
            do throws(BrokenRule) {
                guard let key = try reading.newKey(of: row) else {
                    known += 1
                    continue
                }
                taken.append((try reading.report(row, key), key.ordinal, row))
                reading.note(row, key)
            } catch {
                refused.append(
                    Fish.RefusedRow(
                        line: row.line,
                        rule: error.rule,
                        field: error.field,
                        value: error.value,
                        message: error.message[space.language]
                    )
                )
            }
        }
        var outcome = Outcome(
            Fish.ReportImport.Result(
                imported: Int64(taken.count),
                known: known,
                refused: refused
            )
        )
        for (report, ordinal, row) in taken {
            outcome.record(report)
            outcome.record(
                Fish.Recorded.ReportImported(
                    reportId: report.reportId ?? "",
                    importId: input.importId,
                    rowSha256: row.rowSha256,
                    observedOn: report.observedOn,
                    ordinal: ordinal,
                    line: row.line,
                    idFish: row.idFish,
                    fishName: row.fishName,
                    detectedSize: row.detectedSize,
                    eligibilitySize: row.eligibilitySize,
                    eligibilityDate: row.eligibilityDate,
                    origin: row.origin,
                    production: row.production,
                    townReport: row.townReport
                )
            )
        }
        return outcome
    }
}

/// Reads rows as reports, with what was asked of the space for rows before.
private struct RowReading {
    private let space: any CommandSpace
    private let importID: String
    private let unit: Fish.Unit
    private let day: CivilDay
    private let isMore: Bool
    private var catalogue: OldCatalogue
    private var knownSpecies: [String] = []
    private var knownPlaces: [String] = []
    private var knownReferences: [String] = []
    /// Of rows that were taken in this call.
    private var keys: [(sha256: [UInt8], Key)] = []
    private var ids: [String] = []

    /// What a row is known by, besides its content.
    struct Key {
        let day: CivilDay
        let ordinal: Int64
    }

    init(_ input: Fish.ReportImport, _ space: any CommandSpace) {
        self.space = space
        importID = input.importId
        unit = OldAppRules.unit(input.unit)
        day = input.on ?? Fish.today(space)
        isMore = input.more ?? false
        catalogue = OldCatalogue(space)
    }

    /// What the row is recorded under; nil if it was imported before, or if its report is here
    /// under the id that it names.
    func newKey(of row: Fish.ImportedRow) throws(BrokenRule) -> Key? {
        let day = try Self.day(row.observedOn, "observedOn") ?? day
        if let id = row.reportId {
            // Such a row tells itself which report it is.
            if keys.contains(where: { $0.sha256 == row.rowSha256 }) { return nil }
            if ids.contains(where: { $0.hasBytes(of: id) }) {
                throw Fish.Rule.idTaken("reportId", id)
            }
            guard space.report(reportId: id).isEmpty else { return nil }
        }
        return isMore ? nextKey(of: row, on: day) : key(of: row, on: day)
    }

    /// That of the row by its ordinal in its file; nil if there is such a row.
    private func key(of row: Fish.ImportedRow, on day: CivilDay) -> Key? {
        let ordinal = row.ordinal ?? 1
        let isTaken = keys.contains { sha256, key in
            key.ordinal == ordinal && key.day == day && sha256 == row.rowSha256
        }
        let isKnown =
            isTaken
            || !space.importedRow(row: row.rowSha256, day: day, ordinal: ordinal).isEmpty
        return isKnown ? nil : Key(day: day, ordinal: ordinal)
    }

    /// The one after all equal rows of that day; nil if this line of this file was taken.
    private func nextKey(of row: Fish.ImportedRow, on day: CivilDay) -> Key? {
        let isKnown = space.importedLine(importId: importID, line: row.line).contains {
            $0.rowSha256 == row.rowSha256 && $0.observedOn == day
        }
        guard !isKnown else { return nil }
        let last = space.importedRow(row: row.rowSha256, day: day).first?.ordinal ?? 0
        let count = keys.count { sha256, key in key.day == day && sha256 == row.rowSha256 }
        let (next, isTooMuch) = last.addingReportingOverflow(Int64(count) + 1)
        return Key(day: day, ordinal: isTooMuch ? .max : next)
    }

    mutating func note(_ row: Fish.ImportedRow, _ key: Key) {
        keys.append((row.rowSha256, key))
        if let id = row.reportId { ids.append(id) }
    }

    mutating func report(
        _ row: Fish.ImportedRow,
        _ key: Key
    ) throws(BrokenRule) -> Fish.Recorded.ReportFiled {
        let day = try Fish.credible(key.day, field: "observedOn", space)
        let species = try species(row, on: day)
        let length = try OldText.length(row.detectedSize, in: try lengthUnit(row.unit))
        let size = try OldText.truth(row.eligibilitySize, "eligibilitySize")
        let date = try OldText.truth(row.eligibilityDate, "eligibilityDate")
        let origin = try OldText.origin(row.origin)
        let production = try OldText.production(row.production)
        let place = try place(row)
        let sigma = try Self.number(row.sigmaUm, "sigmaUm", in: 0...5_000_000)
        let rule = try rule(row, of: species, on: day)
        guard let month = Month(day.month) else { preconditionFailure("a day has a month") }
        let verdict = Verdict(lengthUm: length, sigmaUm: sigma, rule: rule, month: month)
        guard verdict.eligibilitySize == size else {
            throw Fish.Rule.answers("eligibilitySize", row.eligibilitySize)
        }
        guard verdict.eligibilityDate == date else {
            throw Fish.Rule.answers("eligibilityDate", row.eligibilityDate)
        }
        let method = Fish.ReportMethod(rawValue: row.method ?? "unknown")
        guard let method else { throw Fish.Rule.number("method", row.method) }
        if let reference = row.referenceId { try check(reference: reference) }
        if let place = row.boughtPlaceId { try check(place: place, "boughtPlaceId") }
        let applicability = Fish.Applicability(origin: origin, production: production)
        return Fish.Recorded.ReportFiled(
            reportId: row.reportId ?? Self.id(row.rowSha256, key),
            speciesId: species,
            placeId: place,
            observedOn: day,
            lengthUm: length,
            sigmaUm: sigma,
            method: method,
            referenceId: row.referenceId,
            minSizeUm: rule.minimum.lengthUm,
            minSizeKind: Fish.RecordedMinSizeKind(rawValue: rule.minimum.kind) ?? .unknown,
            seasonMask: Int64(rule.season.mask),
            zoneId: try Self.zone(row),
            sizeResult: Fish.RecordedSizeResult(rawValue: verdict.size.rawValue) ?? .unknown,
            isBorderline: try row.isBorderline.map { (text) throws(BrokenRule) in
                try OldText.truth(text, "isBorderline")
            } ?? verdict.isBorderline,
            dateResult: verdict.date,
            applicability: applicability,
            origin: .init(origin),
            production: production,
            source: .import,
            boughtOn: try Self.day(row.boughtOn, "boughtOn").map { (day) throws(BrokenRule) in
                try Fish.credible(day, field: "boughtOn", space)
            },
            boughtPlaceId: row.boughtPlaceId
        )
    }

    /// The same row has the same id wherever it is imported.
    private static func id(_ sha256: [UInt8], _ key: Key) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text = Array("import-".utf8)
        for byte in sha256.prefix(12) {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 0xf)])
        }
        let day = key.day.text.utf8.filter { $0 != 0x2d }
        text += [0x2d] + day + [0x2d] + Array("\(key.ordinal)".utf8)
        return String(decoding: text, as: UTF8.self)
    }

    // MARK: The catalogue

    private mutating func species(
        _ row: Fish.ImportedRow,
        on day: CivilDay
    ) throws(BrokenRule) -> String {
        guard let id = row.speciesId else {
            return try catalogue.species(row.idFish, row.fishName, on: day)
        }
        if knownSpecies.contains(where: { $0.hasBytes(of: id) }) { return id }
        guard !space.species(speciesId: id).isEmpty else {
            let known = catalogue.known(on: day).map { $0.speciesId }
            throw Fish.Rule.unknownSpecies("speciesId", id, values: Fish.list(known))
        }
        knownSpecies.append(id)
        return id
    }

    private mutating func place(_ row: Fish.ImportedRow) throws(BrokenRule) -> String {
        guard let id = row.placeId else {
            guard let town = row.townReport else { throw Fish.Rule.required("townReport") }
            return try catalogue.place(town)
        }
        if knownPlaces.contains(where: { $0.hasBytes(of: id) }) { return id }
        guard let place = space.places(placeId: id).first else {
            throw Fish.unknownPlace("placeId", id, in: space)
        }
        guard place.isLeaf, place.parentId != nil else {
            throw Fish.Rule.municipality("placeId", id)
        }
        knownPlaces.append(id)
        return id
    }

    private func check(place id: String, _ field: String) throws(BrokenRule) {
        guard !space.places(placeId: id).isEmpty else {
            throw Fish.unknownPlace(field, id, in: space)
        }
    }

    private mutating func check(reference id: String) throws(BrokenRule) {
        if knownReferences.contains(where: { $0.hasBytes(of: id) }) { return }
        _ = try Fish.reference(id, field: "referenceId", in: space)
        knownReferences.append(id)
    }

    /// What the row was judged by, or if it does not say so, the catalogue of its day.
    private func rule(
        _ row: Fish.ImportedRow,
        of species: String,
        on day: CivilDay
    ) throws(BrokenRule) -> SpeciesRule {
        guard let kind = row.minSizeKind, let mask = row.seasonMask else {
            let zone = try Self.zone(row)
            return try Fish.species(species, on: day, zone: zone, in: space).rule
        }
        let least = try Self.number(row.minSizeUm, "minSizeUm", in: Fish.Unit.range)
        guard let minimum = MinimumSize(kind: kind, lengthUm: least) else {
            throw Fish.Rule.minimumSize("minSizeKind", kind)
        }
        guard let number = try Self.number(mask, "seasonMask", in: 0...4095),
            let season = Season(mask: Int(clamping: number))
        else { throw Fish.Rule.number("seasonMask", mask) }
        return SpeciesRule(speciesID: species, minimum: minimum, season: season)
    }

    // MARK: Texts

    private func lengthUnit(_ text: String?) throws(BrokenRule) -> Fish.Unit {
        guard let text else { return unit }
        guard let unit = Fish.Unit(rawValue: text) else {
            throw Fish.Rule.number("unit", text)
        }
        return unit
    }

    private static func zone(_ row: Fish.ImportedRow) throws(BrokenRule) -> String {
        guard let zone = row.zoneId else { return Fish.everywhere }
        let bytes = Array(zone.utf8)
        let isName =
            bytes.first.map { 0x61...0x7a ~= $0 } == true && bytes.last != 0x5f
            && bytes.allSatisfy { 0x61...0x7a ~= $0 || 0x30...0x39 ~= $0 || $0 == 0x5f }
            && !zip(bytes, bytes.dropFirst()).contains { $0 == 0x5f && $1 == 0x5f }
        guard isName || zone.hasBytes(of: Fish.everywhere) else {
            throw Fish.Rule.number("zoneId", zone)
        }
        return zone
    }

    private static func day(
        _ text: String?,
        _ field: String
    ) throws(BrokenRule) -> CivilDay? {
        guard let text else { return nil }
        guard let day = CivilDay(text: text) else { throw Fish.Rule.day(field, text) }
        return day
    }

    private static func number(
        _ text: String?,
        _ field: String,
        in range: ClosedRange<Int64>
    ) throws(BrokenRule) -> Int64? {
        guard let text else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            throw Fish.Rule.number(field, text)
        }
        return number
    }
}
