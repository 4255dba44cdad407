-- query imported-line(importId TEXT, line INTEGER): the reports that a line of an import became
-- answers (rowSha256 BLOB, observedOn DATE, ordinal INTEGER, reportId TEXT)
-- example importId='orbetello-2016', line=2
SELECT rowSha256, observedOn, ordinal, reportId FROM import_row
WHERE importId = :importId AND line = :line
ORDER BY rowSha256, observedOn, ordinal;
