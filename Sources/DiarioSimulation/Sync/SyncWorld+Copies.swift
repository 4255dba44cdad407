import DiarioCore
import DiarioLog
import DiarioStorage
import DiarioSync

// Directories that are copied while both go on, or put back to what they were.

extension SyncWorld {
    /// The most devices that a world may come to have.
    private static let deviceCountMax = 10

    /// Copies the directory of a device to a new one, and both go on.
    func clone(_ device: Device, _ draw: inout SeededRandom) throws {
        guard devices.count < Self.deviceCountMax else { return }
        let number = devices.count
        let machine = Machine(
            "device\(number)",
            device.machine.disk.copy(machineID: "device\(number)"),
            sizes: device.machine.sizes,
            entropySeed: draw.next(),
            kinds
        )
        let copy = Device(
            number,
            machine,
            actor: device.actor,
            hasOtherSchema: device.hasOtherSchema
        )
        copy.things = device.things
        add(copy)
        counts.clones += 1
        trace.add("\(now) \(copy.name) is a copy of \(device.name)")
        try start(copy)
    }

    /// Puts a device back to a copy that was made of it before, or makes such a copy.
    func revert(_ device: Device) throws {
        guard let backup = device.backup else {
            device.backup = device.machine.disk.copy()
            trace.add("\(now) \(device.name) is backed up")
            return
        }
        device.backup = nil
        counts.clones += 1
        trace.add("\(now) \(device.name) is put back")
        device.machine.replaceDisk(backup)
        device.session = nil
        device.request = nil
        device.wakeNumber += 1
        // What was recorded since may be with the server, or on its way to it, or nowhere.
        book.abandon(device.number, ledger)
        try start(device)
    }
}
