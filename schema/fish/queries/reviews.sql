-- query reviews(reportId TEXT): what researchers said about a report, the last first
-- answers (outcome ReviewOutcome, remeasuredUm INTEGER?, note TEXT?, actor TEXT, at TIME)
-- example reportId='quay-1-r'
SELECT outcome, remeasuredUm, note, actor, at
FROM review WHERE reportId = :reportId
ORDER BY stamp DESC;
