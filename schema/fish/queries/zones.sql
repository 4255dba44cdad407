-- query zones(): the zones of the sea, everywhere first
-- answers (zoneId TEXT, nameIt TEXT, nameEn TEXT?)
SELECT zoneId, nameIt, nameEn FROM zone ORDER BY zoneId <> '*', nameIt, zoneId;
