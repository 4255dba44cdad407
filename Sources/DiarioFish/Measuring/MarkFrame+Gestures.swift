/// A gesture that would leave a frame or an ellipse without an inside.
package enum GestureRefusal: String, Error, Sendable {
    /// The corner would cross the opposite one, or come closer than a pixel.
    case crossing
    /// The side would reach the opposite one.
    case empty
    /// A number is beyond those of any photo.
    case outOfRange = "out_of_range"
}

extension MarkFrame {
    /// The least width and height that dragging leaves, a pixel.
    package static let sideMinMpx: Int64 = 1000

    /// The step of the precision tool: half a pixel.
    package static let nudgeMpx: Int64 = 500

    /// The frame after one corner was dragged to a point, the opposite one staying where it is.
    package func moving(
        _ corner: Fish.Corner,
        to point: MarkPoint
    ) throws(GestureRefusal) -> MarkFrame {
        guard isInRange, MarkFrame.range ~= point.xMpx, MarkFrame.range ~= point.yMpx else {
            throw .outOfRange
        }
        var (left, top) = (xMpx, yMpx)
        var (right, bottom) = (xMpx + widthMpx, yMpx + heightMpx)
        switch corner {
        case .upLeft: (left, top) = (point.xMpx, point.yMpx)
        case .upRight: (right, top) = (point.xMpx, point.yMpx)
        case .downLeft: (left, bottom) = (point.xMpx, point.yMpx)
        case .downRight: (right, bottom) = (point.xMpx, point.yMpx)
        }
        guard min(right - left, bottom - top) >= MarkFrame.sideMinMpx else { throw .crossing }
        return MarkFrame(xMpx: left, yMpx: top, widthMpx: right - left, heightMpx: bottom - top)
    }

    /// The frame after one side went outward, or for a negative step inward, the others staying.
    package func nudging(_ side: Fish.Side, byMpx step: Int64) throws(GestureRefusal) -> MarkFrame {
        guard isInRange, MarkFrame.range ~= step else { throw .outOfRange }
        let isAcross = side == .left || side == .right
        guard (isAcross ? widthMpx : heightMpx) + step > 0 else { throw .empty }
        return MarkFrame(
            xMpx: side == .left ? xMpx - step : xMpx,
            yMpx: side == .up ? yMpx - step : yMpx,
            widthMpx: isAcross ? widthMpx + step : widthMpx,
            heightMpx: isAcross ? heightMpx : heightMpx + step
        )
    }

    /// Numbers whose sums are far from overflowing.
    fileprivate static let range: ClosedRange<Int64> = -1_000_000_000_000...1_000_000_000_000

    private var isInRange: Bool {
        [xMpx, yMpx, widthMpx, heightMpx].allSatisfy { MarkFrame.range ~= $0 }
    }
}

extension MarkEllipse {
    /// The ellipse after one end of an axis went outward, or for a negative step inward.
    ///
    /// Left and right are the ends of the width, up and down those of the height. The opposite end
    /// stays: the centre moves by half the step.
    package func nudging(_ side: Fish.Side, byMpx step: Int64) throws(GestureRefusal) -> MarkEllipse
    {
        let range = MarkFrame.range
        guard [xMpx, yMpx, widthMpx, heightMpx, step].allSatisfy({ range ~= $0 }) else {
            throw .outOfRange
        }
        let isAcross = side == .left || side == .right
        guard (isAcross ? widthMpx : heightMpx) + step > 0 else { throw .empty }
        let outward =
            switch side {
            case .right: direction
            case .left: direction * -1
            case .down: direction.turned
            case .up: direction.turned * -1
            }
        let shift = outward * (Double(step) / 2)
        guard let dx = shift.x.nearestInteger, let dy = shift.y.nearestInteger else {
            throw .outOfRange
        }
        return MarkEllipse(
            xMpx: xMpx + dx,
            yMpx: yMpx + dy,
            widthMpx: isAcross ? widthMpx + step : widthMpx,
            heightMpx: isAcross ? heightMpx : heightMpx + step,
            angleMdeg: angleMdeg
        )
    }
}
