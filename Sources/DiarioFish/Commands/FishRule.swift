import DiarioSchema

/// The rules of the pack, each with what it says in both languages.
enum FishRule: String {
    case unknownAssessment = "unknown-assessment"
    case otherPerson = "other-person"
    case abandoned
    case reported
    case unknownSpecies = "unknown-species"
    case retired
    case unknownReference = "unknown-reference"
    case unknownZone = "unknown-zone"
    case unknownPlace = "unknown-place"
    case municipality
    case parent
    case unknownReport = "unknown-report"
    case withdrawn
    case ownReport = "own-report"
    case future
    case dayOrder = "day-order"
    case noPhoto = "no-photo"
    case otherPhoto = "other-photo"
    case noMarks = "no-marks"
    case markShape = "mark-shape"
    case outsideImage = "outside-image"
    case nudge
    case noReference = "no-reference"
    case noLength = "no-length"
    case lengthOutdated = "length-outdated"
    case noVerdict = "no-verdict"
    case verdictOutdated = "verdict-outdated"
    case details
    case detailValue = "detail-value"
    case nothingGiven = "nothing-given"
    case minimumSize = "minimum-size"
    case referenceSize = "reference-size"
    case preference

    /// The refusal of a command that would break the rule.
    func broken(_ field: String, _ value: String? = nil) -> BrokenRule {
        let (message, remedy) = texts
        return BrokenRule(rawValue, field: field, value: value, message, remedy: remedy)
    }

    private var texts: (message: Texts, remedy: Texts) {
        switch self {
        case .unknownAssessment, .otherPerson, .abandoned, .reported, .noPhoto, .otherPhoto,
            .noMarks, .markShape, .outsideImage, .nudge, .noReference, .noLength, .lengthOutdated,
            .noVerdict, .verdictOutdated:
            assessmentTexts
        case .unknownReport, .withdrawn, .ownReport, .details, .detailValue, .nothingGiven,
            .future, .dayOrder:
            reportTexts
        case .unknownSpecies, .retired, .unknownReference, .unknownZone, .unknownPlace,
            .municipality, .parent, .minimumSize, .referenceSize, .preference:
            catalogueTexts
        }
    }

    private var assessmentTexts: (message: Texts, remedy: Texts) {
        switch self {
        case .otherPerson:
            (
                Texts("It belongs to another person.", it: "Appartiene a un'altra persona."),
                Texts("Use one of your own.", it: "Usane una tua.")
            )
        case .abandoned:
            (
                Texts(
                    "The assessment was given up.",
                    it: "La valutazione \u{e8} stata abbandonata."
                ),
                Texts("Start a new one.", it: "Cominciane una nuova.")
            )
        case .reported:
            (
                Texts(
                    "The assessment is reported already.",
                    it: "La valutazione \u{e8} gi\u{e0} stata segnalata."
                ),
                Texts(
                    "Amend or withdraw its report, or start a new one.",
                    it: "Correggi o ritira la segnalazione, o cominciane una nuova."
                )
            )
        case .noPhoto:
            (
                Texts("The assessment has no photo.", it: "La valutazione non ha una foto."),
                Texts(
                    "Capture one, or give the size of the image.",
                    it: "Scattane una, o indica le dimensioni dell'immagine."
                )
            )
        case .otherPhoto:
            (
                Texts(
                    "The assessment has no such photo.",
                    it: "La valutazione non ha quella foto."
                ),
                Texts("The query `photos` lists them.", it: "La query `photos` le elenca.")
            )
        case .noMarks:
            (
                Texts("There are no such marks.", it: "Questi segni non ci sono."),
                Texts("Place the marks first.", it: "Metti prima i segni.")
            )
        case .markShape:
            (
                Texts(
                    "The method takes other marks.",
                    it: "Il metodo richiede altri segni."
                ),
                Texts(
                    "Give points, a frame or an ellipse as the method has them, and one alone.",
                    it: "Indica punti, un riquadro o un'ellisse come vuole il metodo, e uno solo."
                )
            )
        case .outsideImage:
            (
                Texts(
                    "A mark is outside of the image.",
                    it: "Un segno \u{e8} fuori dall'immagine."
                ),
                Texts(
                    "Place it inside, at most a twentieth beyond the edge.",
                    it: "Mettilo dentro, al massimo un ventesimo oltre il bordo."
                )
            )
        case .nudge:
            (
                Texts(
                    "The step would leave nothing of the mark.",
                    it: "Il passo non lascerebbe nulla del segno."
                ),
                Texts("Give a smaller step.", it: "Indica un passo pi\u{f9} piccolo.")
            )
        case .noReference:
            (
                Texts(
                    "No coin or card was chosen.",
                    it: "Non \u{e8} stata scelta una moneta o una tessera."
                ),
                Texts("Select it first.", it: "Sceglila prima.")
            )
        case .noLength:
            (
                Texts("The fish was not measured.", it: "Il pesce non \u{e8} stato misurato."),
                Texts(
                    "Measure it, or enter a length by ruler.",
                    it: "Misuralo, o inserisci una lunghezza col righello."
                )
            )
        case .lengthOutdated:
            (
                Texts(
                    "Something changed after the fish was measured.",
                    it: "Qualcosa \u{e8} cambiato dopo la misura del pesce."
                ),
                Texts("Measure it again.", it: "Misuralo di nuovo.")
            )
        case .noVerdict:
            (
                Texts("The fish was not judged.", it: "Il pesce non \u{e8} stato giudicato."),
                Texts("Issue the verdict first.", it: "Emetti prima il verdetto.")
            )
        case .verdictOutdated:
            (
                Texts(
                    "Something changed after the verdict.",
                    it: "Qualcosa \u{e8} cambiato dopo il verdetto."
                ),
                Texts("Issue the verdict again.", it: "Emetti di nuovo il verdetto.")
            )
        default:
            (
                Texts("There is no such assessment.", it: "Questa valutazione non esiste."),
                Texts("Start it, or check its id.", it: "Cominciala, o controlla il suo id.")
            )
        }
    }

    private var reportTexts: (message: Texts, remedy: Texts) {
        switch self {
        case .withdrawn:
            (
                Texts("The report was withdrawn.", it: "La segnalazione \u{e8} stata ritirata."),
                Texts("File a new one.", it: "Inviane una nuova.")
            )
        case .ownReport:
            (
                Texts(
                    "Nobody reviews a report of their own.",
                    it: "Nessuno rivede una propria segnalazione."
                ),
                Texts("Let another person do it.", it: "Lascialo fare a un'altra persona.")
            )
        case .details:
            (
                Texts(
                    "A report needs the origin, the production and the place.",
                    it: "Una segnalazione richiede provenienza, produzione e luogo."
                ),
                Texts("Give what is missing.", it: "Indica ci\u{f2} che manca.")
            )
        case .detailValue:
            (
                Texts("The detail has no such value.", it: "Il dettaglio non ha questo valore."),
                Texts("Give one of its list.", it: "Indicane uno del suo elenco.")
            )
        case .nothingGiven:
            (
                Texts(
                    "Nothing was given to be changed.",
                    it: "Non \u{e8} indicato nulla da cambiare."
                ),
                Texts("Give what is to be otherwise.", it: "Indica ci\u{f2} che deve cambiare.")
            )
        case .future:
            (
                Texts("That day is in the future.", it: "Quel giorno \u{e8} nel futuro."),
                Texts("Give today or an earlier day.", it: "Indica oggi o un giorno precedente.")
            )
        case .dayOrder:
            (
                Texts(
                    "It was bought after it was judged.",
                    it: "\u{c8} stato comprato dopo il giudizio."
                ),
                Texts(
                    "Give that day or an earlier one.",
                    it: "Indica quel giorno o uno precedente."
                )
            )
        default:
            (
                Texts("There is no such report.", it: "Questa segnalazione non esiste."),
                Texts("Check its id.", it: "Controlla il suo id.")
            )
        }
    }

    private var catalogueTexts: (message: Texts, remedy: Texts) {
        switch self {
        case .retired:
            (
                Texts("It is not used any more.", it: "Non \u{e8} pi\u{f9} in uso."),
                Texts("Choose another one.", it: "Scegline un'altra.")
            )
        case .unknownReference:
            (
                Texts("There is no such coin or card.", it: "Questa moneta o tessera non esiste."),
                Texts(
                    "The query `references` lists them.",
                    it: "La query `references` le elenca."
                )
            )
        case .unknownZone:
            (
                Texts("There is no such zone.", it: "Questa zona non esiste."),
                Texts("The query `zones` lists them.", it: "La query `zones` le elenca.")
            )
        case .unknownPlace:
            (
                Texts("There is no such place.", it: "Questo luogo non esiste."),
                Texts("The query `places` lists them.", it: "La query `places` li elenca.")
            )
        case .municipality:
            (
                Texts(
                    "It is a municipality, and a report names a hamlet.",
                    it: "\u{c8} un comune, e una segnalazione indica una frazione."
                ),
                Texts("Choose one of its hamlets.", it: "Scegli una delle sue frazioni.")
            )
        case .parent:
            (
                Texts(
                    "A hamlet is in a municipality, and a municipality in nothing else.",
                    it: "Una frazione sta in un comune, e un comune in nient'altro."
                ),
                Texts("Name a municipality.", it: "Indica un comune.")
            )
        case .minimumSize:
            (
                Texts(
                    "There is a minimum size if its kind is not `none`.",
                    it: "C'\u{e8} una taglia minima se il suo tipo non \u{e8} `none`."
                ),
                Texts("Give both, or neither.", it: "Indica entrambi, o nessuno.")
            )
        case .referenceSize:
            (
                Texts(
                    "A disc has a diameter; a card a width and a height.",
                    it: "Un disco ha un diametro; una tessera una larghezza e un'altezza."
                ),
                Texts("Give those of its shape alone.", it: "Indica solo quelle della sua forma.")
            )
        case .preference:
            (
                Texts(
                    "The preference has no such value.",
                    it: "La preferenza non ha questo valore."
                ),
                Texts("Give one that there is.", it: "Indicane uno che esiste.")
            )
        default:
            (
                Texts(
                    "There is no such species on that day.",
                    it: "In quel giorno questa specie non esiste."
                ),
                Texts("The query `species` lists them.", it: "La query `species` le elenca.")
            )
        }
    }
}
