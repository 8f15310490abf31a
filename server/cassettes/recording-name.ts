/** The names of recordings: `0001-chat-completions-3f2a9c.json`, which sort in the order of the requests. */

interface NameParts {
  number: number;
  /** The route's path: `/v1/chat/completions`. */
  label: string;
  /** Of the request; the same request keeps its name when it is recorded again. */
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

/** 0 for a name without one. */
export function numberOf(name: string): number {
  const digits = /^\d{1,9}(?=-)/.exec(name)?.[0];
  return digits === undefined ? 0 : Number(digits);
}
