import { createTwoFilesPatch } from 'diff';
import { redactSecretShapes } from '../contract/secret-shape.ts';

/** A line that sets a key, token or password. A value that begins with `$` or `{` refers to a variable. */
const secretLine = /((?:key|token|secret|password)["']?[ \t]*[:=][ \t]*["']?)([^\s"',{}$[\]][^\s"',]{7,})/i;
const variableName = /^[A-Z][A-Z0-9_]*$/;

interface Change {
  path: string;
  before: string | null;
  after: string | null;
}

/** A unified diff for people. Anything that looks like a secret is hidden, including in the context lines. */
export function showDiff({ path, before, after }: Change): string {
  const names = { old: before === null ? '/dev/null' : path, new: after === null ? '/dev/null' : path };
  const diff = createTwoFilesPatch(names.old, names.new, before ?? '', after ?? '', undefined, undefined, {
    context: 3,
  });
  const lines = diff.split('\n').filter((line) => !line.startsWith('\\ No newline'));
  // Removes the line above it, which other tools use to split patches.
  return lines
    .slice(lines.findIndex((line) => line.startsWith('--- ')))
    .map(withoutSecret)
    .join('\n');
}

function withoutSecret(line: string): string {
  return redactSecretShapes(line).replace(secretLine, (whole, name, value) =>
    variableName.test(value) ? whole : `${name}…`,
  );
}
