import DiarioSchema

/// How well a picture is suited to be measured.
package struct PictureQuality: Equatable, Sendable {
    /// How wide the sharpest edges are, from dark to bright: about 1,500 in a sharp picture; nil if
    /// there are no edges.
    package let edgeWidthMpx: Int?
    /// Thousandths of the pixels that are dark (below 40), bright (above 215), and at the end of
    /// the range (0 or 255).
    package let darkMilli: Int
    package let brightMilli: Int
    package let clippedMilli: Int

    package init(_ picture: GreyPicture) {
        let reduced = ReducedPicture(picture, sideMax: CoinFinder.sideMax).smoothed
        var counts = [Int](repeating: 0, count: 256)
        for level in picture.levels { counts[Int(level)] += 1 }
        func share(_ count: Int) -> Int {
            Int(Int64(count) * 1000 / Int64(max(picture.levels.count, 1)))
        }
        edgeWidthMpx = Self.edgeWidth(picture, EdgeMap(reduced), reduced.factor).map(milli)
        darkMilli = share(counts[..<40].reduce(0, +))
        brightMilli = share(counts[216...].reduce(0, +))
        clippedMilli = share(counts[0] + counts[255])
    }

    package var json: [UInt8] {
        JSONObjectWriter.object { text in
            if let edgeWidthMpx { text.add("edgeWidthMpx", edgeWidthMpx) }
            text.add("darkMilli", darkMilli)
            text.add("brightMilli", brightMilli)
            text.add("clippedMilli", clippedMilli)
        }
    }

    private static let edgeCount = 200

    /// The median width of the strongest edges: how far the level rises, by how fast it does.
    static func edgeWidth(_ picture: GreyPicture, _ edges: EdgeMap, _ factor: Int) -> Double? {
        var widths: [Double] = []
        for point in edges.strongest(edgeCount) {
            let reach = 2 * factor + 4
            var (low, high, steepest, before) = (255.0, 0.0, 0.0, -1.0)
            for step in -reach...reach {
                let x = Int(point.x * Float(factor) + Float(step) * point.toX)
                let y = Int(point.y * Float(factor) + Float(step) * point.toY)
                guard 0..<picture.width ~= x, 0..<picture.height ~= y else { continue }
                let level = Double(picture.levels[y * picture.width + x])
                (low, high) = (min(low, level), max(high, level))
                if before >= 0 { steepest = max(steepest, level - before) }
                before = level
            }
            if steepest > 0 { widths.append((high - low) / steepest) }
        }
        widths.sort()
        return widths.isEmpty ? nil : widths[widths.count / 2]
    }
}
