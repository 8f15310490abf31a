/**
 * `node build/release/check-name.ts`: a package is released only under a name that nobody has at npm yet, or that is this
 * repository's there. Otherwise everyone who follows the README would run a stranger's program.
 */
import { spawnSync } from 'node:child_process';
import { packageName } from './package-name.ts';

const notFound = 'E404';

/** What npm knows of a name: null if nobody has it, otherwise its repository, which may be empty. */
function repositoryOf(name: string): string | null {
  const { stdout, error } = spawnSync('npm', ['view', name, 'repository.url', '--json'], { encoding: 'utf8' });
  if (error) throw error;
  // Without such a field npm prints nothing.
  const answer = stdout.trim() === '' ? '' : JSON.parse(stdout);
  if (typeof answer === 'string') return answer;
  if (answer.error.code === notFound) return null;
  throw new Error(`npm cannot tell who has ${name}: ${answer.error.summary}`);
}

/** In the forms that npm and people write: `git+https://…/x.git`, `https://…/x`. */
function plainAddress(address: string): string {
  return address
    .replace(/^git\+/, '')
    .replace(/\.git$/, '')
    .toLowerCase();
}

const own = process.env.SLUICE_HOMEPAGE ?? '';
const found = repositoryOf(packageName);
if (found === null) {
  console.log(`Nobody has ${packageName} at npm. Its first version is published by hand: see docs/packaging.md.`);
} else if (plainAddress(found) !== plainAddress(own)) {
  console.error(
    `${packageName} at npm belongs to ${found || 'a package without a repository'}, not to ${own}. Set SLUICE_PACKAGE_NAME to a name of your own, such as @owner/sluice.`,
  );
  process.exitCode = 1;
}
