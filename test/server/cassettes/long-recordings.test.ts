import { expect, test } from 'vitest';
import type { RecordedExchange } from '../../../server/cassettes/format.ts';
import { ExchangeRecording } from '../../../server/cassettes/recording.ts';
import { Redactor } from '../../../server/exchange/redact/redactor.ts';

test('a long stream is stored in slices, between which others have their turn', async () => {
  const secret = 'planted-credential-4711';
  let stored: Promise<RecordedExchange> | null = null;
  const recording = new ExchangeRecording({
    incoming: { id: 'req_1', keepAlive: Buffer.from(':\n\n') },
    request: { method: 'POST', path: '/v1/chat/completions', wire: 'chat', headers: {}, body: null },
    redactor: new Redactor([secret]),
    startMs: 0,
    ended(exchange) {
      if (typeof exchange !== 'string') stored = exchange;
    },
  });
  recording.begin(200, { 'content-type': 'text/event-stream' });
  const event = Buffer.from(`data: {"content":"${'Some words. '.repeat(80)}"}\n\n`);
  for (let times = 0; times < 2_000; times++) recording.take(event);
  // One after the other, so that it is in neither event as a whole.
  for (const part of [secret.slice(0, 9), secret.slice(9)])
    recording.take(Buffer.from(`data: {"content":"${part}"}\n\n`));
  expect(recording.end('complete', null)).toBe(true);

  let turns = 0;
  let hasEnded = false;
  const countTurns = () => {
    turns++;
    if (!hasEnded) setImmediate(countTurns);
  };
  countTurns();
  const exchange = await (stored as Promise<RecordedExchange> | null);
  hasEnded = true;
  // It takes far more than the 5 ms of a slice on any machine.
  expect(turns).toBeGreaterThan(5);
  const text = JSON.stringify(exchange);
  expect(text).toContain('Some words.');
  expect(text).toContain('[redacted]');
  expect(text).not.toContain(secret.slice(0, 9));
});
