/** Answers of the upstreams in the fallback tests, and the requests to them. */
import { stretched } from '../../support/cpu-work.ts';
import { json } from '../../support/upstream.ts';
import { startTwo, type TwoUpstreams } from './two-upstreams.ts';

export const plain = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"model":"gpt-x","messages":[]}',
};

export const errorOf = (code: string | null, more: object = {}) => ({
  error: { message: `because of ${code}`, type: 'some_error', param: null, code, ...more },
});

const silenceMs = stretched(400);
export const policy = {
  retries: 1,
  fallbacks: 1,
  timeouts: { firstByteMs: silenceMs, firstContentMs: silenceMs, idleMs: silenceMs },
};

/** The answer of the second upstream. */
export const good = { id: 'x', object: 'chat.completion', model: 'model-of-two', choices: [] };

export async function startFallback(): Promise<TwoUpstreams> {
  const both = await startTwo(policy);
  both.two.answer((_request, response) => json(response, good));
  return both;
}

/** Resolves with the answer and its record in the ledger. */
export async function ask({ gateway }: TwoUpstreams, init: RequestInit = plain, path = '/chat/completions') {
  const response = await gateway.fetch(path, init);
  const text = await response.text();
  const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
  return { response, text, record };
}
