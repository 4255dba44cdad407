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
    private var species: [(day: CivilDay, rows: [CommandRow])] = []
    private var places: [CommandRow]?

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
            guard let name else { throw OldRule.missing.broken("id_fish") }
            guard let row = rows.first(where: { Self.isNamed($0, name) }) else {
                throw OldRule.species.broken("fish_name", name)
            }
            return row.text("speciesId") ?? ""
        }
        let row = rows.first { row in
            row.integer("ordinal").map { "\($0)".hasBytes(of: number) }
                ?? row.text("speciesId")?.hasBytes(of: number) ?? false
        }
        guard let row, let id = row.text("speciesId") else {
            throw OldRule.species.broken("id_fish", number)
        }
        if let name, !Self.isNamed(row, name) {
            throw OldRule.speciesName.broken("fish_name", name)
        }
        return id
    }

    private static func isNamed(_ row: CommandRow, _ name: String) -> Bool {
        let key = TextKey.of(name, .search)
        return ["nameIt", "nameEn", "nameSci"].contains { column in
            row.text(column).map { TextKey.of($0, .search).hasBytes(of: key) } ?? false
        }
    }

    private mutating func known(on day: CivilDay) -> [CommandRow] {
        if let known = species.first(where: { $0.day == day }) { return known.rows }
        let rows = space.rows("species", ["day": .text(day.text)])
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
        guard let row = found.first, let id = row.text("placeId") else {
            throw OldRule.town.broken("townReport", town)
        }
        guard row.isTrue("isLeaf"), row.text("parentId") != nil else {
            throw FishRule.municipality.broken("townReport", town)
        }
        guard found.count == 1 else { throw OldRule.town.broken("townReport", town) }
        return id
    }

    private static func names(of row: CommandRow) -> [String] {
        var names = [row.text("name") ?? ""]
        if let aliases = row.text("aliases"), let list = try? JSON.parse(Array(aliases.utf8)),
            case .array(let items) = list.value
        {
            for item in items { if case .string(let name) = item.value { names.append(name) } }
        }
        guard let municipality = row.text("municipality") else { return names }
        return names + names.map { "\($0) (\(municipality))" }
    }

    private mutating func known() -> [CommandRow] {
        if let places { return places }
        let rows = space.rows("places", [:])
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
        guard let text else { throw OldRule.missing.broken("detectedSize") }
        guard let um = unit.um(text) else { throw OldRule.length.broken("detectedSize", text) }
        return um
    }

    /// `1` or `0`, as the old app writes the truth.
    static func truth(_ text: String?, _ field: String) throws(BrokenRule) -> Bool {
        guard let text else { throw OldRule.missing.broken(field) }
        let key = TextKey.of(text, .same)
        if key.hasBytes(of: "1") || key.hasBytes(of: "true") { return true }
        if key.hasBytes(of: "0") || key.hasBytes(of: "false") { return false }
        throw OldRule.truth.broken(field, text)
    }

    static func origin(_ text: String?) throws(BrokenRule) -> Fish.Origin {
        guard let text else { throw OldRule.missing.broken("origin") }
        guard let origin = Fish.Origin(named: text) else {
            throw OldRule.label.broken("origin", text)
        }
        return origin
    }

    static func production(_ text: String?) throws(BrokenRule) -> Fish.Production {
        guard let text else { throw OldRule.missing.broken("production") }
        guard let production = Fish.Production(named: text) else {
            throw OldRule.label.broken("production", text)
        }
        return production
    }
}

/// The rules for what the old app and files say, each with its words in both languages.
enum OldRule: String {
    case missing = "required"
    case species = "unknown-species"
    case speciesName = "species-name"
    case town = "unknown-place"
    case length = "length-text"
    case truth
    case label = "detail-value"
    case month
    case day
    case number
    /// The answers do not follow from the length, the species and the day.
    case answers
    case otherReport = "id-taken"

    func broken(_ field: String, _ value: String? = nil) -> BrokenRule {
        BrokenRule(rawValue, field: field, value: value, message, remedy: remedy)
    }

    private var message: Texts {
        switch self {
        case .missing: Texts("It is missing.", it: "Manca.")
        case .species: Texts("There is no such species.", it: "Questa specie non esiste.")
        case .speciesName:
            Texts(
                "The species of that number has another name.",
                it: "La specie di quel numero ha un altro nome."
            )
        case .town: Texts("There is no such place.", it: "Questo luogo non esiste.")
        case .length:
            Texts(
                "It is no length from 1 mm to 5 m.",
                it: "Non \u{e8} una lunghezza da 1 mm a 5 m."
            )
        case .truth: Texts("It is neither 1 nor 0.", it: "Non \u{e8} n\u{e9} 1 n\u{e9} 0.")
        case .label: Texts("It has no such value.", it: "Non ha questo valore.")
        case .month: Texts("There is no such month.", it: "Questo mese non esiste.")
        case .day: Texts("There is no such day.", it: "Questo giorno non esiste.")
        case .number: Texts("It is not right.", it: "Non \u{e8} corretto.")
        case .answers:
            Texts(
                "The answer does not follow from the species, the length and the day.",
                it: "La risposta non segue dalla specie, dalla lunghezza e dal giorno."
            )
        case .otherReport:
            Texts(
                "Another report has this id already.",
                it: "Un'altra segnalazione ha gi\u{e0} questo id."
            )
        }
    }

    private var remedy: Texts {
        switch self {
        case .missing: Texts("Give it.", it: "Indicalo.")
        case .species, .speciesName:
            Texts("The query `species` lists them.", it: "La query `species` le elenca.")
        case .town:
            Texts(
                "Give a hamlet with its municipality, as in Talamone (Orbetello).",
                it: "Indica una frazione col suo comune, come Talamone (Orbetello)."
            )
        case .length:
            Texts("Give it as 113 or 11,3 cm.", it: "Indicala come 113 o 11,3 cm.")
        case .truth: Texts("Give 1 for yes, 0 for no.", it: "Indica 1 per s\u{ec}, 0 per no.")
        case .label:
            Texts(
                "Give one that the app lists, as Mar Mediterraneo or pescato fresco.",
                it: "Indicane uno che l'app elenca, come Mar Mediterraneo o pescato fresco."
            )
        case .month:
            Texts(
                "Give 1 to 12, or an Italian or English name.",
                it: "Indica da 1 a 12, o un nome italiano o inglese."
            )
        case .day: Texts("Give it as 2026-05-04.", it: "Indicalo come 2026-05-04.")
        case .number:
            Texts("Give it as an export writes it.", it: "Indicalo come lo scrive un export.")
        case .answers:
            Texts(
                "Check them, and the day of the report.",
                it: "Controllale, come il giorno della segnalazione."
            )
        case .otherReport:
            Texts("Leave the id out.", it: "Togli l'id.")
        }
    }
}
