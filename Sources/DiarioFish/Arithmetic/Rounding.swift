extension Double {
    /// The nearest integer, a half away from zero; nil for what is no number or beyond 2^53.
    package var nearestInteger: Int64? {
        guard abs(self) <= 0x1p53 else { return nil }
        let whole = Int64(self)
        let rest = self - Double(whole)
        if rest >= 0.5 { return whole + 1 }
        return rest <= -0.5 ? whole - 1 : whole
    }
}

/// Thousandths of a number, to the nearest.
package func milli(_ value: Double) -> Int {
    let thousandths = (1000 * value).nearestInteger ?? 0
    return Int(clamping: thousandths)
}
