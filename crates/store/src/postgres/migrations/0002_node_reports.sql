-- Where other nodes reach a node, and the settings that all nodes must have in common, as JSON text.
ALTER TABLE harvestman.node ADD COLUMN url text, ADD COLUMN settings text NOT NULL DEFAULT '{}';
