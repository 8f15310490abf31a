import { describe, expect, test } from 'vitest';
import type { Job, JobStore, ReasoningStore } from '../../../../server/store/ports/kept-stores.ts';
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

async function callsOf(store: ReasoningStore, keyId: string, callIds: string[]) {
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
      expect(await callsOf(reasoning(), 'k1', asked)).toEqual(kept);
      await used.restart();
      expect(await callsOf(reasoning(), 'k1', asked)).toEqual(kept);
    });

    test('is no other key’s', async () => {
      reasoning().keep('k1', 'call_1', '"because"');
      expect(await callsOf(reasoning(), 'k2', ['call_1'])).toEqual({});
      await used.restart();
      expect(await callsOf(reasoning(), 'k2', ['call_1'])).toEqual({});
    });

    test('that is kept again takes the place of the first', async () => {
      reasoning().keep('k1', 'call_1', '"first"');
      await reasoning().flush();
      reasoning().keep('k1', 'call_1', '"second"');
      expect(await callsOf(reasoning(), 'k1', ['call_1'])).toEqual({ call_1: '"second"' });
      await used.restart();
      expect(await callsOf(reasoning(), 'k1', ['call_1'])).toEqual({ call_1: '"second"' });
    });

    test('that is very long is not kept', async () => {
      reasoning().keep('k1', 'call_1', 'x'.repeat(600_000));
      expect(await callsOf(reasoning(), 'k1', ['call_1'])).toEqual({});
    });
  });
}

export const job = (id: string, more: Partial<Job> = {}): Job => ({
  kind: 'video',
  id,
  groupId: 'default',
  providerId: 'main',
  credentialId: 'c1',
  model: 'sora-2',
  keyId: 'k1',
  createdAt: 1_000,
  ...more,
});
const object = (id: string, groupId = 'default') => job(id, { kind: 'object', groupId });

async function find(jobs: JobStore, { kind, id, groupId }: Job) {
  return (await jobs.lookUp([id], groupId)).find(kind, id, groupId);
}

export function jobContract(subject: StoreSubject): void {
  describe('a job', () => {
    const used = useStore(subject);
    const jobs = () => used.store.jobs;

    test('is found at once, and as it was after a restart', async () => {
      const plain = job('video_1', { credentialId: null, model: null, keyId: null });
      const other = job('resp_1', { kind: 'response', upstreamId: 'resp_2', owed: { usage: {}, costUsd: 0.5 } });
      for (const made of [plain, other]) {
        jobs().remember(made);
        expect(await find(jobs(), made)).toEqual(made);
      }
      await used.restart();
      for (const made of [plain, other]) expect(await find(jobs(), made)).toEqual(made);
    });

    test('is the group’s own of any kind, another’s, or none', async () => {
      const all = [object('file-1'), job('video_1'), object('file-2', 'other'), object('file-2')];
      for (const made of all) jobs().remember(made);
      const seenBy = async (groupId: string) => {
        const ids = ['file-1', 'video_1', 'file-2', 'file-3'];
        const known = await jobs().lookUp(ids, groupId);
        return ids.map((id) => {
          const found = known.findAny(id, groupId);
          return typeof found === 'object' ? `${found.kind} of ${found.groupId}` : found;
        });
      };
      await used.restart();
      expect(await seenBy('default')).toEqual([
        'object of default',
        'video of default',
        'object of default',
        undefined,
      ]);
      expect(await seenBy('other')).toEqual(['foreign', 'foreign', 'object of other', undefined]);
      expect(await seenBy('third')).toEqual(['foreign', 'foreign', 'foreign', undefined]);
    });

    test('of a kind or a group that was not asked for is not found', async () => {
      jobs().remember(job('video_1'));
      expect(await find(jobs(), job('video_1', { kind: 'response' }))).toBeUndefined();
      expect(await find(jobs(), job('video_1', { groupId: 'other' }))).toBeUndefined();
    });

    test('that is forgotten stays so, and may be made again', async () => {
      for (const id of ['video_1', 'video_2']) jobs().remember(job(id));
      await used.restart();
      for (const id of ['video_1', 'video_2']) jobs().forget('video', id, 'default');
      jobs().remember(job('video_2', { createdAt: 2_000 }));
      expect(await find(jobs(), job('video_1'))).toBeUndefined();
      await used.restart();
      expect(await find(jobs(), job('video_1'))).toBeUndefined();
      expect(await find(jobs(), job('video_2'))).toMatchObject({ createdAt: 2_000 });
    });

    test('that is new does not take the place of one that has an owner', async () => {
      jobs().remember(object('file-1', 'other'));
      jobs().remember(object('file-2'));
      await used.restart();
      for (const id of ['file-1', 'file-2', 'file-3']) jobs().rememberNew({ ...object(id), providerId: 'another' });
      await used.restart();
      const ids = ['file-1', 'file-2', 'file-3'];
      const known = await jobs().lookUp(ids, 'default');
      expect(known.findAny('file-1', 'default')).toBe('foreign');
      expect(known.findAny('file-2', 'default')).toMatchObject({ providerId: 'main' });
      expect(known.findAny('file-3', 'default')).toMatchObject({ providerId: 'another' });
    });

    test('keeps the size that is noted of it, at once and after a restart', async () => {
      const response = job('resp_1', { kind: 'response' });
      const waiting = job('resp_2', { kind: 'response' });
      const file = { ...object('file-1'), inputTokens: 2_000 };
      jobs().remember(response);
      jobs().rememberNew(file);
      await jobs().flush();
      jobs().remember(waiting);
      for (const made of [response, waiting]) jobs().noteSize(made, 1_234);
      jobs().noteSize(job('unknown'), 1);
      const all = [{ ...response, inputTokens: 1_234 }, { ...waiting, inputTokens: 1_234 }, file];
      for (const made of all) expect(await find(jobs(), made)).toEqual(made);
      await used.restart();
      for (const made of all) expect(await find(jobs(), made)).toEqual(made);
      expect(await find(jobs(), job('unknown'))).toBeUndefined();
    });

    test('that is forgotten has no size any more', async () => {
      const made = job('resp_1', { kind: 'response' });
      jobs().remember(made);
      await jobs().flush();
      jobs().noteSize(made, 5);
      jobs().forget('response', 'resp_1', 'default');
      jobs().remember(made);
      await used.restart();
      expect(await find(jobs(), made)).toEqual(made);
    });

    test('that owes still does so when its size is noted, until the ledger has its usage', async () => {
      const made = job('resp_1', { kind: 'response', owed: { usage: {}, costUsd: 1 } });
      jobs().remember(made);
      await jobs().flush();
      expect(jobs().settle(made)).toEqual(made);
      jobs().noteSize(made, 5);
      await used.restart();
      expect(await jobs().owing()).toEqual([{ ...made, inputTokens: 5 }]);
    });

    test('that is new is found at once', async () => {
      jobs().rememberNew(object('file-1'));
      expect(await find(jobs(), object('file-1'))).toEqual(object('file-1'));
    });
  });

  describe('jobs', () => {
    const used = useStore(subject);
    const jobs = () => used.store.jobs;

    test('of a kind that earlier versions wrote are found by their id', async () => {
      jobs().remember(job('char_1', { kind: 'character' }));
      await used.restart();
      const known = await jobs().lookUp(['char_1'], 'default');
      expect(known.findAny('char_1', 'default')).toMatchObject({ id: 'char_1' });
      expect(known.findAny('char_1', 'other')).toBe('foreign');
    });

    test('owe their usage until it is settled, once', async () => {
      const owed = { usage: { inputTokens: 7 }, costUsd: null };
      const made = job('resp_1', { kind: 'response', createdAt: 2_000 });
      jobs().remember(made);
      jobs().remember({ ...made, owed });
      jobs().remember(job('resp_2', { kind: 'response', owed }));
      await used.restart();
      expect((await jobs().owing()).map(({ id }) => id)).toEqual(['resp_2', 'resp_1']);
      expect(jobs().settle(made)).toEqual({ ...made, owed });
      expect(jobs().settle(made)).toBeUndefined();
      expect((await jobs().owing()).map(({ id }) => id)).toEqual(['resp_2']);
      expect(await find(jobs(), made)).toEqual(made);
    });

    test('of a moment ago survive the sweep', async () => {
      jobs().remember(job('video_1'));
      expect(await jobs().sweep()).toBe(0);
      expect(await find(jobs(), job('video_1'))).toBeDefined();
    });
  });
}
