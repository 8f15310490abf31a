/**
 * `node build/release/verify.ts RELEASE`: checks a downloaded release as its users and their package managers will: all files
 * are there and have the checksums that are listed, feeds name files that exist, cask and winget name the installers.
 */
import { createHash } from 'node:crypto';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { packageManifests } from './assemble.ts';
import { builtNames, feedNames } from './installers.ts';
import { readFeed } from './merge-feeds.ts';

const checksums = 'SHA256SUMS';

export function releaseProblems(release: string, version: string, homepage: string): string[] {
  const present = globSync('*', { cwd: release });
  const missing = [...builtNames(version), checksums].filter((name) => !present.includes(name));
  if (missing.length > 0) return missing.map((name) => `${name} is missing.`);
  return [
    ...wrongChecksums(release, present),
    ...feedNames.flatMap((name) => feedProblems(release, name, version)),
    ...Object.entries(packageManifests(release, { version, homepage }))
      .filter(([name, text]) => !present.includes(name) || readFileSync(join(release, name), 'utf8') !== text)
      .map(([name]) => `${name} does not name the installers of this release.`),
  ];
}

function wrongChecksums(release: string, present: readonly string[]): string[] {
  const lines = readFileSync(join(release, checksums), 'utf8').trim().split('\n');
  const listed = new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
  const gone = [...listed.keys()].filter((name) => !present.includes(name)).map((name) => `${name} is missing.`);
  const wrong = present
    .filter((name) => name !== checksums && digest(release, name, 'sha256').toString('hex') !== listed.get(name))
    .map((name) => `${name} does not have the checksum that ${checksums} lists.`);
  return [...gone, ...wrong];
}

/** What an updater would refuse. */
function feedProblems(release: string, feedName: string, version: string): string[] {
  const feed = readFeed(readFileSync(join(release, feedName), 'utf8'));
  const wrong = feed.files.filter(({ url, sha512, size }) => {
    const stats = statSync(join(release, url), { throwIfNoEntry: false });
    if (stats === undefined || (size !== undefined && size !== stats.size)) return true;
    return digest(release, url, 'sha512').toString('base64') !== sha512;
  });
  return [
    ...(feed.version === version ? [] : [`${feedName} is of version ${feed.version}.`]),
    ...wrong.map(({ url }) => `${feedName} names ${url}, which is not that file.`),
  ];
}

function digest(release: string, name: string, algorithm: 'sha256' | 'sha512'): Buffer {
  return createHash(algorithm)
    .update(readFileSync(join(release, name)))
    .digest();
}

if (import.meta.main) {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
  const problems = releaseProblems(process.argv[2] ?? '', version, process.env.SLUICE_HOMEPAGE ?? '');
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
