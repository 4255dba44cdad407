import DiarioCore

// Operations on the first lane of a world, for scripts that leave nothing to chance.

extension World {
    /// Something that is done to a lane.
    enum LaneStep {
        case grow
        case seal
        case promote
    }

    /// Does these steps in order, so many times, through a process that is running.
    func repeatingLane(_ count: Int, _ steps: LaneStep...) throws {
        for _ in 0..<count {
            for step in steps {
                guard let process = drawProcess(),
                    let id = known.state.ids.first(where: {
                        known.state.spaces[$0]?.isAuthority == false
                    })
                else { continue }
                switch step {
                case .grow: try append(process, to: id)
                case .seal: try seal(process, id)
                case .promote: try promote(process, in: id)
                }
            }
        }
    }
}
