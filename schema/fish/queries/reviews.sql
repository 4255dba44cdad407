-- query reviews(reportId TEXT): what researchers said about a report, the last first
SELECT outcome, remeasuredUm, note, actor, at
FROM review WHERE reportId = :reportId
ORDER BY stamp DESC;
