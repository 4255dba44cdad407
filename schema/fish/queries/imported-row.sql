-- query imported-row(rowSha256 BLOB): the report that a row of a file became, if it was imported
SELECT reportId, importId, line FROM import_row WHERE rowSha256 = :rowSha256;
