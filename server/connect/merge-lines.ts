import { diff3Merge } from 'node-diff3';

/**
 * Applies the change from `base` to `changed` to `current`, line by line. Null if `current` differs from `base` in the
 * same lines.
 */
export function mergeLines(current: string, base: string, changed: string): string | null {
  const parts = diff3Merge(current.split('\n'), base.split('\n'), changed.split('\n'));
  const lines: string[] = [];
  for (const { ok } of parts) {
    if (!ok) return null;
    lines.push(...ok);
  }
  return lines.join('\n');
}
