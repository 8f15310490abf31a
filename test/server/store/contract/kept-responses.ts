import { describe, expect, test } from 'vitest';
import { type StoreSubject, useStore } from './store-subject.ts';

const kept = (id: string, more: object = {}) => ({
  id,
  groupId: 'default',
  response: `{"id":"${id}"}`,
  input: '[{"role":"user","content":"Grüße 👋"}]',
  ...more,
});

export function keptResponseContract(subject: StoreSubject): void {
  describe('a kept response', () => {
    const used = useStore(subject);
    const responses = () => used.store.keptResponses;

    test('is found at once, and as it was after a restart', async () => {
      responses().keep(kept('one'));
      expect(await responses().find('one', 'default')).toMatchObject(kept('one'));
      await used.restart();
      expect(await responses().find('one', 'default')).toMatchObject(kept('one'));
    });

    test('is no other group’s', async () => {
      responses().keep(kept('one'));
      responses().keep(kept('one', { groupId: 'other', response: '{}' }));
      await used.restart();
      expect(await responses().find('one', 'other')).toMatchObject({ response: '{}' });
      expect(await responses().find('one', 'third')).toBeUndefined();
    });

    test('that is forgotten stays so', async () => {
      for (const id of ['one', 'two']) responses().keep(kept(id));
      await used.restart();
      responses().forget('one', 'default');
      await used.restart();
      expect(await responses().find('one', 'default')).toBeUndefined();
      expect(await responses().find('two', 'default')).toBeDefined();
    });

    test('is none if it is too long, or if nothing is to be stored', async () => {
      used.settings.keptResponses.bytesPerGroup = 1_000_000;
      expect(responses().mayKeep({ response: 'x'.repeat(70_000), input: '' })).toBe(false);
      responses().keep(kept('one', { response: 'x'.repeat(70_000) }));
      used.settings.keptResponses.retentionHours = 0;
      responses().keep(kept('two'));
      used.settings.keptResponses.retentionHours = 24;
      await used.restart();
      expect(await responses().find('one', 'default')).toBeUndefined();
      expect(await responses().find('two', 'default')).toBeUndefined();
    });

    test('makes room for later ones of its group alone', async () => {
      used.settings.keptResponses.bytesPerGroup = 1_000;
      responses().keep(kept('other', { groupId: 'other', response: 'x'.repeat(50), input: '' }));
      for (let count = 1; count <= 12; count++) {
        responses().keep(kept(`r${count}`, { response: 'x'.repeat(50), input: '' }));
        // Each is written before the next, so that they have an order.
        if (count % 4 === 0) await used.restart();
      }
      const found = async (id: string, groupId = 'default') => (await responses().find(id, groupId)) !== undefined;
      expect(await found('r1')).toBe(false);
      expect(await found('r12')).toBe(true);
      expect(await found('other', 'other')).toBe(true);
    });

    test('expires by the settings of the moment', async () => {
      responses().keep(kept('one'));
      await used.restart();
      await responses().sweep();
      expect(await responses().find('one', 'default')).toBeDefined();
      used.settings.keptResponses.retentionHours = -1;
      expect(await responses().find('one', 'default')).toBeUndefined();
      await responses().sweep();
      used.settings.keptResponses.retentionHours = 24;
      expect(await responses().find('one', 'default')).toBeUndefined();
    });
  });
}
