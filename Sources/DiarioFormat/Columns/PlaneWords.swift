/// Words whose bytes lie in planes: eight of them at a time, by swapping bytes of eight words.
enum PlaneWords {
    typealias Words = SIMD8<UInt64>

    /// Eight words whose highest byte is in the first of `planeCount` planes, which are `count`
    /// bytes apart; bytes without a plane are zero.
    @unsafe
    @inline(__always)
    static func highestFirst(
        _ planes: UnsafePointer<UInt8>,
        _ count: Int,
        _ planeCount: Int
    ) -> Words {
        // Safe: the caller knows that each plane has eight bytes.
        transposed { place in
            place >= 8 &- planeCount ? unsafe load(planes + (7 &- place) &* count) : 0
        }
    }

    /// Eight words whose lowest byte is in the first of `planeCount` planes.
    @unsafe
    @inline(__always)
    static func lowestFirst(
        _ planes: UnsafePointer<UInt8>,
        _ count: Int,
        _ planeCount: Int
    ) -> Words {
        // Safe: the caller knows that each plane has eight bytes.
        transposed { place in
            place < planeCount ? unsafe load(planes + place &* count) : 0
        }
    }

    @unsafe
    @inline(__always)
    private static func load(_ bytes: UnsafePointer<UInt8>) -> UInt64 {
        // Safe: the caller knows that there are eight bytes.
        UInt64(littleEndian: unsafe UnsafeRawPointer(bytes).loadUnaligned(as: UInt64.self))
    }

    /// Word i of the result has byte i of each row; byte j is that of row j.
    @inline(__always)
    private static func transposed(_ row: (Int) -> UInt64) -> Words {
        var (a, b, c, d) = (row(0), row(1), row(2), row(3))
        var (e, f, g, h) = (row(4), row(5), row(6), row(7))
        let (half, quarter): (UInt64, UInt64) = (0x0000_0000_ffff_ffff, 0x0000_ffff_0000_ffff)
        let eighth: UInt64 = 0x00ff_00ff_00ff_00ff
        swap(&a, &e, 32, half)
        swap(&b, &f, 32, half)
        swap(&c, &g, 32, half)
        swap(&d, &h, 32, half)
        swap(&a, &c, 16, quarter)
        swap(&b, &d, 16, quarter)
        swap(&e, &g, 16, quarter)
        swap(&f, &h, 16, quarter)
        swap(&a, &b, 8, eighth)
        swap(&c, &d, 8, eighth)
        swap(&e, &f, 8, eighth)
        swap(&g, &h, 8, eighth)
        return Words(a, b, c, d, e, f, g, h)
    }

    /// Swaps the bits of `upper` above `shift` with those of `lower` below it.
    @inline(__always)
    private static func swap(
        _ upper: inout UInt64,
        _ lower: inout UInt64,
        _ shift: UInt64,
        _ mask: UInt64
    ) {
        let difference = (upper &>> shift ^ lower) & mask
        lower ^= difference
        upper ^= difference &<< shift
    }
}
