/** Reads untrusted JSON: unexpected values become empty ones, and nothing is thrown. */
import { isObject } from '../is-object.ts';

export type Json = Record<string, unknown>;

export const objectOf = (value: unknown): Json => (isObject(value) ? value : {});

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The elements of a list that are objects. */
export const objectsOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

export const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);
