#if canImport(Darwin)
import Darwin
#else
import DiarioHost
import Glibc
#endif
import Diario
import DiarioCore
import DiarioFish
import DiarioFishLab
import DiarioPictures
import DiarioSchema

extension Command {
    static let ofFish = [fishExport, fishImport, fishSimulate, fishCoin, fishPictures]

    static let fishSimulate = Command(
        "fish simulate",
        "measure fish that the program makes up, by each method",
        on: .nothing,
        details: """
            Marks made-up fish beside a coin as three kinds of users would, measures them, and
            prints the errors of each method beside what the marking error alone would give and the
            figures of the thesis, whose fish and users were real. All of this is synthetic. The
            same count and seed give the same figures everywhere.
            """,
        options: [
            .value("count N", "fish for each method, user and length (default 1000)"),
            .value("seed S", "of the chance that they are made by (default 1)"),
            .choice("method", Fish.Method.allCases.map(\.rawValue), "only this method"),
            .json,
        ],
        examples: ["diario fish simulate --count 1000 --seed 1": "all methods"],
        run: { try FishCommand.simulate($0) }
    )

    static let fishCoin = Command(
        "fish coin",
        "find coins in a picture, and the ends of a fish",
        on: .nothing,
        takes: [.one("IMAGE", .file)],
        details: """
            Reads a picture (PNG, JPEG, PGM or PPM) and prints the outer rims of the coins in it,
            the best one first, as ellipses in pixels; none rather than a guess. Of a fish it prints
            the two ends, as a proposal to be looked at. The picture is not kept.
            """,
        options: [.json],
        examples: ["diario fish coin photo.jpg --json": "thousandths of pixels, for a program"],
        run: { try FishCommand.coin($0) }
    )

    static let fishPictures = Command(
        "fish pictures",
        "make pictures of fish and coins, with what is true of them",
        on: .nothing,
        takes: [.one("FOLDER", .folder)],
        details: """
            Writes made-up grey pictures to FOLDER, which is made if it is not there, and beside
            them truth.jsonl: a line for each with the rim of the coin, the ends of the fish, its
            length, gravity and camera. The same seed gives the same pictures.
            """,
        options: [
            .value("count N", "how many (default 10)"),
            .value("seed S", "of the first one; each has the next (default 1)"),
            .flag("hard", "with little contrast, blur, glare and shadows"),
            .flag("without-coin", "without a coin"),
        ],
        examples: ["diario fish pictures made --count 3 --seed 7": "three of them"],
        run: { try FishCommand.pictures($0) }
    )
}

/// The commands of the program about fish that are neither commands nor views of the pack.
enum FishCommand {
    static func simulate(_ call: Invocation) throws {
        let count = try call.arguments.count("count", from: 1) ?? 1000
        guard count <= 1_000_000 else { throw Failure.usage("--count is at most 1000000") }
        let seed = try call.arguments.count("seed", from: 0) ?? 1
        let method = call.value("method").flatMap { Fish.Method(rawValue: $0) }
        guard method != nil || !call.has("method") else {
            let known = Fish.Method.allCases.map(\.rawValue).joined(separator: ", ")
            throw Failure.usage("--method is one of: \(known)", in: call.command)
        }
        let rows = Simulation(count: Int(count), seed: seed, method: method).run()
        guard !call.isJSON else { return try call.output.json(rows.map { fields(of: $0) }) }
        call.remark("synthetic: made-up fish and users; those of the thesis were real")
        try call.output.table(
            [
                Table.Column("METHOD"), Table.Column("USER"), Table.Column("LENGTH"),
                Table.Column("BIAS"), Table.Column("P50"), Table.Column("P95"),
                Table.Column("BUDGET"), Table.Column("THESIS"), Table.Column("REFUSED"),
            ],
            rows.map { row in
                [
                    row.method.rawValue, row.user, "\(row.lengthUm / 1000) mm",
                    percent(row.biasPpm), percent(row.p50Ppm), percent(row.p95Ppm),
                    percent(row.budgetP95Ppm),
                    row.thesisPpm.map {
                        "\(percent($0.lowerBound)) to \(percent($0.upperBound))"
                    } ?? "",
                    "\(row.refusedCount)",
                ]
            }
        )
    }

    static func coin(_ call: Invocation) throws {
        let bytes = try InputFile.contents(of: call.operands[0], sizeMax: pictureSizeMax)
        let grey: Picture
        do { grey = try Picture(bytes, as: .grey) } catch {
            throw Failure.failed("\(CellText.oneLine(call.operands[0])): \(error.message)")
        }
        let picture = GreyPicture(width: grey.width, height: grey.height, levels: grey.samples)
        guard let picture else { throw Failure.failed("the picture is too large to look at") }
        let (coins, fish) = (CoinFinder.coins(in: picture), FishFinder.fish(in: picture))
        if call.isJSON {
            let json = JSONObjectWriter.object { json in
                json.add("found", !coins.isEmpty)
                json.add("coins", list: coins.map { $0.json })
                json.add("quality", json: PictureQuality(picture).json)
                if let fish { json.add("fish", json: fish.json) }
            }
            return try call.output.line(String(decoding: json, as: UTF8.self))
        }
        for coin in coins {
            let rim = coin.rim
            let numbers = [rim.xMpx, rim.yMpx, rim.widthMpx, rim.heightMpx].map { pixels($0) }
            try call.output.line(
                "coin " + numbers.joined(separator: ",") + ",\(pixels(rim.angleMdeg))"
            )
        }
        if coins.isEmpty { try call.output.line("no coin was found") }
        guard let fish else { return }
        let ends = [fish.snout, fish.tail].map { "\(pixels($0.xMpx)),\(pixels($0.yMpx))" }
        try call.output.line("fish " + ends.joined(separator: " "))
    }

    /// The largest file that is read as a picture.
    private static let pictureSizeMax = 256 * 1024 * 1024

    /// Thousandths as a number with a point.
    private static func pixels(_ value: Int) -> String {
        HumanUnit(of: "valueMpx")?.text(Int64(value)) ?? "\(value)"
    }

    static func pictures(_ call: Invocation) throws {
        let folder = call.operands[0]
        let count = try call.arguments.count("count", from: 1) ?? 10
        guard count <= 100_000 else { throw Failure.usage("--count is at most 100000") }
        let seed = try call.arguments.count("seed", from: 0) ?? 1
        var options = SceneOptions()
        options.isHard = call.has("hard")
        options.hasCoin = !call.has("without-coin")
        if case .failed(let code) = SystemCall.makeDirectory(folder), code != EEXIST {
            let shown = CellText.oneLine(folder)
            throw Failure.failed("cannot make \(shown): \(SystemCall.text(ofCode: code))")
        }
        let truth = try NewFile("\(folder)/truth.jsonl")
        try call.withBar("Making pictures", unit: "pictures") { bar in
            for number in 0..<count {
                let made = ScenePicture(seed: seed &+ number, options)
                let name = "\(seed &+ number).pgm"
                let file = try NewFile("\(folder)/\(name)")
                try file.output.append { $0 += made.picture.pgm }
                try file.finish()
                try truth.output.append { $0 += made.truth.json(file: name) + [0x0a] }
                bar.update(done: number + 1, total: count)
            }
        }
        try truth.finish()
    }

    /// Millionths as hundredths with two places.
    private static func percent(_ ppm: Int64) -> String {
        let hundredths = (abs(ppm) + 50) / 100
        let digits = "\(hundredths % 100)"
        let sign = ppm < 0 && hundredths > 0 ? "-" : ""
        return "\(sign)\(hundredths / 100).\(digits.count < 2 ? "0" : "")\(digits) %"
    }

    private static func fields(of row: SimulationRow) -> Fields {
        [
            "isSynthetic": true, "method": row.method.rawValue, "user": row.user,
            "lengthUm": Int(row.lengthUm), "measured": row.measuredCount,
            "refused": row.refusedCount, "biasPpm": Int(row.biasPpm), "p50Ppm": Int(row.p50Ppm),
            "p95Ppm": Int(row.p95Ppm), "leastPpm": Int(row.leastPpm),
            "greatestPpm": Int(row.greatestPpm), "budgetP95Ppm": Int(row.budgetP95Ppm),
            "thesisLeastPpm": ifKnown(row.thesisPpm.map { Int($0.lowerBound) }),
            "thesisGreatestPpm": ifKnown(row.thesisPpm.map { Int($0.upperBound) }),
        ]
    }
}
