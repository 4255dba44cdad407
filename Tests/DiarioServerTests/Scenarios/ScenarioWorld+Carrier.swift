import Diario
import DiarioCore
import DiarioLog
import DiarioSync
import Testing

// How messages are carried, and lost.

extension ScenarioWorld {
    /// What happens on the way.
    private enum Trouble: Equatable {
        case none
        case losesPush
        case losesVerdicts
        case losesNews
        case pushTwice
        case cutAnswer
        /// News bring so many events at most.
        case fewNews(UInt64)

        init?(_ text: String) {
            switch text {
            case "": self = .none
            case "and its push is lost": self = .losesPush
            case "and the verdicts are lost": self = .losesVerdicts
            case "and the news are lost": self = .losesNews
            case "and its push arrives twice": self = .pushTwice
            case "and the first answer is cut short": self = .cutAnswer
            default:
                let words = text.split(separator: " ")
                guard words.count == 4, words[1...] == ["events", "a", "time"],
                    let count = UInt64(words[0])
                else { return nil }
                self = .fewNews(count)
            }
        }
    }

    /// Carries messages until the replica has nothing more to ask.
    func sync(_ name: String, _ words: String) throws {
        guard let trouble = Trouble(words) else { throw UnknownCommand(command: words) }
        var device = try device(name)
        device.session.heardOfNews()
        for _ in 0..<100 {
            guard case .send(let request) = try device.session.next(at: device.clock.now) else {
                break
            }
            try carry(request, of: name, &device, trouble)
            devices[name] = device
            noteNames()
        }
        devices[name] = device
        trace.append(try state(of: name))
    }

    private func carry(
        _ request: [UInt8],
        of name: String,
        _ device: inout Device,
        _ trouble: Trouble
    ) throws {
        let now = device.clock.now
        var sent = request
        let kind = try SyncMessage(request.span).kind
        if case .fewNews(let count) = trouble, case .pull(var pull) = try SyncMessage(request.span)
        {
            pull.countMax = count
            sent = SyncMessage.pull(pull).encoded()
        }
        trace.append(try told(name, asks: sent))
        if kind == .push, trouble == .losesPush {
            trace.append("(lost)")
            return device.session.failed("the request is lost", at: now)
        }
        var answer = answer(sent, to: device)
        if kind == .push, trouble == .pushTwice {
            let again = self.answer(sent, to: device)
            trace.append(try told(name, asks: sent))
            trace.append(again == answer ? "(the same answer twice)" : "(another answer)")
            answer = again
        }
        if trouble == .cutAnswer, device.session.moved.requests == 1 { answer.removeLast(7) }
        trace.append(try told(name, hears: answer, to: sent))
        let isLost =
            kind == .push && trouble == .losesVerdicts
            || kind == .pull && trouble == .losesNews
        if isLost {
            trace.append("(lost)")
            return device.session.failed("the answer is lost", at: now)
        }
        try device.session.receive(answer, at: now)
    }

    // MARK: One message at a time

    /// The next request goes out, and is on its way.
    func send(_ name: String, countMax: Int? = nil) throws {
        var device = try device(name)
        if let countMax { device.session.pushCountMax = countMax }
        guard case .send(let request) = try device.session.next(at: device.clock.now) else {
            devices[name] = device
            return trace.append(try state(of: name))
        }
        device.request = request
        devices[name] = device
        trace.append(try told(name, asks: request))
    }

    /// The server gets what is on its way.
    func answerHeld(_ name: String) throws {
        var device = try device(name)
        device.answer = answer(try #require(device.request, "it was sent"), to: device)
        devices[name] = device
    }

    /// The answer arrives.
    func hear(_ name: String) throws {
        var device = try device(name)
        let request = try #require(device.request, "it was sent")
        let answer = try #require(device.answer, "it was answered")
        trace.append(try told(name, hears: answer, to: request))
        try device.session.receive(answer, at: device.clock.now)
        device.request = nil
        device.answer = nil
        devices[name] = device
        noteNames()
        trace.append(try state(of: name))
    }
}
