import DiarioCore
import DiarioSchema

extension Fish {
    /// An assessment that somebody goes on with.
    struct OpenAssessment {
        let id: String
        let row: Fish.Rows.Assessment

        /// The assessment of this id, which is the user's own and neither given up nor reported.
        init(_ id: String, in space: any CommandSpace) throws(BrokenRule) {
            guard let row = space.assessment(assessmentId: id).first else {
                throw Fish.Rule.unknownAssessment("assessmentId", id)
            }
            self.id = id
            self.row = row
            guard isOwn(row.actor, space) else {
                throw Fish.Rule.otherPerson("assessmentId", id)
            }
            switch row.state {
            case .abandoned: throw Fish.Rule.abandoned("assessmentId", id)
            case .reported: throw Fish.Rule.reported("assessmentId", id)
            case .open: break
            }
        }

        var speciesID: String { row.speciesId }
        var photoID: String? { row.photoId }

        /// The day by which the fish is judged: that of the photo, or on which the user began.
        var day: CivilDay { row.takenOn ?? row.startedOn }

        /// The marks of the fish as they are now, nudges included; nil if there are none.
        func fishMark() throws(BrokenRule) -> (method: Fish.Method, shape: MarkShape)? {
            try mark(
                row.fishMethod,
                MarkShape(kept: row.fishPoints, row.fishFrame, row.fishEllipse),
                nudged: [
                    (.up, row.fishUpMpx), (.down, row.fishDownMpx), (.left, row.fishLeftMpx),
                    (.right, row.fishRightMpx),
                ]
            )
        }

        /// The marks of the fish, or of the reference.
        func mark(
            _ target: Fish.Target
        ) throws(BrokenRule) -> (method: Fish.Method, shape: MarkShape)? {
            target == .fish ? try fishMark() : try referenceMark()
        }

        /// Those of the reference.
        func referenceMark() throws(BrokenRule) -> (method: Fish.Method, shape: MarkShape)? {
            try mark(
                row.referenceMethod,
                MarkShape(kept: row.referencePoints, row.referenceFrame, row.referenceEllipse),
                nudged: [
                    (.up, row.referenceUpMpx), (.down, row.referenceDownMpx),
                    (.left, row.referenceLeftMpx), (.right, row.referenceRightMpx),
                ]
            )
        }

        private func mark(
            _ method: Fish.Method?,
            _ shape: MarkShape?,
            nudged steps: [(Fish.Side, Int64?)]
        ) throws(BrokenRule) -> (method: Fish.Method, shape: MarkShape)? {
            guard let method, var shape else { return nil }
            for (side, step) in steps {
                guard let step, step != 0 else { continue }
                do throws(GestureRefusal) {
                    switch shape {
                    case .frame(let frame):
                        shape = .frame(try frame.nudging(side, byMpx: step))
                    case .ellipse(let ellipse):
                        shape = .ellipse(try ellipse.nudging(side, byMpx: step))
                    case .points: break
                    }
                } catch {
                    throw Fish.Rule.nudge("side", side.rawValue)
                }
            }
            return (method, shape)
        }

        /// The size of the image that the marks are on: that of the photo, or the one given with
        /// the marks of the fish.
        var imageSize: (width: Int64, height: Int64)? {
            if let width = row.widthPx, let height = row.heightPx { return (width, height) }
            guard let width = row.fishImageWidthPx, let height = row.fishImageHeightPx else {
                return nil
            }
            return (width, height)
        }
    }

    /// Whether something belongs to the user; what belongs to nobody is everybody's.
    static func isOwn(_ owner: String?, _ space: any CommandSpace) -> Bool {
        owner == nil || owner == nobody || owner == space.actor
    }

    /// The user under whom events without an actor are shown.
    static let nobody = "-"
}

// Marks as rules compute with them.

extension MarkPoint {
    init(_ point: Fish.Point) { self.init(xMpx: point.xMpx, yMpx: point.yMpx) }
}

extension MarkFrame {
    init(_ frame: Fish.Frame) {
        self.init(
            xMpx: frame.xMpx,
            yMpx: frame.yMpx,
            widthMpx: frame.widthMpx,
            heightMpx: frame.heightMpx
        )
    }
}

extension MarkEllipse {
    init(_ ellipse: Fish.Ellipse) {
        self.init(
            xMpx: ellipse.xMpx,
            yMpx: ellipse.yMpx,
            widthMpx: ellipse.widthMpx,
            heightMpx: ellipse.heightMpx,
            angleMdeg: ellipse.angleMdeg
        )
    }
}

extension Gravity {
    init?(_ list: [Int64]?) {
        guard let list, list.count == 3 else { return nil }
        self.init(x: list[0], y: list[1], z: list[2])
    }
}
