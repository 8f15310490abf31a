/**
 * `node build/release/assemble.ts ARTIFACTS RELEASE NOTES`: puts into the folder RELEASE what the jobs on all systems made,
 * with joined feeds and bills of materials, the Homebrew cask, the winget manifests and one list of checksums, and writes the release's text into
 * the file NOTES. Fails if an installer is missing or two jobs made different files of one name.
 */
import { createHash } from 'node:crypto';
import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { writeChecksums } from '../checksums.ts';
import { newestChanges } from '../newest-changes.ts';
import { mergeSboms } from '../sbom.ts';
import { caskName, makeCask } from './cask.ts';
import { builtNames, feedNames, type ReleaseFacts } from './installers.ts';
import { mergeFeeds } from './merge-feeds.ts';
import { makeWingetManifests } from './winget.ts';

interface ReleaseFolders {
  /** The files of each job, in folders of any depth. */
  artifacts: string;
  release: string;
}

const root = join(import.meta.dirname, '../..');

export async function assembleRelease({ artifacts, release }: ReleaseFolders, homepage: string): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  mkdirSync(release, { recursive: true });
  for (const [name, paths] of filesByName(artifacts)) {
    const merge = mergeOf(name);
    if (merge) writeFileSync(join(release, name), merge(paths.map((path) => readFileSync(path, 'utf8'))));
    else copyFileSync(onlyContent(name, paths), join(release, name));
  }
  const present = new Set(globSync('*', { cwd: release }));
  const missing = builtNames(version).filter((name) => !present.has(name));
  if (missing.length > 0) throw new Error(`No job has made ${missing.join(', ')}.`);
  writeManifests(release, { version, homepage });
  await writeChecksums(release);
}

/** The newest changes, and how a download is verified. */
export function releaseNotes(changelog: string, homepage: string): string {
  const repository = new URL(homepage).pathname.slice(1);
  return `${newestChanges(changelog)}

### Verify a download

\`\`\`sh
sha256sum --check --ignore-missing SHA256SUMS
gh attestation verify FILE --repo ${repository}
\`\`\`
`;
}

/** The files that package managers read. They name each installer with its checksum. */
export function packageManifests(release: string, facts: Omit<ReleaseFacts, 'sha256Of'>): Record<string, string> {
  const sha256Of = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(release, name)))
      .digest('hex');
  return { [caskName]: makeCask({ ...facts, sha256Of }), ...makeWingetManifests({ ...facts, sha256Of }) };
}

function writeManifests(release: string, facts: Omit<ReleaseFacts, 'sha256Of'>): void {
  for (const [name, text] of Object.entries(packageManifests(release, facts))) writeFileSync(join(release, name), text);
}

function filesByName(folder: string): Map<string, string[]> {
  const files = globSync('**/*', { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile());
  return Map.groupBy(
    files.map(({ parentPath, name }) => join(parentPath, name)),
    (path) => basename(path),
  );
}

/** How the files that several jobs write become one; undefined for those that one job writes. */
function mergeOf(name: string): ((texts: readonly string[]) => string) | undefined {
  if (feedNames.includes(name)) return mergeFeeds;
  return name.endsWith('.cdx.json') ? mergeSboms : undefined;
}

function onlyContent(name: string, [first = '', ...others]: string[]): string {
  const content = readFileSync(first);
  const differs = others.find((path) => !content.equals(readFileSync(path)));
  if (differs) throw new Error(`${name} has different content in ${first} and ${differs}.`);
  return first;
}

if (import.meta.main) {
  const [artifacts = '', release = '', notes = ''] = process.argv.slice(2);
  const homepage = process.env.SLUICE_HOMEPAGE ?? '';
  await assembleRelease({ artifacts, release }, homepage);
  writeFileSync(notes, releaseNotes(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), homepage));
}
