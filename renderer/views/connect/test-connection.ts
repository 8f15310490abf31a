import { callGateway, errorMessageOf } from '../../gateway-api.ts';

export type TestOutcome =
  | { kind: 'passed'; models: number; durationMs: number }
  | { kind: 'refused'; status: number; message: string }
  | { kind: 'unreachable' };

/** Asks for the models, as a client's first call does. */
export async function testConnection(secret: string): Promise<TestOutcome> {
  const startedAt = performance.now();
  try {
    const response = await callGateway({ path: '/models', method: 'GET', secret });
    const text = await response.text();
    if (!response.ok) return { kind: 'refused', status: response.status, message: errorMessageOf(text) };
    const list: { data: unknown[] } = JSON.parse(text);
    return { kind: 'passed', models: list.data.length, durationMs: performance.now() - startedAt };
  } catch {
    return { kind: 'unreachable' };
  }
}
