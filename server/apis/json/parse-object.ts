import { isObject } from '../../contract/is-object.ts';

/** Null if `json` is not valid or not an object. */
export function parseObject(json: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
