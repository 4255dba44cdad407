extension Pack {
    /// Checks every line of the examples as `record` would; gives all problems.
    package func checkExamples() -> [PackProblem] {
        let catalog: TypeCatalog
        do {
            catalog = try TypeCatalog(types)
        } catch {
            preconditionFailure("a loaded pack defines each version of a type once")
        }
        var all: [PackProblem] = []
        var reader = EventLineReader(catalog: catalog, options: .batchReferences)
        var line = EventLine()
        for file in files where file.path.hasPrefix(PackReader.examplesFolder) {
            var lines = file.bytes.split(separator: 0x0a, omittingEmptySubsequences: false)
            if lines.last?.isEmpty == true { lines.removeLast() }
            var problems = ProblemList(file: file.path)
            for (index, text) in lines.enumerated() where !problems.isFull {
                do {
                    try reader.read(text.span, into: &line)
                } catch {
                    problems.add(index + 1, error.rule, error.message)
                }
            }
            all += problems.problems
        }
        return all
    }
}
