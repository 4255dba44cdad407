-- query visits(placeId TEXT): what visitors wrote about a place, with the mean of its ratings
SELECT v.day, v.actor, v.rating, v.contact, v.note, 1.0 * r.stars / nullif(r.visitors, 0) AS mean,
    r.visitors
FROM visit AS v LEFT JOIN place_rating AS r USING (placeId)
WHERE v.placeId = :placeId
ORDER BY v.day DESC, v.at DESC, v.origin;
