/**
 * The `Idempotency-Key` of a purchase (`isPurchase`): a provider that knows the header makes the object once, however often it
 * receives the request. draft-ietf-httpapi-idempotency-key-header; services that do not know it ignore it.
 */
import { randomUUID } from 'node:crypto';
import type { NextAttempt } from '../../routing/attempt-plan.ts';

const headerName = 'idempotency-key';

/** Of one request: the same key for each attempt with the same credential, another one for each other. */
export class IdempotencyKeys {
  readonly #keys = new Map<string, string>();

  /** A key that the client or the provider's configuration has set stays. */
  addTo(
    headers: Record<string, string>,
    { target: { provider }, credential }: Pick<NextAttempt, 'target' | 'credential'>,
  ): void {
    if (!provider.dialect.takesIdempotencyKeys) return;
    if (Object.keys(headers).some((name) => name.toLowerCase() === headerName)) return;
    const account = JSON.stringify([provider.id, credential?.id ?? null]);
    const key = this.#keys.get(account) ?? randomUUID();
    this.#keys.set(account, key);
    headers[headerName] = key;
  }
}
