import DiarioCore
package import DiarioFish
import DiarioSchema

/// What is true of a made picture, in whole numbers.
package struct SceneTruth: Equatable, Sendable {
    package struct Coin: Equatable, Sendable {
        package let referenceID: String
        /// The outer rim of the upper face.
        package let rim: PictureEllipse
        /// How far the rim is from the table beside it, in grey levels.
        package let contrast: Int
    }

    package let seed: UInt64
    package let width: Int
    package let height: Int
    package let coin: Coin?
    package let snout: PicturePoint
    /// On the body's axis, at the level of the lobe that reaches farther.
    package let tail: PicturePoint
    package let lengthUm: Int
    /// Of the line from snout to tail above the table.
    package let lineHeightUm: Int
    package let gravityMicroG: [Int]
    package let focalMpx: Int
    package let cameraHeightUm: Int
    package let tiltMdeg: Int
    package let background: SceneBackground

    init(_ scene: PictureScene, seed: UInt64) {
        let (camera, fish) = (scene.camera, scene.fish)
        self.seed = seed
        width = camera.width
        height = camera.height
        coin = scene.coin.map { coin in
            let rim = camera.image(
                of: coin.center,
                radius: coin.kind.radius,
                above: coin.kind.thickness
            )
            return Coin(
                referenceID: coin.kind.id,
                rim: PictureEllipse(rim),
                contrast: Int(scene.contrast() + 0.5)
            )
        }
        snout = PicturePoint(camera.place(fish.snout, above: fish.above))
        tail = PicturePoint(camera.place(fish.tail, above: fish.above))
        lengthUm = milli(fish.length)
        lineHeightUm = milli(fish.above)
        gravityMicroG = camera.gravity.map { milli($0 * 1000) }
        focalMpx = milli(camera.focal)
        cameraHeightUm = milli(camera.altitude)
        tiltMdeg = milli(Trigonometry.arcCosine(-camera.gravity[2]) * 180 / Trigonometry.pi)
        background = scene.table.background
    }

    /// One line of JSON, without its end.
    package func json(file: String) -> [UInt8] {
        JSONObjectWriter.object { line in
            line.add("file", file)
            line.add("seed", seed)
            line.add("width", width)
            line.add("height", height)
            if let coin {
                line.add("coin", json: coin.rim.json)
                line.add("referenceId", coin.referenceID)
                line.add("contrast", coin.contrast)
            } else {
                line.addNull("coin")
            }
            line.add("snout", json: snout.json)
            line.add("tail", json: tail.json)
            line.add("lengthUm", lengthUm)
            line.add("lineHeightUm", lineHeightUm)
            line.add("gravityMicroG", list: gravityMicroG.map { Array("\($0)".utf8) })
            line.add("focalMpx", focalMpx)
            line.add("cameraHeightUm", cameraHeightUm)
            line.add("tiltMdeg", tiltMdeg)
            line.add("background", background.rawValue)
        }
    }
}
