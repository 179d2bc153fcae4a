/**
 * The newest migration that a program must know to run on tables with all migrations of the list. A migration that only
 * adds (a table, a column that may be null or has a default, an index) leaves it unchanged. A migration that removes or
 * changes what earlier programs use comes a version after the code has stopped using it, and sets this to the newest
 * migration of that version: expand, then contract.
 */
export const controlRunsFrom = "0031-say-who-runs";
