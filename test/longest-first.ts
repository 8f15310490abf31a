import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take long because they wait (for time limits, processes or pages). Vitest starts with the longest files by
 * size, so these would start last and run alone while the other workers are idle.
 */
const longest = [
  'e2e/gallery',
  'e2e/playground',
  'e2e/restart',
  'e2e/sleep',
  'e2e/newcomer',
  'e2e/keychain',
  'e2e/unwritable',
  'electron/desktop',
  'electron/team-preset',
  'electron/update',
  'electron/settings',
  'packaging/packaging',
  'packaging/npm-package',
  'packaging/container',
  'bench/bench',
  'e2e/descriptors',
  'e2e/secrets',
  'cli/log',
  'cli/cassettes',
  'cli/faults-judge',
  'cli/testing-tutorial',
  'faults/matrix',
  'faults/sequences',
  'faults/any-byte',
  'faults/recovery',
  'translate/any-history',
  'gateway/byte-identity',
  'gateway/slow-readers',
  'gateway/full-disk',
  'gateway/cassette-full-disk',
  'cassettes/kill-in-mid-recording',
  'config/kill-in-mid-write',
  'observability/loaded-when-on',
  'gateway/load',
  'soak/soak',
  'fuzz/',
];

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const place = longest.findIndex(
    (part) => moduleId.includes(`/test/${part}`) || moduleId.includes(`/test/server/${part}`),
  );
  return place === -1 ? longest.length : place;
}
