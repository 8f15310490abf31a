/** Deeper values would overflow the stack of recursive code; they are stored and compared as text or bytes. */
const maxDepth = 200;

/** Undefined if the text is not JSON or is nested too deeply. */
export function parseShallowJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isShallow(value, maxDepth) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((item) => isShallow(item, depth - 1));
}
