-- query week(user TEXT, last DATE): the seven days up to a day, empty ones included
WITH RECURSIVE d (day, back) AS (
    SELECT date(:last, '-6 days'), 6
    UNION ALL SELECT date(:last, '-' || (back - 1) || ' days'), back - 1 FROM d WHERE back > 0
)
SELECT d.day, sum(t.energyMkcal) / 1000.0 AS kcal, a.steps,
    avg(sum(t.energyMkcal)) OVER () / 1000.0 AS meanOfDaysLogged,
    count(sum(t.energyMkcal)) OVER () AS daysLogged
FROM d
LEFT JOIN meal_total AS t ON t.actor = :user AND t.day = d.day AND t.entries > 0
LEFT JOIN activity AS a ON a.actor = :user AND a.day = d.day
GROUP BY d.day
ORDER BY d.day;
