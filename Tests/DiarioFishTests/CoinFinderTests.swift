import DiarioCore
import DiarioFish
import DiarioFishLab
import Testing

/// Pictures small enough for debug builds.
private func made(_ seed: Int, hasCoin: Bool = true) -> ScenePicture {
    var options = SceneOptions()
    (options.width, options.height) = (360, 270)
    options.hasCoin = hasCoin
    return ScenePicture(seed: UInt64(seed), options)
}

/// Made once, for all tests.
private let scenes = (0..<6).map { made($0) }

/// The picture after it was turned by a quarter clockwise.
private func turned(_ picture: GreyPicture) -> GreyPicture? {
    var levels: [UInt8] = []
    for column in 0..<picture.width {
        for row in (0..<picture.height).reversed() {
            levels.append(picture.levels[row * picture.width + column])
        }
    }
    return GreyPicture(width: picture.height, height: picture.width, levels: levels)
}

@Suite struct CoinFinderTests {
    @Test func mostCoinsAreFoundWhereTheyAre() {
        let found = scenes.filter { scene in
            guard let truth = scene.truth.coin?.rim,
                let coin = CoinFinder.coins(in: scene.picture).first?.rim
            else { return false }
            // A pixel is three hundredths of these small coins.
            let tolerance = truth.widthMpx / 20
            return (coin.widthMpx - truth.widthMpx).magnitude < tolerance
                && (coin.xMpx - truth.xMpx).magnitude < tolerance
                && (coin.yMpx - truth.yMpx).magnitude < tolerance
        }
        #expect(found.count >= 5, "found only those of \(found.map(\.truth.seed))")
    }

    @Test func picturesWithoutCoinsGiveNone() {
        let wrong = (100..<104).filter { seed in
            !CoinFinder.coins(in: made(seed, hasCoin: false).picture).isEmpty
        }
        #expect(wrong.count <= 1, "found some in \(wrong)")
    }

    @Test(arguments: [1, 2, 4])
    func aTurnedPictureHasTheTurnedEllipse(seed: Int) throws {
        let picture = scenes[seed].picture
        let coin = try #require(CoinFinder.coins(in: picture).first).rim
        let quarter = try #require(turned(picture))
        let other = try #require(CoinFinder.coins(in: quarter).first).rim
        let height = picture.height * 1000
        #expect((other.xMpx - (height - coin.yMpx)).magnitude < 300)
        #expect((other.yMpx - coin.xMpx).magnitude < 300)
        #expect((other.widthMpx - coin.widthMpx).magnitude < 500)
        #expect((other.heightMpx - coin.heightMpx).magnitude < 500)
    }

    @Test(arguments: [(0, 0), (1, 1), (1, 500), (500, 1), (7, 9), (33, 33), (200, 150)])
    func flatPicturesHaveNothing(width: Int, height: Int) throws {
        for level: UInt8 in [0, 128, 255] {
            let levels = [UInt8](repeating: level, count: width * height)
            let picture = try #require(GreyPicture(width: width, height: height, levels: levels))
            #expect(CoinFinder.coins(in: picture).isEmpty)
            #expect(FishFinder.fish(in: picture) == nil)
            #expect(PictureQuality(picture).edgeWidthMpx == nil)
        }
    }

    @Test func aLongFlatPictureHasNothing() throws {
        let side = Limits.pictureSideMax
        let levels = [UInt8](repeating: 9, count: side * 40)
        let picture = try #require(GreyPicture(width: side, height: 40, levels: levels))
        #expect(CoinFinder.coins(in: picture).isEmpty)
        #expect(FishFinder.fish(in: picture) == nil)
    }

    /// Whatever the bytes are, nothing traps.
    @Test(arguments: 0..<8)
    func anyBytesAreAPicture(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let (width, height) = (30 + random.below(120), 30 + random.below(120))
        // Noise, noise of two levels, and large squares of it.
        let size = 1 + random.below(12)
        let mask: UInt8 = random.oneIn(3) ? 0x80 : 0xff
        let squares = (0..<400).map { _ in UInt8(random.below(256)) & mask }
        let levels = (0..<width * height).map { index in
            let square = index / width / size * 31 + index % width / size
            return squares[square % squares.count]
        }
        let picture = try #require(GreyPicture(width: width, height: height, levels: levels))
        for coin in CoinFinder.coins(in: picture) {
            #expect(coin.rim.widthMpx >= coin.rim.heightMpx)
            #expect(0...1000 ~= coin.scoreMilli)
        }
        _ = FishFinder.fish(in: picture)
        _ = PictureQuality(picture)
    }

    @Test func pictureSizesHaveLimits() {
        #expect(GreyPicture(width: 2, height: 2, levels: [1, 2, 3]) == nil)
        #expect(GreyPicture(width: -1, height: -1, levels: [1]) == nil)
        #expect(GreyPicture(width: Limits.pictureSideMax + 1, height: 0, levels: []) == nil)
        let side = Limits.pictureSideMax
        #expect(GreyPicture(width: side, height: side, levels: []) == nil)
    }
}

/// A drawing of levels by their place from the middle of a picture, in pixels.
private func drawn(_ level: (Double, Double) -> Double) throws -> GreyPicture {
    let (width, height) = (400, 300)
    var levels: [UInt8] = []
    for row in 0..<height {
        for column in 0..<width {
            // The mean of nine places, as a camera makes it.
            var sum = 0.0
            for part in 0..<9 {
                let x = Double(column) - 200 + (Double(part % 3) + 0.5) / 3
                let y = Double(row) - 150 + (Double(part / 3) + 0.5) / 3
                sum += level(x, y) / 9
            }
            levels.append(UInt8(min(max(sum, 0), 255)))
        }
    }
    return try #require(GreyPicture(width: width, height: height, levels: levels))
}

@Suite struct DrawnCoinTests {
    /// Finds a disc of a radius in the middle, with that tolerance in pixels.
    private func expectDisc(_ picture: GreyPicture, radius: Double, within tolerance: Double) throws
    {
        let coin = try #require(CoinFinder.coins(in: picture).first).rim
        #expect((Double(coin.widthMpx) / 1000 - 2 * radius).magnitude < tolerance)
        #expect((Double(coin.xMpx) / 1000 - 200).magnitude < tolerance)
        #expect((Double(coin.yMpx) / 1000 - 150).magnitude < tolerance)
    }

    @Test(arguments: [8.0, 12, 17, 24, 35, 49])
    func discsOfAllSizesAreFound(radius: Double) throws {
        for (inside, outside) in [(180.0, 60.0), (40, 200)] {
            let picture = try drawn { x, y in x * x + y * y < radius * radius ? inside : outside }
            try expectDisc(picture, radius: radius, within: 0.02 * radius + 0.3)
        }
    }

    @Test(arguments: [5.0, 60, 90])
    func discsOfOtherSizesAreNoCoins(radius: Double) throws {
        let picture = try drawn { x, y in x * x + y * y < radius * radius ? 180.0 : 60 }
        #expect(CoinFinder.coins(in: picture).isEmpty)
    }

    /// A raised rim is bright, and a groove inside it dark.
    @Test func theOutermostOfSeveralRimsIsTaken() throws {
        let picture = try drawn { x, y in
            switch (x * x + y * y).squareRoot() {
            case ..<20: 150
            case ..<26: 190
            case ..<28: 90
            case ..<30: 200
            default: 50
            }
        }
        try expectDisc(picture, radius: 30, within: 1)
    }

    @Test func theGroundMayBeDarkerOnOneSideAndBrighterOnTheOther() throws {
        let picture = try drawn { x, y in
            x * x + y * y < 900 ? 120 : x < 0 ? 40 : 210
        }
        try expectDisc(picture, radius: 30, within: 1)
    }

    @Test func rulesOfAPageHideNoCoin() throws {
        let picture = try drawn { x, y in
            x * x + y * y < 900 ? 130 : Int(y + 150) % 12 < 4 && Int(x + 200) % 9 < 6 ? 40 : 220
        }
        try expectDisc(picture, radius: 30, within: 1.2)
    }

    /// Dark letters and white paper change places so often that no edge goes around the coin.
    @Test(arguments: [130.0, 160]) func aCoinOnPrintIsSeenByTheEndsOfLetters(level: Double) throws {
        let picture = try drawn { x, y in
            let isInk = Int(x + 200) % 11 < 6 && Int(y + 150) % 16 < 9
            return x * x + y * y < 900 ? level : isInk ? 30 : 230
        }
        try expectDisc(picture, radius: 30, within: 1.2)
    }

    /// On the one side a shadow reaches far and fades out slowly.
    @Test func aSoftShadowIsNoRim() throws {
        let picture = try drawn { x, y in
            let away = (x * x + y * y).squareRoot()
            let far = ((x - 3) * (x - 3) + (y - 3) * (y - 3)).squareRoot()
            return away < 30 ? 90 : 200 - 60 * min(max((42 - far) / 12, 0), 1)
        }
        try expectDisc(picture, radius: 30, within: 1.2)
    }

    @Test func aRingThroughWhichOneSeesTheGroundIsNoCoin() throws {
        for width in [2.0, 4, 7] {
            let picture = try drawn { x, y in
                let distance = (x * x + y * y).squareRoot()
                return distance < 30 && distance > 30 - width ? 40 : 200
            }
            #expect(CoinFinder.coins(in: picture).isEmpty, "a ring of \(width) pixels")
        }
    }

    @Test func flatEllipsesAndSquaresAreNoCoins() throws {
        let ellipse = try drawn { x, y in x * x / 900 + y * y / 500 < 1 ? 180 : 60 }
        #expect(CoinFinder.coins(in: ellipse).isEmpty)
        let square = try drawn { x, y in x.magnitude < 25 && y.magnitude < 25 ? 180 : 60 }
        #expect(CoinFinder.coins(in: square).isEmpty)
    }
}

@Suite struct ChanceTests {
    @Test func surpriseIsTheLogarithmOfTheTail() {
        // Of two tries at a half, at least one: 3/4; two: 1/4. Of three at a quarter, three: 1/64.
        #expect((Chance.surprise(ofAtLeast: 2, of: 2, chance: 0.5) - 2).magnitude < 0.1)
        #expect((Chance.surprise(ofAtLeast: 1, of: 2, chance: 0.5) - 0.415).magnitude < 0.1)
        #expect((Chance.surprise(ofAtLeast: 3, of: 3, chance: 0.25) - 6).magnitude < 0.1)
        #expect((Chance.surprise(ofAtLeast: 64, of: 64, chance: 0.125) - 192).magnitude < 0.1)
    }

    @Test func whatIsNoSurpriseIsNone() {
        for least in [-1, 0, 5] {
            #expect(Chance.surprise(ofAtLeast: least, of: 4, chance: 0.5) == 0)
        }
        for chance in [-1, 0, 1, 2, Double.nan] {
            #expect(Chance.surprise(ofAtLeast: 3, of: 4, chance: chance) == 0)
        }
    }
}

@Suite struct FishFinderTests {
    /// Marks outside of an image are refused, so none is proposed there.
    @Test(arguments: 4711..<4723)
    func theEndsLieInThePicture(seed: Int) {
        let picture = made(seed).picture
        guard let fish = FishFinder.fish(in: picture) else { return }
        for end in [fish.snout, fish.tail] {
            #expect(0...1000 * picture.width ~= end.xMpx)
            #expect(0...1000 * picture.height ~= end.yMpx)
        }
    }

    @Test func mostFishHaveTheirEndsWhereTheyAre() {
        let found = scenes.filter { scene in
            guard let fish = FishFinder.fish(in: scene.picture) else { return false }
            let truth = scene.truth
            func near(_ first: PicturePoint, _ second: PicturePoint) -> Bool {
                let (x, y) = (first.xMpx - second.xMpx, first.yMpx - second.yMpx)
                let (u, v) = (
                    truth.snout.xMpx - truth.tail.xMpx, truth.snout.yMpx - truth.tail.yMpx
                )
                // A twentieth of the length.
                return 400 * (x * x + y * y) < u * u + v * v
            }
            return near(fish.snout, truth.snout) && near(fish.tail, truth.tail)
        }
        #expect(found.count >= 4, "found only those of \(found.map(\.truth.seed))")
    }
}

@Suite struct ScenePictureTests {
    @Test func theSameSeedMakesTheSamePicture() {
        let again = made(1)
        #expect(again.picture == scenes[1].picture)
        #expect(again.truth == scenes[1].truth)
        #expect(again.picture != scenes[2].picture)
    }

    @Test func aPictureIsWrittenAsPGM() throws {
        let picture = try #require(GreyPicture(width: 3, height: 1, levels: [1, 2, 3]))
        #expect(picture.pgm == Array("P5\n3 1\n255\n".utf8) + [1, 2, 3])
    }

    @Test func rimsOfPlainPicturesDifferFromTheTable() throws {
        for scene in scenes {
            #expect(try #require(scene.truth.coin).contrast >= 20, "seed \(scene.truth.seed)")
        }
    }
}
