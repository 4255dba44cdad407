/// Some things in order; one alone, as mostly, takes no memory of its own.
struct Few<Element: Sendable>: Sendable {
    private var first: Element?
    private var others: [Element] = []

    init() {}

    init(_ element: Element) { first = element }

    init(_ elements: [Element]) {
        first = elements.first
        others = Array(elements.dropFirst())
    }

    init(repeating element: Element, count: Int) {
        self.init([Element](repeating: element, count: count))
    }

    mutating func append(_ element: Element) {
        if first == nil { first = element } else { others.append(element) }
    }

    mutating func reserveCapacity(_ count: Int) {
        if count > 1 { others.reserveCapacity(count - 1) }
    }

    /// Does something with each element, where it is: an iterator would copy them all.
    func forEach(_ body: (Element) -> Void) {
        if let first { body(first) }
        for index in others.indices { body(others[index]) }
    }
}

extension Few: RandomAccessCollection, MutableCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { first == nil ? 0 : 1 + others.count }

    subscript(index: Int) -> Element {
        get {
            guard index == 0, let first else { return others[index - 1] }
            return first
        }
        set {
            if index == 0, first != nil { first = newValue } else { others[index - 1] = newValue }
        }
    }
}

extension Few: Equatable where Element: Equatable {}
extension Few: Hashable where Element: Hashable {}
