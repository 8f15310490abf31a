/** A machine with a wrong clock and an AWS access key, whose signatures contain a time. */
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hourMs } from '../../../server/contract/units.ts';
import { fetchModelList } from '../../../server/providers/list-models.ts';
import { createTransport } from '../../../server/transport/create-transport.ts';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { compiledProvider } from '../../support/providers.ts';
import { text } from '../../support/strict-anthropic.ts';
import { send, sendException, strictBedrock } from '../../support/strict-bedrock.ts';
import { json, type Script, type ScriptedUpstream, type SeenRequest, startUpstream } from '../../support/upstream.ts';

const key = 'AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const model = 'us.anthropic.claude-opus-4-5-20251101-v1:0';
const answering = strictBedrock((call, response) => send(response, call, [text('Hello')]));
let upstream: ScriptedUpstream;
beforeEach(async () => {
  upstream = await startUpstream();
});
afterEach(() => upstream.stop());

/** Refuses signatures as Bedrock does, with a clock that differs this much from the machine's. */
const atTime =
  (aheadMs: () => number, answer: Script): Script =>
  (request, response, raw) => {
    const nowMs = Date.now() + aheadMs();
    response.setHeader('date', new Date(nowMs).toUTCString());
    if (Math.abs(signedAt(request) - nowMs) < 5 * 60_000) return answer(request, response, raw);
    refuse(
      response,
      'Signature expired: 20261122T000000Z is now earlier than 20261122T005500Z (20261122T010000Z - 5 min.)',
    );
  };

function refuse(response: ServerResponse, said: string): void {
  sendException(response, 403, 'InvalidSignatureException', said);
}

function signedAt({ headers }: SeenRequest): number {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(headers['x-amz-date'])) ?? [];
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

describe('requests', () => {
  let gateway: TestGateway;
  beforeEach(async () => {
    gateway = await startGateway({
      config: {
        groups: [{ id: 'default', policy: { retries: 0 } }],
        providers: [mainProvider(upstream.origin, { dialect: 'bedrock', models: [model] })],
      },
      secrets: { 'provider/main/c1': key },
    });
  });
  afterEach(() => gateway.stop());

  const ask = async () => {
    const asked = { model, messages: [{ role: 'user' as const, content: 'Hi' }] };
    return (await gateway.client.chat.completions.create(asked)).choices[0]?.message.content;
  };
  const health = async () => (await gateway.gateway.query({ type: 'providers' }))[0]?.credentials[0]?.health.state;

  test.each([
    ['behind', hourMs],
    ['ahead', -hourMs],
  ])(
    'of a clock that is %s are signed again by the clock of AWS, and so are those after them',
    async (_which, aheadMs) => {
      upstream.answer(atTime(() => aheadMs, answering));
      expect(await Promise.all([ask(), ask(), ask()])).toEqual(['Hello', 'Hello', 'Hello']);
      upstream.seen.length = 0;
      expect(await ask()).toBe('Hello');
      expect(upstream.seen).toHaveLength(1);
      expect(await health()).toBe('ok');
    },
  );

  test('go on when the clock has been set right', async () => {
    let aheadMs = hourMs;
    upstream.answer(atTime(() => aheadMs, answering));
    expect(await ask()).toBe('Hello');
    aheadMs = 0;
    expect(await ask()).toBe('Hello');
  });

  test('with a wrong key are not sent again, and the key is refused', async () => {
    const wrong = 'The request signature we calculated does not match the signature you provided.';
    upstream.answer(
      atTime(
        () => 0,
        (_request, response) => refuse(response, wrong),
      ),
    );
    await expect(ask()).rejects.toMatchObject({ status: 502 });
    expect(upstream.seen).toHaveLength(1);
    expect(await health()).toBe('refused');
  });

  test('with a wrong key and a wrong clock are sent again once', async () => {
    const wrong = 'The request signature we calculated does not match the signature you provided.';
    upstream.answer(
      atTime(
        () => hourMs,
        (_request, response) => refuse(response, wrong),
      ),
    );
    await expect(ask()).rejects.toMatchObject({ status: 502 });
    expect(upstream.seen).toHaveLength(2);
    expect(await health()).toBe('refused');
  });

  test('to a server whose time is nonsense end all the same', async () => {
    let aheadMs = 0;
    upstream.answer(atTime(() => (aheadMs += hourMs), answering));
    await expect(ask()).rejects.toMatchObject({ status: 502 });
    expect(upstream.seen).toHaveLength(2);
  });
});

test('a list of models is asked for again by the clock of AWS', async () => {
  const lists: Script = ({ url }, response) =>
    json(response, url.startsWith('/foundation-models') ? { modelSummaries: [] } : { inferenceProfileSummaries: [] });
  upstream.answer(atTime(() => hourMs, lists));
  const transport = createTransport();
  const provider = compiledProvider({ baseUrl: upstream.origin, dialect: 'bedrock' }, key);
  expect(await fetchModelList(provider, transport)).toEqual({ models: new Map() });
  await transport.close();
});
