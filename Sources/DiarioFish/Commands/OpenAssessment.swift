import DiarioCore
import DiarioSchema

extension Fish {
    /// An assessment that somebody goes on with.
    struct OpenAssessment {
        let id: String
        let row: CommandRow

        /// The assessment of this id, which is the user's own and neither given up nor reported.
        init(_ id: String, in space: any CommandSpace) throws(BrokenRule) {
            guard let row = space.row("assessment", ["assessmentId": .text(id)]) else {
                throw FishRule.unknownAssessment.broken("assessmentId", id)
            }
            self.id = id
            self.row = row
            guard isOwn(row.text("actor"), space) else {
                throw FishRule.otherPerson.broken("assessmentId", id)
            }
            switch row.text("state") {
            case "abandoned": throw FishRule.abandoned.broken("assessmentId", id)
            case "reported": throw FishRule.reported.broken("assessmentId", id)
            default: break
            }
        }

        var speciesID: String { row.text("speciesId") ?? "" }
        var photoID: String? { row.text("photoId") }

        /// The day by which the fish is judged: that of the photo, or on which the user began.
        var day: CivilDay? { row.day("takenOn") ?? row.day("startedOn") }

        /// The marks of a target as they are now, nudges included; nil if there are none.
        func mark(_ prefix: String) throws(BrokenRule) -> (method: String, shape: MarkShape)? {
            guard let method = row.text(prefix + "Method") else { return nil }
            if let points = MarkPoint.list(row.text(prefix + "Points")) {
                return (method, .points(points))
            }
            let shape: MarkShape
            if let frame = MarkFrame(row.text(prefix + "Frame")) {
                shape = .frame(frame)
            } else if let ellipse = MarkEllipse(row.text(prefix + "Ellipse")) {
                shape = .ellipse(ellipse)
            } else {
                return nil
            }
            return (method, try nudged(shape, prefix))
        }

        private func nudged(_ shape: MarkShape, _ prefix: String) throws(BrokenRule) -> MarkShape {
            var shape = shape
            let steps: [(Fish.Side, String)] = [
                (.up, "UpMpx"), (.down, "DownMpx"), (.left, "LeftMpx"), (.right, "RightMpx"),
            ]
            for (side, name) in steps {
                guard let step = row.integer(prefix + name), step != 0 else { continue }
                do throws(GestureRefusal) {
                    switch shape {
                    case .frame(let frame):
                        shape = .frame(try frame.nudging(side, byMpx: step))
                    case .ellipse(let ellipse):
                        shape = .ellipse(try ellipse.nudging(side, byMpx: step))
                    case .points: break
                    }
                } catch {
                    throw FishRule.nudge.broken("side", side.rawValue)
                }
            }
            return shape
        }

        /// The size of the image that the marks are on: that of the photo, or the one given with
        /// the marks of the fish.
        var imageSize: (width: Int64, height: Int64)? {
            if let width = row.integer("widthPx"), let height = row.integer("heightPx") {
                return (width, height)
            }
            guard let width = row.integer("fishImageWidthPx"),
                let height = row.integer("fishImageHeightPx")
            else { return nil }
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

// Marks as read models keep them: JSON in the form of the events.

extension MarkPoint {
    static func list(_ text: String?) -> [MarkPoint]? {
        guard case .array(let items)? = JSON.nested(text) else { return nil }
        let points = items.compactMap { MarkPoint($0.value) }
        return points.count == items.count ? points : nil
    }

    private init?(_ value: JSON) {
        guard let values = CommandValues.kept(value), let x = values.integer("xMpx"),
            let y = values.integer("yMpx")
        else { return nil }
        self.init(xMpx: x, yMpx: y)
    }

    init?(_ text: String?) {
        guard let value = JSON.nested(text) else { return nil }
        self.init(value)
    }

    init(_ point: Fish.Point) { self.init(xMpx: point.xMpx, yMpx: point.yMpx) }
}

extension MarkFrame {
    init?(_ text: String?) {
        guard let values = JSON.nested(text).flatMap({ CommandValues.kept($0) }),
            let x = values.integer("xMpx"), let y = values.integer("yMpx"),
            let width = values.integer("widthMpx"), let height = values.integer("heightMpx")
        else { return nil }
        self.init(xMpx: x, yMpx: y, widthMpx: width, heightMpx: height)
    }

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
    init?(_ text: String?) {
        guard let values = JSON.nested(text).flatMap({ CommandValues.kept($0) }),
            let x = values.integer("xMpx"), let y = values.integer("yMpx"),
            let width = values.integer("widthMpx"), let height = values.integer("heightMpx"),
            let angle = values.integer("angleMdeg")
        else { return nil }
        self.init(xMpx: x, yMpx: y, widthMpx: width, heightMpx: height, angleMdeg: angle)
    }

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

    init?(_ text: String?) {
        guard case .array(let items)? = JSON.nested(text) else { return nil }
        self.init(
            items.compactMap { if case .integer(let value) = $0.value { value } else { nil } }
        )
    }
}

extension CommandValues {
    /// The members of an object as a read model keeps it; nobody checked that it is one.
    fileprivate static func kept(_ value: JSON) -> CommandValues? {
        guard case .object = value else { return nil }
        return CommandValues(value)
    }
}

extension JSON {
    /// A nested value as a read model keeps it.
    fileprivate static func nested(_ text: String?) -> JSON? {
        guard let text else { return nil }
        return try? parse(Array(text.utf8)).value
    }
}
