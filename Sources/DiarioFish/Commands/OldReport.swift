import DiarioCore
import DiarioSchema

// What the old app and its files say, read by the catalogue of a space.

/// A report as the old app has it: every value a text.
struct OldReport {
    var idFish: String?
    var fishName: String?
    var detectedSize: String?
    var eligibilitySize: String?
    var eligibilityDate: String?
    var origin: String?
    var production: String?
    var townReport: String?
}

/// Finds in the catalogue what the old app names.
struct OldCatalogue {
    private let space: any CommandSpace
    private var species: [(day: CivilDay, rows: [Fish.Rows.Species])] = []
    private var places: [Fish.Rows.Places]?

    init(_ space: any CommandSpace) { self.space = space }

    /// The id of the species with a number and a name of the old app.
    ///
    /// One of both is enough. A species without a number has its id in the place of it.
    mutating func species(
        _ number: String?,
        _ name: String?,
        on day: CivilDay
    ) throws(BrokenRule) -> String {
        let rows = known(on: day)
        // A species of a newer catalogue is exported under the number 0.
        let number = number == "0" && name != nil ? nil : number
        guard let number else {
            guard let name else { throw Fish.Rule.required("id_fish") }
            guard let row = rows.first(where: { Self.isNamed($0, name) }) else {
                throw Self.unknownSpecies("fish_name", name, among: rows)
            }
            return row.speciesId
        }
        let row = rows.first { row in
            row.ordinal.map { "\($0)".hasBytes(of: number) }
                ?? row.speciesId.hasBytes(of: number)
        }
        guard let row else { throw Self.unknownSpecies("id_fish", number, among: rows) }
        if let name, !Self.isNamed(row, name) {
            throw Fish.Rule.speciesName("fish_name", name)
        }
        return row.speciesId
    }

    private static func isNamed(_ row: Fish.Rows.Species, _ name: String) -> Bool {
        let key = TextKey.of(name, .search)
        return [row.nameIt, row.nameEn, row.nameSci].contains { known in
            known.map { TextKey.of($0, .search).hasBytes(of: key) } ?? false
        }
    }

    mutating func known(on day: CivilDay) -> [Fish.Rows.Species] {
        if let known = species.first(where: { $0.day == day }) { return known.rows }
        let rows = space.species(day: day)
        species.append((day, rows))
        return rows
    }

    /// The id of the hamlet that a text of the old app names, as `Talamone (Orbetello)`.
    ///
    /// Its name alone is enough, if no other one has it.
    mutating func place(_ town: String) throws(BrokenRule) -> String {
        let key = TextKey.of(town, .search)
        let rows = known()
        let found = rows.filter { row in
            Self.names(of: row).contains { TextKey.of($0, .search).hasBytes(of: key) }
        }
        guard let row = found.first else { throw Self.unknownPlace(town, among: rows) }
        guard row.isLeaf, row.parentId != nil else {
            throw Fish.Rule.municipality("townReport", town)
        }
        guard found.count == 1 else { throw Self.unknownPlace(town, among: rows) }
        return row.placeId
    }

    private static func unknownSpecies(
        _ field: String,
        _ value: String,
        among rows: [Fish.Rows.Species]
    ) -> BrokenRule {
        Fish.Rule.unknownSpecies(field, value, values: Fish.list(rows.map { $0.nameIt }))
    }

    private static func unknownPlace(
        _ town: String,
        among rows: [Fish.Rows.Places]
    ) -> BrokenRule {
        let known = rows.filter { $0.isLeaf }.compactMap { row in
            row.municipality.map { "\(row.name) (\($0))" }
        }
        return Fish.Rule.unknownPlace("townReport", town, values: Fish.list(known))
    }

    private static func names(of row: Fish.Rows.Places) -> [String] {
        let names = [row.name] + (row.aliases ?? [])
        guard let municipality = row.municipality else { return names }
        return names + names.map { "\($0) (\(municipality))" }
    }

    private mutating func known() -> [Fish.Rows.Places] {
        if let places { return places }
        let rows = space.places()
        places = rows
        return rows
    }
}

/// How the texts of the old app are read.
enum OldText {
    static func length(
        _ text: String?,
        in unit: Fish.Unit
    ) throws(BrokenRule) -> Int64 {
        guard let text else { throw Fish.Rule.required("detectedSize") }
        guard let um = unit.um(text) else { throw Fish.Rule.lengthText("detectedSize", text) }
        return um
    }

    /// `1` or `0`, as the old app writes the truth.
    static func truth(_ text: String?, _ field: String) throws(BrokenRule) -> Bool {
        guard let text else { throw Fish.Rule.required(field) }
        let key = TextKey.of(text, .same)
        if key.hasBytes(of: "1") || key.hasBytes(of: "true") { return true }
        if key.hasBytes(of: "0") || key.hasBytes(of: "false") { return false }
        throw Fish.Rule.truth(field, text)
    }

    static func origin(_ text: String?) throws(BrokenRule) -> Fish.Origin {
        guard let text else { throw Fish.Rule.required("origin") }
        guard let origin = Fish.Origin(named: text) else {
            throw Fish.Rule.detailValue("origin", text)
        }
        return origin
    }

    static func production(_ text: String?) throws(BrokenRule) -> Fish.Production {
        guard let text else { throw Fish.Rule.required("production") }
        guard let production = Fish.Production(named: text) else {
            throw Fish.Rule.detailValue("production", text)
        }
        return production
    }
}
