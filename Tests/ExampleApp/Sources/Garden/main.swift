import Diario

// Packs/plants is a folder of this target; the build plugin makes `Plants` of it.
let diary = try Diary.open(at: "garden", packs: [Plants.pack])

// Two events that are recorded together; the second is about what the first one makes.
var batch = diary.makeBatch()
let basil = try batch.add(Plants.PlantBought(name: "Basil", light: .sun))
try batch.add(Plants.PlantWatered(plantId: basil, amountMl: 150))
try await diary.append(batch)

// Tables that follow the log answer.
let answer = try await diary.query("thirsty", ["below": "200"])
for row in answer.rows { print(row) }

// What was recorded, and what comes.
for try await event in diary.follow(after: 0, EventFilter(types: ["plants."])) {
    guard let watered = try event.decode(as: Plants.PlantWatered.self) else { continue }
    print("\(watered.amountMl) ml on \(event.origin.text)")
    break
}
try await diary.close()
