import DiarioSchema

/// Finds the word of a short list that was probably meant.
enum NearestWord {
    /// The one of `words` that takes the fewest changed letters, if at most two or it begins so.
    static func find(_ word: String, in words: [String]) -> String? {
        guard word.utf8.count <= 64 else { return nil }
        let ranked = words.map { (word: $0, distance: NearestName.distance(word, $0)) }
        if let best = ranked.min(by: { $0.distance < $1.distance }), best.distance <= 2 {
            return best.word
        }
        // Longer than the dashes, or every option would begin so.
        guard word.utf8.count > 3 else { return nil }
        let longer = words.filter { $0.hasPrefix(word) }
        return longer.count == 1 ? longer[0] : nil
    }
}
