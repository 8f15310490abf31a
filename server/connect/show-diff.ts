import { createTwoFilesPatch } from 'diff';
import { redactSecretShapes } from '../contract/secret-shape.ts';

/** A line that sets a key, token or password, whatever it looks like. */
const secretLine = /((?:key|token|secret|password)["']?\s*[:=]\s*["']?)([^\s"',{}$[\]][^\s"',]{7,})/i;

interface Change {
  path: string;
  before: string | null;
  after: string | null;
}

/** A unified diff for people. What looks like a secret is hidden, in the lines around the change too. */
export function showDiff({ path, before, after }: Change): string {
  const names = { old: before === null ? '/dev/null' : path, new: after === null ? '/dev/null' : path };
  const diff = createTwoFilesPatch(names.old, names.new, before ?? '', after ?? '', undefined, undefined, {
    context: 3,
  });
  return diff
    .split('\n')
    .filter((line) => !line.startsWith('=====') && !line.startsWith('\\ No newline'))
    .map((line) => redactSecretShapes(line).replace(secretLine, '$1…'))
    .join('\n');
}
