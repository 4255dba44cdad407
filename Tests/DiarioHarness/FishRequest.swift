import DiarioFish
import DiarioSchema
import Foundation

/// A question about a fish, to which fish_harness.py knows the answer by other means.
enum FishRequest {
    static let prefix = #"{"fish":"#

    private struct Question: Decodable {
        var measure: Measuring?
        var judge: Judging?
    }

    /// Points are pairs, numbers are those of `fish.marks.placed` in the order of its fields.
    private struct Measuring: Decodable {
        let method: String
        let fish: [[Int64]]
        let axis: [[Int64]]?
        let points: [[Int64]]?
        let frame: [Int64]?
        let ellipse: [Int64]?
        let disc: [Int64]?
        let card: [Int64]?
        let photo: [Int]
        let gravity: [Int64]?
        let focal: Int64?
        let height: Int64
    }

    private struct Judging: Decodable {
        struct Species: Decodable {
            let id: String
            let kind: String
            let minimum: Int64?
            let mask: Int
        }

        let catalogue: [Species]
        let species: String
        let day: String
        let length: Int64
        let sigma: Int64?
    }

    static func answer(_ line: ArraySlice<UInt8>) -> [UInt8] {
        let text = Data(line.dropFirst(prefix.utf8.count).dropLast())
        guard let question = try? JSONDecoder().decode(Question.self, from: text) else {
            return JSONObjectWriter.object { $0.add("error", "no question") }
        }
        return JSONObjectWriter.object { json in
            if let measuring = question.measure { answer(measuring, &json) }
            if let judging = question.judge { answer(judging, &json) }
        }
    }

    private static func answer(_ question: Measuring, _ json: inout JSONObjectWriter) {
        guard let input = input(question) else { return json.add("error", "no such input") }
        do {
            let found = try input.measure()
            json.add("length", found.lengthUm)
            json.add("marking", found.markingSigmaUm)
            json.add("sigma", found.sigmaUm)
            json.add("scale", found.scaleNmPerPx)
            if let height = found.cameraHeightUm { json.add("camera", height) }
        } catch {
            json.add("refused", error.rule.rawValue)
            json.add("field", error.field.rawValue)
        }
    }

    private static func input(_ question: Measuring) -> MeasuringInput? {
        guard let method = Fish.Method(rawValue: question.method), question.photo.count == 2
        else { return nil }
        var object = ReferenceObject.disc(diameterUm: 0, thicknessUm: 0)
        if let disc = question.disc, disc.count == 2 {
            object = .disc(diameterUm: disc[0], thicknessUm: disc[1])
        } else if let card = question.card, card.count == 3 {
            object = .card(widthUm: card[0], heightUm: card[1], thicknessUm: card[2])
        }
        var reference = MarkShape.points(points(question.points ?? []))
        if let frame = question.frame, frame.count == 4 {
            reference = .frame(
                MarkFrame(
                    xMpx: frame[0],
                    yMpx: frame[1],
                    widthMpx: frame[2],
                    heightMpx: frame[3]
                )
            )
        } else if let ellipse = question.ellipse, ellipse.count == 5 {
            reference = .ellipse(
                MarkEllipse(
                    xMpx: ellipse[0],
                    yMpx: ellipse[1],
                    widthMpx: ellipse[2],
                    heightMpx: ellipse[3],
                    angleMdeg: ellipse[4]
                )
            )
        }
        let gravity = question.gravity.flatMap {
            $0.count == 3 ? Gravity(x: $0[0], y: $0[1], z: $0[2]) : nil
        }
        return MeasuringInput(
            method: method,
            fish: .points(points(question.fish)),
            axis: question.axis.map(points),
            reference: reference,
            object: object,
            photo: PhotoFacts(
                widthPx: question.photo[0],
                heightPx: question.photo[1],
                gravity: gravity,
                focalMpx: question.focal
            ),
            fishHeightUm: question.height
        )
    }

    private static func points(_ pairs: [[Int64]]) -> [MarkPoint] {
        pairs.compactMap { $0.count == 2 ? MarkPoint(xMpx: $0[0], yMpx: $0[1]) : nil }
    }

    private static func answer(_ question: Judging, _ json: inout JSONObjectWriter) {
        let catalogue = question.catalogue.compactMap { species -> SpeciesRule? in
            guard let minimum = MinimumSize(kind: species.kind, lengthUm: species.minimum),
                let season = Season(mask: species.mask)
            else { return nil }
            return SpeciesRule(speciesID: species.id, minimum: minimum, season: season)
        }
        guard let rule = catalogue.first(where: { $0.speciesID == question.species }),
            let month = Month(ofDay: question.day)
        else { return json.add("refused", "day") }
        let verdict = Verdict(
            lengthUm: question.length,
            sigmaUm: question.sigma,
            rule: rule,
            month: month
        )
        json.add("size", verdict.size.rawValue)
        json.add("borderline", verdict.isBorderline)
        json.add("date", verdict.date.rawValue)
        json.add("month", month.number)
    }
}
