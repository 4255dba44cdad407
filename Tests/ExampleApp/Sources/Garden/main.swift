import Diario

let diary = try Diary.open(at: "garden", packs: [Plants.pack])
var batch = diary.makeBatch()  // recorded together or not at all
let basil = try batch.add(Plants.PlantBought(name: "Basil", light: .sun))
try batch.add(Plants.PlantWatered(plantId: basil, amountMl: 150))
try await diary.append(batch)  // durable when it returns

let answer = try await diary.query("thirsty", ["below": "200"])
for row in answer.rows { print(row) }
for try await event in diary.follow(after: 0, EventFilter(types: ["plants."])) {
    guard let watered = try event.decode(as: Plants.PlantWatered.self) else { continue }
    print("\(watered.amountMl) ml on \(event.origin.text)")
    break
}
try await diary.close()
