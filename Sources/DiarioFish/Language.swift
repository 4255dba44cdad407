/// A language in which the domain speaks.
package enum Language: String, Sendable {
    case italian = "it"
    case english = "en"
}
