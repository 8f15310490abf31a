/** What a secret looks like where none belongs: in a file that goes from hand to hand. Headers by name: `secret-header.ts`. */

const secretShapes: readonly RegExp[] = [
  // The prefixes by which services let their keys be recognised.
  /\b(sk|pk|rk)[-_][A-Za-z0-9_-]{16,}/,
  /\b(gsk|hf|r8|ghp|gho|github_pat|glpat|nvapi|xai|pplx|csk|tvly)[-_][A-Za-z0-9_-]{16,}/,
  /\bAIza[A-Za-z0-9_-]{30,}/,
  /\b(AKIA|ASIA)[A-Z0-9]{16}\b/,
  /(?<![\w-])(?=[\w-]*eyJ[\w-]{10})[\w-]+\.[\w-]{10,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
];
/** Of a header's value only: in an address such a run is an account's name, and "basic" is a word. */
const secretHeaderValue = /[A-Fa-f0-9]{32,}|[A-Za-z0-9+/_-]{40,}|^(bearer|basic)\s/i;

/** A guess, and a wide one: what it takes for a secret wrongly can be written otherwise. */
export function looksLikeSecret(text: string): boolean {
  return secretShapes.some((shape) => shape.test(text));
}

/** Narrower, since the names of models must stay: some begin as the keys of a service do (`xai-grok-4-fast-reasoning`). */
const certainShape = new RegExp(
  [
    /\bsk[-_][A-Za-z0-9_-]{16,}/,
    /\b(?:pk|rk|gsk|hf|r8|ghp|gho|github_pat|glpat|nvapi|xai|pplx|csk|tvly)[-_](?=[A-Za-z0-9_-]{0,20}[A-Za-z0-9]{20})[A-Za-z0-9_-]+/,
    /\bAIza[A-Za-z0-9_-]{30,}/,
    /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/,
    /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_.-]{10,}/,
    /(?<=\b[Bb]earer )\S{8,}/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

/** Of what `certainShape` finds: `Bearer` and eight characters. */
const shortestShape = 15;

/** A short text without what surely is a secret. */
export function redactSecretShapes(text: string): string {
  return text.length < shortestShape ? text : text.replace(certainShape, '[redacted]');
}

export function looksLikeSecretInHeader(value: string): boolean {
  return looksLikeSecret(value) || secretHeaderValue.test(value);
}

/** Whether an address carries a user or a password. */
export function hasUserInfo(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && (url.username !== '' || url.password !== '');
}
