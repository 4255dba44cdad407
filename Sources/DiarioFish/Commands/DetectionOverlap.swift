extension Fish.Detection {
    /// The area that both marks cover, in thousandths of all that they cover; nil if one of them is
    /// of points alone, which cover nothing.
    func overlapMilli(with other: Fish.Detection) -> Int64? {
        guard let first = area, let second = other.area else { return nil }
        let ends = [first.top, first.bottom, second.top, second.bottom].sorted()
        var (both, all) = (0.0, 0.0)
        for (top, bottom) in zip(ends, ends.dropFirst()) {
            // Between their ends both are as wide as smooth functions say, frames exactly.
            let height = (bottom - top) / Double(Self.rowCount)
            for row in 0..<Self.rowCount {
                let y = top + (Double(row) + 0.5) * height
                let (own, others) = (first.row(y), second.row(y))
                let common = min(own.right, others.right) - max(own.left, others.left)
                both += max(common, 0) * height
                all += (own.right - own.left + others.right - others.left) * height
            }
        }
        return (1000 * both / (all - both)).nearestInteger
    }

    private static let rowCount = 200

    private var area: MarkedArea? {
        if let ellipse { return MarkedArea(ellipse) }
        return frame.map { MarkedArea($0) }
    }
}

/// What an ellipse or a frame covers, by rows.
private struct MarkedArea {
    let top: Double
    let bottom: Double
    private let middle: Double
    /// Half of the greatest width, and how far the rows move to the side for each pixel down.
    private let reach: Double
    private let lean: Double
    private let isEllipse: Bool

    init(_ frame: Fish.Frame) {
        top = Double(frame.yMpx)
        bottom = Double(frame.yMpx) + Double(frame.heightMpx)
        reach = Double(frame.widthMpx) / 2
        middle = Double(frame.xMpx) + reach
        lean = 0
        isEllipse = false
    }

    init(_ ellipse: Fish.Ellipse) {
        let angle = Double(ellipse.angleMdeg) / 180_000 * Trigonometry.pi
        let (sine, cosine) = Trigonometry.sineAndCosine(angle)
        let (wide, high) = (Double(ellipse.widthMpx) / 2, Double(ellipse.heightMpx) / 2)
        let square = wide * wide * sine * sine + high * high * cosine * cosine
        let height = square.squareRoot()
        middle = Double(ellipse.xMpx)
        top = Double(ellipse.yMpx) - height
        bottom = Double(ellipse.yMpx) + height
        // Half of the row through the middle.
        reach = wide * high / height
        lean = (wide * wide - high * high) * sine * cosine / square
        isEllipse = true
    }

    /// Where a row begins and ends; empty above and below.
    func row(_ y: Double) -> (left: Double, right: Double) {
        let half = (bottom - top) / 2
        let below = y - top - half
        guard below.magnitude < half else { return (middle, middle) }
        let share = below / half
        let width = isEllipse ? reach * (1 - share * share).squareRoot() : reach
        return (middle + lean * below - width, middle + lean * below + width)
    }
}
