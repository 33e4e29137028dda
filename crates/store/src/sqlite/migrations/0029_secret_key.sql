-- Id of the key that encrypts the secrets of the database; no row while they are stored as they are.
CREATE TABLE secret_key (id TEXT NOT NULL PRIMARY KEY) STRICT;
