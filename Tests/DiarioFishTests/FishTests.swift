import DiarioFish
import Testing

@Suite struct FishTests {
    @Test func theModuleHasAName() { #expect("\(Fish.self)" == "Fish") }
}
