import { hash } from 'node:crypto';

/** As the configuration holds it: keys are random and long, so a plain hash protects them. */
export function hashKeySecret(secret: string): string {
  return `sha256:${hash('sha256', secret)}`;
}
