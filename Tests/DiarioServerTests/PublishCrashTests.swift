import Diario
import DiarioCore
import DiarioLog
import DiarioStorage
import DiarioSync
import Foundation
import Testing

/// An attempt to publish is cut at each operation of one disk, and goes on.
struct PublishCrashTests {
    private static let moments = CrashDisk.CutMoment.allCases
    private static let isLong = ProcessInfo.processInfo.environment["DIARIO_LONG"] == "1"

    /// An attempt that does not come to its end, with what went wrong on the way.
    private struct Endless: Error {
        let trace: [String]
    }

    /// Does what a user does until the attempt has its end; true if the disk was cut meanwhile.
    private static func run(
        _ world: PublishWorld,
        _ purpose: PublishSession.Purpose
    ) throws -> PublishSession.Result {
        var isRecorded = false
        var trace: [String] = []
        for _ in 0..<20 {
            do {
                var session = world.session(purpose)
                while true {
                    switch try session.next(at: world.clock.now) {
                    case .done(let result): return result
                    case .stop(let refusal): throw refusal
                    case .wait(let until): world.clock.set(milliseconds: until.milliseconds)
                    case .send(let request):
                        if !isRecorded {
                            isRecorded = true
                            try world.record()
                        }
                        let answer = world.answer(request)
                        if case .refusal(let refusal) = try SyncMessage(answer.span) {
                            guard refusal.reason == .unavailable else { throw refusal }
                            trace.append(refusal.message)
                            try world.restartServer()
                        }
                        try session.receive(answer, at: world.clock.now)
                    }
                }
            } catch let refusal as Refusal {
                throw refusal
            } catch LogError.notAuthority {
                // The end was durable, and the cut came before anybody was told.
                return .published
            } catch {
                trace.append("\(error)")
                try world.restartDevice()
            }
        }
        throw Endless(trace: trace)
    }

    /// Cuts at the first operation, the second one and so on, until there is none left.
    ///
    /// The server has many: each is cut at one of the moments, unless there is time for all.
    private static func cutEverywhere(
        _ moment: CrashDisk.CutMoment,
        _ disk: KeyPath<PublishWorld, CrashDisk>,
        _ purpose: PublishSession.Purpose = .publishing,
        make: () throws -> PublishWorld,
        check: (PublishWorld, PublishSession.Result, String) throws -> Void
    ) throws -> Int {
        let isLarge = disk == \.serverDisk && !isLong
        let step = isLarge ? moments.count : 1
        var operation = isLarge ? 1 + (moments.firstIndex(of: moment) ?? 0) : 1
        while true {
            let world = try make()
            let before = world[keyPath: disk].operationCount
            world[keyPath: disk].cutAfter(operations: operation, moment)
            let place = "cut \(moment) operation \(operation)"
            let result: PublishSession.Result
            do { result = try run(world, purpose) } catch {
                #expect(Bool(false), "\(place): \(error)")
                operation += step
                continue
            }
            let wasCut = world[keyPath: disk].operationCount - before >= operation
            try world.restartServer()
            try world.restartDevice()
            try check(world, result, place)
            guard wasCut else { return operation - 1 }
            operation += step
        }
    }

    @Test(arguments: moments) func theDeviceIsCutWherever(moment: CrashDisk.CutMoment) throws {
        let count = try Self.cutEverywhere(moment, \.deviceDisk) {
            try PublishWorld()
        } check: { world, result, place in
            #expect(result == .published, "\(place)")
            try world.checkPublished(place)
        }
        #expect(count > 10)
    }

    @Test(arguments: moments) func theServerIsCutWherever(moment: CrashDisk.CutMoment) throws {
        let count = try Self.cutEverywhere(moment, \.serverDisk) {
            try PublishWorld()
        } check: { world, result, place in
            #expect(result == .published, "\(place)")
            try world.checkPublished(place)
        }
        #expect(count > 30)
    }

    @Test(arguments: moments) func takingBackIsCutWherever(moment: CrashDisk.CutMoment) throws {
        let count = try Self.cutEverywhere(moment, \.deviceDisk) {
            let world = try PublishWorld()
            world.clock.advance(milliseconds: 600_000)
            try world.record()
            world.clock.advance(milliseconds: -600_000)
            return world
        } check: { world, result, place in
            guard case .kept = result else {
                return #expect(Bool(false), "\(place): it was taken over")
            }
            try world.checkKept(place)
        }
        #expect(count > 15)
    }

    @Test(arguments: moments) func restoringIsCutWherever(moment: CrashDisk.CutMoment) throws {
        let count = try Self.cutEverywhere(moment, \.serverDisk, .restoring) {
            try RestoreTests.worldSetBack()
        } check: { world, result, place in
            switch result {
            case .published, .kept(nil, _): break
            case .kept: #expect(Bool(false), "\(place): it ended")
            }
            try world.checkPublished(place)
        }
        #expect(count > 30)
    }
}
