-- query alert-rules(zoneId TEXT = NULL): the rules that hold, for a zone or for all
SELECT r.ruleId, r.zoneId, z.title, r.metric, r.op, r.value, r.unit, r.actor
FROM alert_rule AS r LEFT JOIN zone AS z USING (zoneId)
WHERE r.isCleared = 0 AND (:zoneId IS NULL OR r.zoneId = :zoneId)
ORDER BY z.title, r.ruleId;
