import DiarioCore

extension ByteStrings {
    /// The texts of origins; the numbers are indices of replicas.
    init(_ replicas: [ReplicaID], _ numbers: [Int64], _ sequences: [Int64]) {
        // The text of each replica is made once, with the line after it.
        var heads = ByteStrings()
        for replica in replicas {
            let text = OriginText.bytes(Origin(replica: replica, sequence: 1))
            heads.append(text.span.raw.extracting(...OriginText.lineIndex))
        }
        var bytes: [UInt8] = []
        var bounds: [UInt32] = [0]
        bytes.reserveCapacity(numbers.count * OriginText.sizeMax)
        bounds.reserveCapacity(numbers.count + 1)
        for index in numbers.indices {
            bytes.append(contentsOf: heads[Int(numbers[index])].raw)
            bytes.append(decimal: UInt64(bitPattern: sequences[index]))
            bounds.append(UInt32(truncatingIfNeeded: bytes.count))
        }
        self.init(bytes: bytes, bounds: bounds)
    }
}

extension [UInt8] {
    /// Appends the digits of a number, without zeros in front.
    fileprivate mutating func append(decimal number: UInt64) {
        var power: UInt64 = 1
        while number / power >= 10 { power *= 10 }
        while power > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / power % 10))
            power /= 10
        }
    }
}
