import { isObject } from '../../contract/is-object.ts';

/** Null for what is no JSON, or JSON that is no object. */
export function parseObject(json: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
