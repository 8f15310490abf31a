import { describe, expect, it } from 'vitest';
import { answerOf, callCommand } from '../../../../renderer/components/first-call/first-call.ts';
import { progressOf } from '../../../../renderer/state/first-run/use-first-run.ts';
import type { LiveRequest } from '../../../../renderer/state/requests/live-request.ts';

const answered: LiveRequest = {
  id: 'req_1',
  startedAt: 0,
  keyId: 'k1',
  groupId: 'default',
  route: '/v1/chat/completions',
  method: 'POST',
  capability: 'chat',
  modelAsked: 'gpt-x',
  stream: false,
  session: null,
  outcome: 'ok',
  status: 200,
  errorCode: null,
  fault: null,
  cassette: null,
  shadowOf: null,
  captured: null,
  modelServed: 'gpt-x',
  provider: 'p1',
  firstByteMs: 1,
  totalMs: 2,
  usage: null,
  attempts: [],
  usageCertainty: 'none',
  costUsd: null,
  client: 'codex_cli_rs/0.61',
};
const window = 'Mozilla/5.0 (X11) Chrome/140 [Sluice window]';
const stepsOf = (changes: Partial<LiveRequest>) => {
  const { hasCalled, hasAddress, hasTool } = progressOf({ views: null, requests: [{ ...answered, ...changes }] });
  return [hasCalled, hasAddress, hasTool];
};

describe('how far a newcomer has come', () => {
  it.each([
    ['a tool’s request that was answered', {}, [true, true, true]],
    ['a call from the window', { client: window }, [true, false, false]],
    ['a call in the terminal', { client: 'curl/8.5.0' }, [true, true, false]],
    ['a call from a script', { client: 'python-requests/2.32.3' }, [true, true, false]],
    ['one that does not say from what', { client: null }, [true, true, false]],
    ['a request that failed', { outcome: 'error', status: 404 }, [false, false, false]],
    ['one that runs', { outcome: null, status: null }, [false, false, false]],
    ['a list of models', { method: 'GET', route: '/v1/models', capability: null }, [false, false, false]],
  ] satisfies [string, Partial<LiveRequest>, boolean[]][])('by %s', (_, changes, expected) => {
    expect(stepsOf(changes)).toEqual(expected);
  });
});

describe('the first call', () => {
  it('is a command for a shell, whatever the model is called', () => {
    const command = callCommand({ baseUrl: 'http://127.0.0.1:4810/v1', key: 'sk-sluice-1', model: "it's" });
    expect(command).toContain('curl http://127.0.0.1:4810/v1/chat/completions \\\n');
    expect(command).toContain('Bearer sk-sluice-1');
    expect(command).toContain(String.raw`"model":"it'\''s"`);
  });

  const reply = { isOk: true, requestId: null, durationMs: 1 };
  it.each([
    ['an answer', { ...reply, text: '{"choices":[{"message":{"content":"Hello"}}]}' }, { isOk: true, text: 'Hello' }],
    ['an empty one', { ...reply, text: '{"choices":[]}' }, { isOk: false, text: '{"choices":[]}' }],
    ['what is no JSON', { ...reply, text: '<html>' }, { isOk: false, text: '<html>' }],
    ['an error', { ...reply, isOk: false, text: '{"error":{"message":"No."}}' }, { isOk: false, text: 'No.' }],
  ])('shows %s as what it is', (_, given, expected) => {
    expect(answerOf(given)).toMatchObject(expected);
  });
});
