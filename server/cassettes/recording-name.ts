/** The names of recordings, such as `0001-chat-completions-3f2a9c.json`, which sort in the order of the requests; and of tests' folders. */
import { createHash } from 'node:crypto';

interface NameParts {
  number: number;
  /** The route's path: `/v1/chat/completions`. */
  label: string;
  /** The request's hash. A request that is recorded again keeps its name. */
  hash: string;
}

const maxSlugLength = 40;

export function fileNameOf({ number, label, hash }: NameParts): string {
  const slug = label
    .toLowerCase()
    .replace(/^\/v1(?:beta)?\//, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, maxSlugLength)
    .replace(/^-|-$/g, '');
  return `${String(number).padStart(4, '0')}-${slug || 'request'}-${hash.slice(0, 6)}.json`;
}

/** Returns 0 for a name without a number. */
export function numberOf(name: string): number {
  const digits = /^\d{1,9}(?=-)/.exec(name)?.[0];
  return digits === undefined ? 0 : Number(digits);
}

const longestFolder = 80;
/** Names of devices, which Windows takes for no folder. */
const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/** Another one for each name of a test, on every file system. `test_weather[rain]` becomes `test_weather-rain-4f2a91`. */
export function folderOfTest(name: string): string {
  const plain = name
    .slice(0, longestFolder)
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^-|-$/g, '');
  if (plain === name && !reserved.test(name)) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 6);
  return plain === '' ? hash : `${plain}-${hash}`;
}

export function isTestFolder(name: string): boolean {
  return /^[a-z0-9_-]{1,100}$/.test(name);
}
