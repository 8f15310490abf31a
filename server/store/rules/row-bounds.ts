/** What the columns of both stores can hold. */

/** PostgreSQL indexes names of up to 2,704 bytes; a UTF-16 unit takes at most three. */
export const maxNameLength = 512;
/** The words of all errors of a request are indexed together, which PostgreSQL limits to 1 MB. */
export const maxErrorLength = 2_000;
/** PostgreSQL's `integer`. */
export const maxInteger = 2 ** 31 - 1;
/** No request uses a billion tokens, and the sum of nine million that claim to is still exact. */
export const maxAmount = 1e9;
export const maxMs = 1e15;
/** Its quarters of an hour are integers of PostgreSQL. */
export const maxTimeMs = Date.UTC(9999, 11, 31);
