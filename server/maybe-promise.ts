/**
 * A result that is there at once, or comes later. SQLite is asked synchronously, a server is not. Callers on a request's path
 * wait only for a promise, since each wait costs a request as much as a look-up of its model.
 */
export type MaybePromise<T> = T | Promise<T>;
