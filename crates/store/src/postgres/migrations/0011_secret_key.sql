-- Id of the key that encrypts the secrets of the database; no row while they are stored as they are.
CREATE TABLE harvestman.secret_key (id text PRIMARY KEY);
