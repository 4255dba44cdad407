-- The one other spelling becomes a list of one. Control characters but these three do not occur in
-- names; an event with another one is listed by quarantine.
SELECT :placeId AS placeId, :parentId AS parentId, :name AS name,
    '["' || replace(replace(replace(replace(replace(
        :alias, '\', '\\'), '"', '\"'), char(9), '\t'), char(10), '\n'), char(13), '\r') || '"]'
        AS aliases,
    NULL AS latE7, NULL AS lonE7;
