import { callGateway, errorMessageOf } from '../../state/calls/gateway-api.ts';

export type TestOutcome =
  | { kind: 'passed'; durationMs: number }
  | { kind: 'refused'; status: number; message: string }
  | { kind: 'unreachable' };

/** Makes a real, short call to the model, as a client would. */
export async function testConnection(secret: string, model: string): Promise<TestOutcome> {
  const startedAt = performance.now();
  // Without a token limit, because providers use different names for it and refuse unknown ones.
  const body = { model, messages: [{ role: 'user', content: 'Reply with the word OK.' }] };
  try {
    const response = await callGateway({ path: '/chat/completions', secret, body });
    const text = await response.text();
    if (!response.ok) return { kind: 'refused', status: response.status, message: errorMessageOf(text) };
    return { kind: 'passed', durationMs: performance.now() - startedAt };
  } catch {
    return { kind: 'unreachable' };
  }
}
