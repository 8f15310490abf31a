/** The names of recordings, such as `0001-chat-completions-3f2a9c.json`. They sort in the order of the requests. */

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
