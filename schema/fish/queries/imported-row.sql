-- query imported-row(row BLOB, day DATE,
--     ordinal INTEGER = NULL): the report that a row of a file became
-- The row is named by its SHA-256; without an ordinal it is the last of the equal rows of the day.
-- answers (ordinal INTEGER, reportId TEXT, importId TEXT, line INTEGER?)
-- example row=x'0049b5f19ac5667ef1e853f00befe4b36e9036f0b5312712914f82d9f5d791df', day='2026-01-20'
SELECT ordinal, reportId, importId, line FROM import_row
WHERE rowSha256 = :row AND observedOn = :day
    AND ordinal = coalesce(
        :ordinal,
        (SELECT max(ordinal) FROM import_row WHERE rowSha256 = :row AND observedOn = :day)
    );
