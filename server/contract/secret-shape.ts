/** Recognises secrets by their form, in team presets and log lines. `secret-header.ts` recognises headers by name. */

const secretShapes: readonly RegExp[] = [
  // Key prefixes of known services.
  /\b(sk|pk|rk)[-_][A-Za-z0-9_-]{16,}/,
  /\b(gsk|hf|r8|ghp|gho|github_pat|glpat|nvapi|xai|pplx|csk|tvly)[-_][A-Za-z0-9_-]{16,}/,
  /\bAIza[A-Za-z0-9_-]{30,}/,
  /\b(AKIA|ASIA)[A-Z0-9]{16}\b/,
  /(?<![\w-])(?=[\w-]*eyJ[\w-]{10})[\w-]+\.[\w-]{10,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
];
/** For header values only: in a URL such a sequence may be an account name, and "basic" is a common word. */
const secretHeaderValue = /[A-Fa-f0-9]{32,}|[A-Za-z0-9+/_-]{40,}|^(bearer|basic)\s/i;

/** A broad guess: false positives are acceptable, because a preset's author can reword the text. */
export function looksLikeSecret(text: string): boolean {
  return secretShapes.some((shape) => shape.test(text));
}

/**
 * Narrower than `secretShapes`, because model names must stay readable: `xai-grok-4-fast-reasoning` begins like a key.
 */
export const secretShape = new RegExp(
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

/** Length of the shortest match of `secretShape`: `Bearer` and eight characters. */
const shortestShape = 15;

/** Replaces secrets in a short text. */
export function redactSecretShapes(text: string): string {
  return text.length < shortestShape ? text : text.replace(secretShape, '[redacted]');
}

export function looksLikeSecretInHeader(value: string): boolean {
  return looksLikeSecret(value) || secretHeaderValue.test(value);
}

/** Whether a URL contains a user name or a password. */
export function hasUserInfo(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && (url.username !== '' || url.password !== '');
}
