const secretName =
  /^(?:proxy-)?authorization$|^x-auth|cookie|(?:^|[-_])(?:api|access|auth|subscription)?[-_]?key$|apikey$|token$|secret|password|credential|signature/i;
const openKeys = new Set(['idempotency-key']);

/** Whether a header with this name usually carries a secret. */
export function isSecretHeader(name: string): boolean {
  return secretName.test(name) && !openKeys.has(name.toLowerCase());
}
