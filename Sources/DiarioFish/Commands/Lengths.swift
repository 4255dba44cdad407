import DiarioCore
import DiarioSchema

enum LengthRules {
    static func measure(
        _ input: Fish.LengthMeasure,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.LengthMeasure.Result> {
        let assessment = try Fish.OpenAssessment(input.assessmentId, in: space)
        guard let reference = assessment.row.referenceId else {
            throw Fish.Rule.noReference("assessmentId", input.assessmentId)
        }
        let object = try Fish.reference(reference, field: "referenceId", in: space)
        guard let fish = try assessment.fishMark(), let mark = try assessment.referenceMark(),
            let size = assessment.imageSize
        else { throw Fish.Rule.noMarks("assessmentId", input.assessmentId) }
        let length = try measured(
            MeasuringInput(
                method: mark.method,
                fish: fish.shape,
                reference: mark.shape,
                object: object,
                photo: PhotoFacts(
                    widthPx: Int(clamping: size.width),
                    heightPx: Int(clamping: size.height),
                    gravity: Gravity(assessment.row.gravityMicroG),
                    focalMpx: assessment.row.focalMpx,
                    principal: assessment.row.principal.map { MarkPoint($0) }
                ),
                fishHeightUm: input.heightUm ?? defaultHeightUm
            )
        )
        let result = Fish.Measure.Result(length)
        return Outcome(Fish.LengthMeasure.Result(length)).recording(
            Fish.Recorded.LengthMeasured(
                assessmentId: input.assessmentId,
                lengthId: input.lengthId,
                method: Fish.Method(rawValue: length.method.rawValue) ?? .pins2,
                algorithmVersion: Int64(length.algorithmVersion),
                lengthUm: length.lengthUm,
                sigmaUm: length.sigmaUm,
                scaleNmPerPx: length.scaleNmPerPx,
                referenceId: reference,
                segment: result.segment,
                heightUm: input.heightUm ?? defaultHeightUm,
                warnings: result.warnings.isEmpty ? nil : result.warnings
            )
        )
    }

    static func enter(
        _ input: Fish.LengthEnter,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.LengthEnter.Result> {
        _ = try Fish.OpenAssessment(input.assessmentId, in: space)
        return Outcome(Fish.LengthEnter.Result()).recording(
            Fish.Recorded.LengthEntered(
                assessmentId: input.assessmentId,
                lengthId: input.lengthId,
                lengthUm: input.lengthUm
            )
        )
    }

    /// Measures a fish by marks, without an assessment.
    static func measure(
        _ input: Fish.Measure,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Fish.Measure.Result {
        let object = try Fish.reference(input.reference, field: "reference", in: space)
        guard let fish = MarkShape(input.fish, input.frame, nil) else {
            throw Fish.Rule.markShape("fish", input.method.rawValue)
        }
        guard let mark = MarkShape(input.rim ?? input.corners, nil, input.ellipse),
            input.rim == nil || input.corners == nil
        else { throw Fish.Rule.markShape("rim", input.method.rawValue) }
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
            segment: [length.start, length.end].map { Fish.Point(xMpx: $0.xMpx, yMpx: $0.yMpx) },
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
            warnings: result.warnings.isEmpty ? nil : result.warnings
        )
    }
}

extension BrokenRule {
    /// Why nothing can be measured by the marks.
    fileprivate init(_ refusal: MeasuringRefusal) {
        let field = refusal.field.rawValue
        self =
            switch refusal.rule {
            case .coincident: Fish.Rule.coincident(field)
            case .collinear: Fish.Rule.collinear(field)
            case .notAnEllipse: Fish.Rule.notAnEllipse(field)
            case .notAQuadrangle: Fish.Rule.notAQuadrangle(field)
            case .pointCount: Fish.Rule.pointCount(field)
            case .wrongShape: Fish.Rule.wrongShape(field)
            case .wrongReference: Fish.Rule.wrongReference(field)
            case .outOfRange: Fish.Rule.outOfRange(field)
            case .outsideImage: Fish.Rule.outsideImage(field)
            case .missing: Fish.Rule.missing(field)
            case .implausible: Fish.Rule.implausible(field)
            case .beyondHorizon: Fish.Rule.beyondHorizon(field)
            case .tooSmall: Fish.Rule.tooSmall(field)
            case .notFinite: Fish.Rule.notFinite(field)
            }
    }
}
