"""Chess boards as pictures: turned pieces on a board on a table, or a flat diagram."""
