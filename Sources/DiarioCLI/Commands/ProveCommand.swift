import Diario
import DiarioCore
import DiarioFormat
import DiarioLog

/// The command `diario prove`.
enum ProveCommand {
    /// What is to be proven.
    private enum Wish {
        case origin(Origin, size: UInt64?)
        case position(UInt64, size: UInt64?)
        case growth(from: UInt64, to: UInt64?)
    }

    static func run(_ call: Invocation) throws(Failure) {
        let wish = try wish(call.arguments)
        try call.withSpace(.readOnly) { (space) throws(Failure) in
            let proof = try reporting { () throws(DiarioError) in
                try Self.proof(wish, space, includesEvent: call.arguments.has("event"))
            }
            try call.output.append {
                proof.append(to: &$0, isIndented: !call.arguments.has("json"))
            }
        }
    }

    private static func proof(
        _ wish: Wish,
        _ space: Space,
        includesEvent: Bool
    ) throws(DiarioError) -> ProofText {
        switch wish {
        case .origin(let origin, let size):
            return try space.proveInclusion(
                of: try space.position(of: origin),
                size: size,
                includesEvent: includesEvent
            )
        case .position(let position, let size):
            return try space.proveInclusion(
                of: position,
                size: size,
                includesEvent: includesEvent
            )
        case .growth(let from, let to):
            return try space.proveConsistency(from: from, to: to)
        }
    }

    private static func wish(_ arguments: Arguments) throws(Failure) -> Wish {
        let help = "Try: diario help prove"
        let (from, to, size) = try checkingUsage { () throws(UsageError) in
            (
                try arguments.count("from", from: 0), try arguments.count("to", from: 0),
                try arguments.count("size", from: 1)
            )
        }
        guard let text = arguments.operands.first else {
            guard let from else {
                throw .usage("prove needs POSITION|ORIGIN, or --from M. \(help)")
            }
            guard size == nil else {
                throw .usage("with --from, the size of the log is given by --to N. \(help)")
            }
            guard !arguments.has("event") else {
                throw .usage("--event needs an event: POSITION|ORIGIN. \(help)")
            }
            if let to, to < from {
                throw .usage("--to \(to) is less than --from \(from); swap them. \(help)")
            }
            return .growth(from: from, to: to)
        }
        guard from == nil, to == nil else {
            throw .usage("give either an event or --from and --to. \(help)")
        }
        if let origin = Origin(text: text) { return .origin(origin, size: size) }
        guard let position = UInt64(text), 1...TreeNode.sizeMax ~= position else {
            throw .usage(
                "\(CellText.oneLine(text)) is neither an origin, as 7zk3m9q2c1f4a-17, nor a "
                    + "position from 1. \(help)"
            )
        }
        return .position(position, size: size)
    }
}
