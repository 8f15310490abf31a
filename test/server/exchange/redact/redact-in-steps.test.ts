/** Long bodies are searched for secrets in steps: what is found is the same, and no step takes long. */
import { describe, expect, test } from 'vitest';
import { Redactor } from '../../../../server/exchange/redact/redactor.ts';
import { finish, finishInSlices } from '../../../../server/ground/promises.ts';
import { cpuMsOf } from '../../../support/cpu-work.ts';

/** Put together here so that no scanner takes them for real. */
const credential = `sk-planted-${'a1B2c3D4'.repeat(5)}`;
const foreign = ['gh', 'p_', 'a1B2c3D4e5'.repeat(4)].join('');
const pem = ['-----BEGIN PRIVATE', 'KEY-----\\nMIIa1B2', `${'c3D4e5F6'.repeat(400)}\\n-----END PRIVATE`, 'KEY-----'];
const secrets = [credential, foreign, pem.join(' ')];
const redactor = new Redactor([credential]);
const stepLength = 64 * 1024;
const megabyte = 1_000_000;

const prose = (length: number) =>
  'The fox writes code at example.com/a/b, with x-1 = y_2 and \\"more\\". '.repeat(length / 60);

describe('a secret at the border of two steps is removed as a whole', () => {
  test.each(secrets)('%s', (secret) => {
    for (let back = 0; back <= secret.length + 2; back += Math.ceil(secret.length / 20)) {
      const before = prose(3 * stepLength).slice(0, 2 * stepLength - back - '{"text":"'.length);
      const whole = before.endsWith('\\') ? `${before.slice(0, -1)}x` : before;
      const body = Buffer.from(`{"text":"${whole} ${secret} ${prose(stepLength)}"}`);
      const redacted = redactor.body(body).toString();
      expect(redacted).toBe(body.toString().replace(secret, '[redacted]'));
    }
  });
});

/** By what takes long in it. */
const bodies: Readonly<Record<string, () => string>> = {
  'one long text': () => JSON.stringify({ content: prose(megabyte) }),
  'many texts': () => JSON.stringify(Array.from({ length: 1_000 }, () => ({ content: prose(1_000) }))),
  'a stream': () =>
    Array.from({ length: 7_000 }, (_, index) => {
      const choices = [{ index: 0, delta: { content: ` word${index % 90}` } }];
      return `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', model: 'gpt-x', choices })}\n\n`;
    }).join(''),
  'escapes alone': () => `{"content":"${'\\u0041\\n'.repeat(megabyte / 8)}"}`,
  base64: () => JSON.stringify({ image: Buffer.alloc(megabyte, 'a1B2c3D4-').toString('base64') }),
};

const runs = 5;
/** The longest step, of all time that the search takes. */
const mostShare = 0.2;

test.each(Object.entries(bodies))('no step of a megabyte takes long: %s', async (_what, make) => {
  const body = Buffer.from(make());
  /** By step, the least of all runs: a busy machine holds up another one each time. */
  const least: number[] = [];
  for (let run = 0; run < runs; run++) {
    const steps = redactor.bodyInSteps(body);
    for (let step = 0, isDone = false; !isDone; step++) {
      const tookMs = await cpuMsOf(() => (isDone = steps.next().done === true));
      least[step] = Math.min(least[step] ?? Number.POSITIVE_INFINITY, tookMs);
    }
  }
  expect(Math.max(...least) / least.reduce((sum, each) => sum + each)).toBeLessThan(mostShare);
});

test('slices find what all steps at once find, and others run between them', async () => {
  const body = Buffer.from(`{"text":"${prose(megabyte)} ${credential} ${prose(megabyte)}"}`);
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const inSlices = await finishInSlices(redactor.bodyInSteps(body));
  isDone = true;
  expect(inSlices.equals(finish(redactor.bodyInSteps(body)))).toBe(true);
  expect(inSlices.toString()).toContain(' [redacted] ');
  expect(turns).toBeGreaterThan(5);
});
