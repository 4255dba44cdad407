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

    @Test func aTurnedPictureHasTheTurnedEllipse() throws {
        let picture = scenes[3].picture
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

@Suite struct FishFinderTests {
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
