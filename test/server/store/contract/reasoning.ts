import { describe, expect, test } from 'vitest';
import type { ReasoningStore } from '../../../../server/store/ports/reasoning-store.ts';
import { type StoreSubject, useStore } from './store-subject.ts';

async function find(store: ReasoningStore, keyId: string, callIds: string[]) {
  await store.prefetch?.(keyId, callIds);
  return Object.fromEntries(store.find(keyId, callIds));
}

export function reasoningContract(subject: StoreSubject): void {
  describe('reasoning', () => {
    const used = useStore(subject);
    const reasoning = () => used.store.reasoning;

    test('is found at once, and after a restart', async () => {
      reasoning().keep('k1', 'call_1', '"because"');
      reasoning().keep('k1', 'call_2', '"since"');
      const asked = ['call_1', 'call_2', 'call_3'];
      const kept = { call_1: '"because"', call_2: '"since"' };
      expect(await find(reasoning(), 'k1', asked)).toEqual(kept);
      await used.restart();
      expect(await find(reasoning(), 'k1', asked)).toEqual(kept);
    });

    test('is no other key’s', async () => {
      reasoning().keep('k1', 'call_1', '"because"');
      expect(await find(reasoning(), 'k2', ['call_1'])).toEqual({});
      await used.restart();
      expect(await find(reasoning(), 'k2', ['call_1'])).toEqual({});
    });

    test('that is kept again takes the place of the first', async () => {
      reasoning().keep('k1', 'call_1', '"first"');
      await reasoning().flush();
      reasoning().keep('k1', 'call_1', '"second"');
      expect(await find(reasoning(), 'k1', ['call_1'])).toEqual({ call_1: '"second"' });
      await used.restart();
      expect(await find(reasoning(), 'k1', ['call_1'])).toEqual({ call_1: '"second"' });
    });

    test('that is very long is not kept', async () => {
      reasoning().keep('k1', 'call_1', 'x'.repeat(600_000));
      expect(await find(reasoning(), 'k1', ['call_1'])).toEqual({});
    });
  });
}
