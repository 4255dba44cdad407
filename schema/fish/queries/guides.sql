-- query guides(user TEXT): the guides that a user has put away
SELECT guideId, version FROM guide WHERE actor = :user ORDER BY guideId;
