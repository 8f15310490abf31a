/**
 * `node build/release/check-tag.ts v1.2.3`: a tag is released only if the package, its lock file and the newest section of
 * the changelog have its version.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newestHeading } from '../newest-changes.ts';

/** What does not have the version of the tag; empty if all do. */
export function tagProblems(tag: string, root: string): string[] {
  const read = (name: string) => readFileSync(join(root, name), 'utf8');
  const { version } = JSON.parse(read('package.json'));
  const lock = JSON.parse(read('package-lock.json'));
  const found = {
    'package.json': version,
    'package-lock.json': lock.version,
    'the root package of package-lock.json': lock.packages[''].version,
    'the newest section of CHANGELOG.md': newestHeading(read('CHANGELOG.md')),
  };
  if (!/^v\d+\.\d+\.\d+(-[\w.]+)?$/.test(tag)) return [`The tag ${tag} is not a version such as v1.2.3.`];
  return Object.entries(found)
    .filter(([, value]) => `v${value}` !== tag)
    .map(([place, value]) => `The tag is ${tag}, but ${place} has ${value}.`);
}

if (import.meta.main) {
  const problems = tagProblems(process.argv[2] ?? '', join(import.meta.dirname, '../..'));
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
