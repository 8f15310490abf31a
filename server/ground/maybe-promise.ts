/**
 * A value, or a promise of one: SQLite answers synchronously, a database server does not. Code on the request path
 * awaits only actual promises, because each `await` costs a request as much as a look-up of its model.
 */
export type MaybePromise<T> = T | Promise<T>;
