-- query references(referenceId TEXT = NULL): coins and cards of known size
SELECT referenceId, nameIt, nameEn, shape, diameterUm, widthUm, heightUm, thicknessUm
FROM reference
WHERE :referenceId IS NULL OR referenceId = :referenceId
ORDER BY shape = 'card', diameterUm DESC, referenceId;
