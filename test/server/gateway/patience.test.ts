import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { json } from '../../support/upstream.ts';
import { answer, chat, startTwo, streams, type TwoUpstreams, textOf } from './two-upstreams.ts';

// If another target is left, the default timeouts apply, in milliseconds instead of seconds. The last target has very
// long timeouts.
vi.mock('../../../server/routing/snapshot.ts', async (original) => {
  const last = {
    connectMs: 5_000,
    firstByteMs: 600_000,
    firstContentMs: 600_000,
    idleMs: 600_000,
    progressMs: 600_000,
  };
  return {
    ...(await original<object>()),
    compileTimeouts: () => ({
      last,
      stream: { ...last, firstByteMs: 60, firstContentMs: 60 },
      whole: { ...last, firstByteMs: 120, firstContentMs: 120 },
    }),
  };
});

let both: TwoUpstreams;
beforeEach(async () => {
  both = await startTwo({});
  both.one.answer(() => {});
});
afterEach(() => both.stop());

test('a whole answer comes from the next target long before the client gives up, and the last one may take its time', async () => {
  both.two.answer((_request, response) => void setTimeout(() => json(response, { choices: [] }), 400));
  const response = await both.gateway.fetch('/chat/completions', chat({ stream: false }));
  expect([response.status, await response.json()]).toEqual([200, { choices: [] }]);
  const record = await both.gateway.record(response.headers.get('x-sluice-request-id') ?? '');
  expect(record.attempts).toMatchObject([
    { failure: 'silent', error: expect.stringMatching(/120/) },
    { failure: null },
  ]);
});

test('a stream without any data comes from the next target even sooner', async () => {
  streams(both.two, answer('two', 'Hello'));
  const response = await both.gateway.fetch('/chat/completions', chat());
  expect(textOf(await response.text())).toBe('Hello');
  const record = await both.gateway.record(response.headers.get('x-sluice-request-id') ?? '');
  expect(record.attempts).toMatchObject([{ failure: 'silent', error: expect.stringMatching(/60/) }, { failure: null }]);
});
