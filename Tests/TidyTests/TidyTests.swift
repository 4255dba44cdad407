import Testing

/// Holds the package to its style; each message says what to write instead.
@Suite struct TidyTests {
    @Test func theTreeIsFound() {
        #expect(SourceTree.files.count > 30)
        #expect(SourceTree.manifest.imports.count > 10)
    }

    @Test func filesAreShort() { check(SizeRules.longFiles) }
    @Test func functionsAreShort() { check(SizeRules.longFunctions) }
    @Test func typesAreShort() { report(TypeRules.longTypes(SourceTree.files)) }
    @Test func foldersAreInOrder() {
        report(TypeRules.circularFolders(SourceTree.files, TypeRules.folders))
    }
    @Test func linesAreShort() { check(SizeRules.longLines) }

    @Test func codeUsesNoBannedWords() { check(WordRules.bannedWords) }
    @Test func codeIsASCII() { check(WordRules.foreignCharacters) }

    @Test func unsafeExpressionsAreProvenSafe() { check(SafetyRules.unprovenUnsafe) }
    @Test func uncheckedSendabilityIsProven() { check(SafetyRules.uncheckedSendable) }

    @Test func theManifestKeepsToTheMap() { check(ImportRules.widenedManifest) }
    @Test func theManifestNamesWhatIsAbove() { check(ImportRules.laterTargets) }
    @Test func fewFilesLookDeep() { check(ImportRules.deepImports) }
    @Test func importsAreDeclared() {
        check { ImportRules.undeclaredImports($0, SourceTree.manifest) }
    }
    @Test func modulesOfCAreImportedByTheirWrappers() {
        check { ImportRules.unwrappedModules($0, SourceTree.manifest) }
    }
    @Test func foundationStaysAtTheEdge() { check(ImportRules.foundation) }

    @Test func theLimitsAreDocumented() {
        let source = SourceTree.file("Sources/DiarioCore/Limits.swift")
        report(DocumentRules.limits(source, document: SourceTree.file("schema/limits.md")))
    }
    @Test func decisionsNameTestsThatExist() {
        let decisions = SourceTree.files.filter { $0.path.hasPrefix("schema/decisions/") }
        report(decisions.flatMap { DecisionRules.missingTests($0, among: SourceTree.files) })
    }
    @Test func everyFileIsUsed() {
        report(PlacementRules.unusedFiles(SourceTree.files, SourceTree.manifest))
    }

    private func check(_ rule: (SourceFile) -> [Finding]) {
        report(SourceTree.files.flatMap(rule))
    }

    private func report(_ findings: [Finding]) {
        for finding in findings { Issue.record("\(finding)") }
    }
}
