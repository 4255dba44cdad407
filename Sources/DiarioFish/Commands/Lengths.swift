import DiarioCore
import DiarioSchema

enum LengthRules {
    static func measure(
        _ input: Fish.LengthMeasure,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.LengthMeasure.Result> {
        let assessment = try Fish.OpenAssessment(input.assessmentId, in: space)
        guard let reference = assessment.row.text("referenceId") else {
            throw FishRule.noReference.broken("assessmentId", input.assessmentId)
        }
        let object = try Fish.reference(reference, field: "referenceId", in: space)
        guard let fish = try assessment.mark("fish"), let mark = try assessment.mark("reference"),
            let method = Fish.Method(rawValue: mark.method), let size = assessment.imageSize
        else { throw FishRule.noMarks.broken("assessmentId", input.assessmentId) }
        let length = try measured(
            MeasuringInput(
                method: method,
                fish: fish.shape,
                reference: mark.shape,
                object: object,
                photo: PhotoFacts(
                    widthPx: Int(clamping: size.width),
                    heightPx: Int(clamping: size.height),
                    gravity: Gravity(assessment.row.text("gravityMicroG")),
                    focalMpx: assessment.row.integer("focalMpx"),
                    principal: MarkPoint(assessment.row.text("principal"))
                ),
                fishHeightUm: input.heightUm ?? defaultHeightUm
            )
        )
        let segment = [length.start, length.end].map { Fish.Point(xMpx: $0.xMpx, yMpx: $0.yMpx) }
        let warnings = length.warnings.map { $0.rawValue }
        return Outcome(Fish.LengthMeasure.Result(length)).recording(
            Fish.Recorded.LengthMeasured(
                assessmentId: input.assessmentId,
                method: Fish.Method(rawValue: length.method.rawValue) ?? .pins2,
                algorithmVersion: Int64(length.algorithmVersion),
                lengthUm: length.lengthUm,
                sigmaUm: length.sigmaUm,
                scaleNmPerPx: length.scaleNmPerPx,
                referenceId: reference,
                segment: segment,
                heightUm: input.heightUm ?? defaultHeightUm,
                warnings: warnings.isEmpty ? nil : warnings
            )
        )
    }

    static func enter(
        _ input: Fish.LengthEnter,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.LengthEnter.Result> {
        _ = try Fish.OpenAssessment(input.assessmentId, in: space)
        return Outcome(Fish.LengthEnter.Result()).recording(
            Fish.Recorded.LengthEntered(assessmentId: input.assessmentId, lengthUm: input.lengthUm)
        )
    }

    /// Measures a fish by marks, without an assessment.
    static func measure(
        _ input: Fish.Measure,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Fish.Measure.Result {
        let object = try Fish.reference(input.reference, field: "reference", in: space)
        guard let fish = MarkShape(input.fish, input.frame, nil) else {
            throw FishRule.markShape.broken("fish", input.method.rawValue)
        }
        guard let mark = MarkShape(input.rim ?? input.corners, nil, input.ellipse),
            input.rim == nil || input.corners == nil
        else { throw FishRule.markShape.broken("rim", input.method.rawValue) }
        let size = input.image ?? extent(of: [fish, mark])
        let length = try measured(
            MeasuringInput(
                method: input.method,
                fish: fish,
                axis: input.axis?.map { MarkPoint($0) },
                reference: mark,
                object: object,
                photo: PhotoFacts(
                    widthPx: Int(clamping: size.widthPx),
                    heightPx: Int(clamping: size.heightPx),
                    gravity: Gravity(input.gravityMicroG),
                    focalMpx: input.focalMpx,
                    principal: input.principal.map { MarkPoint($0) }
                ),
                fishHeightUm: input.heightUm ?? defaultHeightUm
            )
        )
        return Fish.Measure.Result(length)
    }

    /// The height of the body's line above the table, if none is given.
    private static let defaultHeightUm: Int64 = 8000

    /// An image that has the marks in it, for an image of unknown size.
    private static func extent(of shapes: [MarkShape]) -> Fish.ImageSize {
        var (right, bottom): (Int64, Int64) = (1, 1)
        for shape in shapes {
            let points: [(x: Int64, y: Int64)] =
                switch shape {
                case .points(let points): points.map { ($0.xMpx, $0.yMpx) }
                case .frame(let frame):
                    [(frame.xMpx + frame.widthMpx, frame.yMpx + frame.heightMpx)]
                case .ellipse(let ellipse):
                    [(ellipse.xMpx + ellipse.widthMpx, ellipse.yMpx + ellipse.widthMpx)]
                }
            for point in points { (right, bottom) = (max(right, point.x), max(bottom, point.y)) }
        }
        // A margin, so that no mark is at the edge of it.
        return Fish.ImageSize(widthPx: right / 1000 * 2 + 1, heightPx: bottom / 1000 * 2 + 1)
    }

    private static func measured(_ input: MeasuringInput) throws(BrokenRule) -> Measurement {
        do throws(MeasuringRefusal) { return try input.measure() } catch {
            throw BrokenRule(error)
        }
    }
}

extension Fish.Measure.Result {
    fileprivate init(_ length: Measurement) {
        self.init(
            lengthUm: length.lengthUm,
            sigmaUm: length.sigmaUm,
            method: Fish.Method(rawValue: length.method.rawValue) ?? .pins2,
            algorithmVersion: Int64(length.algorithmVersion),
            segment: [
                [length.start.xMpx, length.start.yMpx], [length.end.xMpx, length.end.yMpx],
            ],
            warnings: length.warnings.map { $0.rawValue }
        )
    }
}

extension Fish.LengthMeasure.Result {
    fileprivate init(_ length: Measurement) {
        let result = Fish.Measure.Result(length)
        self.init(
            lengthUm: result.lengthUm,
            sigmaUm: result.sigmaUm,
            method: result.method,
            algorithmVersion: result.algorithmVersion,
            segment: result.segment,
            warnings: result.warnings
        )
    }
}

extension BrokenRule {
    /// Why nothing can be measured by the marks.
    fileprivate init(_ refusal: MeasuringRefusal) {
        let (message, remedy) = refusal.rule.texts
        var name = ""
        for letter in refusal.rule.rawValue { name.append(letter == "_" ? "-" : letter) }
        self.init(name, field: refusal.field.rawValue, message, remedy: remedy)
    }
}

extension MeasuringRefusal.Rule {
    fileprivate var texts: (message: Texts, remedy: Texts) {
        switch self {
        case .coincident:
            (
                Texts("Two marks are at one place.", it: "Due segni sono nello stesso punto."),
                Texts("Move one of them.", it: "Spostane uno.")
            )
        case .collinear:
            (
                Texts("The marks are on a line.", it: "I segni sono su una linea."),
                Texts(
                    "Spread them around the rim.",
                    it: "Distribuiscili lungo il bordo."
                )
            )
        case .notAnEllipse:
            (
                Texts("No ellipse goes by the marks.", it: "Nessuna ellisse passa per i segni."),
                Texts("Put them on the outer rim.", it: "Mettili sul bordo esterno.")
            )
        case .notAQuadrangle:
            (
                Texts(
                    "The corners are not those of a card.",
                    it: "Gli angoli non sono quelli di una tessera."
                ),
                Texts("Mark the four corners in order.", it: "Segna i quattro angoli in ordine.")
            )
        case .pointCount, .wrongShape:
            FishRule.markShape.pair
        case .wrongReference:
            (
                Texts(
                    "The method takes another reference.",
                    it: "Il metodo richiede un altro riferimento."
                ),
                Texts(
                    "Choose a coin for a coin's method, and a card for `card`.",
                    it: "Scegli una moneta per i metodi con moneta, e una tessera per `card`."
                )
            )
        case .outOfRange:
            (
                Texts(
                    "The length is not from 1 mm to 5 m.",
                    it: "La lunghezza non \u{e8} fra 1 mm e 5 m."
                ),
                Texts(
                    "Check the marks and the reference.",
                    it: "Controlla i segni e il riferimento."
                )
            )
        case .outsideImage: FishRule.outsideImage.pair
        case .missing:
            (
                Texts(
                    "The method needs it, and it is not there.",
                    it: "Il metodo ne ha bisogno, e manca."
                ),
                Texts(
                    "Give it, or choose another method.",
                    it: "Indicalo, o scegli un altro metodo."
                )
            )
        case .implausible:
            (
                Texts(
                    "No phone at rest feels such gravity.",
                    it: "Nessun telefono fermo misura questa gravit\u{e0}."
                ),
                Texts("Leave it out, or take the photo again.", it: "Toglila, o rif\u{e0} la foto.")
            )
        case .beyondHorizon:
            (
                Texts(
                    "A mark is where no table can be seen.",
                    it: "Un segno \u{e8} dove non si pu\u{f2} vedere il tavolo."
                ),
                Texts(
                    "Check gravity and focal length.",
                    it: "Controlla gravit\u{e0} e lunghezza focale."
                )
            )
        case .tooSmall:
            (
                Texts(
                    "The reference is less than 20 pixels across.",
                    it: "Il riferimento \u{e8} largo meno di 20 pixel."
                ),
                Texts("Go nearer with the camera.", it: "Avvicina la fotocamera.")
            )
        case .notFinite:
            (
                Texts("The marks give no length.", it: "I segni non danno una lunghezza."),
                Texts("Place them again.", it: "Mettili di nuovo.")
            )
        }
    }
}

extension FishRule {
    /// What it says, for a rule of another kind.
    fileprivate var pair: (message: Texts, remedy: Texts) {
        let broken = broken("")
        return (broken.message, broken.remedy)
    }
}
