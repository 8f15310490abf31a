import { hash } from 'node:crypto';

/** The `hash` of a key in the configuration. Keys have 250 random bits, so a plain hash is safe. */
export function hashKeySecret(secret: string): string {
  return `sha256:${hash('sha256', secret)}`;
}
