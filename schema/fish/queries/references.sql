-- query references(referenceId TEXT of references = NULL): coins and cards of known size
-- answers (referenceId TEXT, nameIt TEXT, nameEn TEXT?, shape ReferenceShape, diameterUm INTEGER?,
--   widthUm INTEGER?, heightUm INTEGER?, thicknessUm INTEGER)
SELECT referenceId, nameIt, nameEn, shape, diameterUm, widthUm, heightUm, thicknessUm
FROM reference
WHERE :referenceId IS NULL OR referenceId = :referenceId
ORDER BY shape = 'card', diameterUm DESC, referenceId;
