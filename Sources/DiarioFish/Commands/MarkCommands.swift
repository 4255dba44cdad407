import DiarioSchema

enum MarkRules {
    static func place(
        _ input: Fish.MarksPlace,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.MarksPlace.Result> {
        let assessment = try Fish.OpenAssessment(input.assessmentId, in: space)
        var size = assessment.row.widthPx.flatMap { width in
            assessment.row.heightPx.map { (width: width, height: $0) }
        }
        if size == nil, let width = input.imageWidthPx, let height = input.imageHeightPx {
            size = (width, height)
        }
        guard let size else { throw Fish.Rule.noPhoto("imageWidthPx") }
        guard let shape = MarkShape(input.points, input.frame, input.ellipse),
            shape.fits(input.method, isFish: input.target == .fish)
        else { throw Fish.Rule.markShape("points", input.method.rawValue) }
        guard shape.isInside(width: size.width, height: size.height) else {
            throw Fish.Rule.outsideImage("points")
        }
        let isWithoutPhoto = assessment.photoID == nil
        return Outcome(Fish.MarksPlace.Result()).recording(
            Fish.Recorded.MarksPlaced(
                assessmentId: input.assessmentId,
                photoId: assessment.photoID,
                imageWidthPx: isWithoutPhoto ? size.width : nil,
                imageHeightPx: isWithoutPhoto ? size.height : nil,
                method: input.method,
                target: input.target,
                points: input.points,
                frame: input.frame,
                ellipse: input.ellipse,
                via: input.via ?? .typed,
                zoomMilli: input.zoomMilli
            )
        )
    }

    static func nudge(
        _ input: Fish.MarksNudge,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.MarksNudge.Result> {
        let assessment = try Fish.OpenAssessment(input.assessmentId, in: space)
        guard let mark = try assessment.mark(input.target) else {
            throw Fish.Rule.noMarks("target", input.target.rawValue)
        }
        let step = input.deltaMpx ?? MarkFrame.nudgeMpx
        do throws(GestureRefusal) {
            switch mark.shape {
            case .frame(let frame): _ = try frame.nudging(input.side, byMpx: step)
            case .ellipse(let ellipse): _ = try ellipse.nudging(input.side, byMpx: step)
            case .points: throw .empty
            }
        } catch {
            throw Fish.Rule.nudge("deltaMpx", "\(step)")
        }
        return Outcome(Fish.MarksNudge.Result()).recording(
            Fish.Recorded.MarksNudged(
                assessmentId: input.assessmentId,
                photoId: assessment.photoID,
                target: input.target,
                side: input.side,
                deltaMpx: step
            )
        )
    }

    /// A frame after one of its corners was dragged, without an assessment.
    static func drag(_ input: Fish.CornerDrag) throws(BrokenRule) -> Fish.CornerDrag.Result {
        let frame: MarkFrame
        do throws(GestureRefusal) {
            frame = try MarkFrame(input.frame).moving(input.corner, to: MarkPoint(input.point))
        } catch {
            throw error == .crossing ? Fish.Rule.crossing("point") : outsideImage
        }
        // So far away that no photo has the other corner.
        guard max(frame.widthMpx, frame.heightMpx) <= sideMaxMpx else { throw outsideImage }
        return Fish.CornerDrag.Result(
            frame: Fish.Frame(
                xMpx: frame.xMpx,
                yMpx: frame.yMpx,
                widthMpx: frame.widthMpx,
                heightMpx: frame.heightMpx
            )
        )
    }

    private static var outsideImage: BrokenRule { Fish.Rule.outsideImage("point") }
    /// The largest side of a frame.
    private static let sideMaxMpx: Int64 = 21_000_000

    static func clear(
        _ input: Fish.MarksClear,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<Fish.MarksClear.Result> {
        let assessment = try Fish.OpenAssessment(input.assessmentId, in: space)
        guard try assessment.mark(input.target) != nil else {
            throw Fish.Rule.noMarks("target", input.target.rawValue)
        }
        return Outcome(Fish.MarksClear.Result()).recording(
            Fish.Recorded.MarksCleared(
                assessmentId: input.assessmentId,
                photoId: assessment.photoID,
                target: input.target
            )
        )
    }
}

extension MarkShape {
    /// The one shape that is given; nil if there are none, or several.
    init?(_ points: [Fish.Point]?, _ frame: Fish.Frame?, _ ellipse: Fish.Ellipse?) {
        switch (points, frame, ellipse) {
        case (let points?, nil, nil): self = .points(points.map { MarkPoint($0) })
        case (nil, let frame?, nil): self = .frame(MarkFrame(frame))
        case (nil, nil, let ellipse?): self = .ellipse(MarkEllipse(ellipse))
        default: return nil
        }
    }

    /// The shape that a read model keeps: whoever records an event may give several.
    init?(kept points: [Fish.Point]?, _ frame: Fish.Frame?, _ ellipse: Fish.Ellipse?) {
        if let points {
            self = .points(points.map { MarkPoint($0) })
        } else if let frame {
            self = .frame(MarkFrame(frame))
        } else if let ellipse {
            self = .ellipse(MarkEllipse(ellipse))
        } else {
            return nil
        }
    }

    /// Whether a method takes such marks of the fish, or of the reference.
    func fits(_ method: Fish.Method, isFish: Bool) -> Bool {
        switch (self, method) {
        case (.points(let points), _) where isFish: points.count >= 2
        case (.frame, _): isFish
        case (.points(let points), .pins2): points.count == 2
        case (.points(let points), .circle3): points.count == 3
        case (.points(let points), .card): points.count == 4
        case (.points(let points), .conic), (.points(let points), .rectified): points.count >= 5
        case (.ellipse, .views), (.ellipse, .ellipse), (.ellipse, .rectified): !isFish
        case (.points, _), (.ellipse, _): false
        }
    }

    /// Whether all of it is in an image, or at most a twentieth of that outside.
    ///
    /// The marks are those of an input, whose numbers are bounded; the image may be of a row.
    func isInside(width: Int64, height: Int64) -> Bool {
        guard Self.sides.contains(width), Self.sides.contains(height) else { return false }
        let (across, down) = (width * 1000, height * 1000)
        let columns = -across / 20...across + across / 20
        let rows = -down / 20...down + down / 20
        let points: [(x: Int64, y: Int64)] =
            switch self {
            case .points(let points): points.map { ($0.xMpx, $0.yMpx) }
            case .frame(let frame):
                [
                    (frame.xMpx, frame.yMpx),
                    (frame.xMpx + frame.widthMpx, frame.yMpx + frame.heightMpx),
                ]
            case .ellipse(let ellipse): [(ellipse.xMpx, ellipse.yMpx)]
            }
        return points.allSatisfy { columns.contains($0.x) && rows.contains($0.y) }
    }

    /// The pixels along a side of an image that marks are placed on.
    private static let sides: ClosedRange<Int64> = 1...20_000
}
