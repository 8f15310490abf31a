/**
 * The end of an answer is judged the same on every wire: by providers of each API, for clients of each, whole and
 * streamed, and whether it is translated or not.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RequestView } from '../../../server/contract/request-views.ts';
import { startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { type Script, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import {
  baseUrlOf,
  type Client,
  type ClientName,
  clientNames,
  clients,
  type Dialect,
  type DialectName,
  dialectNames,
  dialects,
  halfText,
  isIdentity,
  readAs,
  type StreamEnd,
  streamEndNames,
  streamThatEnds,
  streamThatGoesOn,
  type Told,
  text,
  type WholeEnd,
  wholeEndNames,
  wholeThatEnds,
} from './ends-of-answers.ts';

/** One request of a client, to a provider of its own that plays these in order and repeats the last one. */
interface Cell {
  title: string;
  client: ClientName;
  dialect: DialectName;
  isStream: boolean;
  plays: readonly Script[];
}

interface Seen extends Told {
  row: RequestView;
  /** The number of requests that reached the provider. */
  asked: number;
}

const everywhere = clientNames.flatMap((client) => dialectNames.map((dialect) => ({ client, dialect })));

const streamed = streamEndNames.flatMap((end) =>
  everywhere.map((pair) => ({ ...pair, title: end, isStream: true, plays: [streamThatEnds(pair.dialect, end)] })),
);

const isWhole: Record<StreamEnd, boolean> = {
  soundly: true,
  'with an error after its reason': true,
  'with a reset after its reason': true,
  'with silence after its reason': true,
  'with its connection after its reason': true,
  'with its last event and without a reason': false,
  'with an error in its text': false,
  'with an error in its text, and its last event': false,
  'with a reset in its text': false,
  'with its connection in its text': false,
};
const brokenEnds = streamEndNames.filter((end) => !isWhole[end]);

const thenSound = (end: StreamEnd) => `${end}, and is sound when asked again`;
const continued = brokenEnds.flatMap((end) =>
  everywhere.map(({ client, dialect }) => {
    const plays = [streamThatEnds(dialect, end), streamThatEnds(dialect, 'soundly')];
    return { client, dialect, title: thenSound(end), isStream: true, plays };
  }),
);

const goingOn = everywhere.flatMap(({ client, dialect }) =>
  dialect === 'chat' || dialect === 'gemini'
    ? [{ client, dialect, title: 'and goes on', isStream: true, plays: [streamThatGoesOn(dialect, 200)] }]
    : [],
);

const whole = wholeEndNames.flatMap((end) =>
  everywhere.map((pair) => ({ ...pair, title: end, isStream: false, plays: [wholeThatEnds(pair.dialect, end)] })),
);

const cells: readonly Cell[] = [...streamed, ...continued, ...goingOn, ...whole];

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let results: readonly Promise<Seen>[];
const asked = cells.map(() => 0);

/** Of a family that Bedrock serves by Converse. */
const modelOf = (index: number) => `openai.m${index}`;

beforeAll(async () => {
  upstream = await startUpstream((request, response, raw) => {
    const index = Number(/^\/c(\d+)\//.exec(request.url)?.[1]);
    const { plays = [] } = cells[index] ?? {};
    const play = plays[asked[index] ?? 0] ?? plays.at(-1);
    asked[index] = (asked[index] ?? 0) + 1;
    return play?.(request, response, raw);
  });
  const providers = cells.map(({ dialect }, index) => ({
    id: `p${index}`,
    credentials: [{ id: 'c1' }],
    models: [modelOf(index)],
    baseUrl: baseUrlOf(dialect, `${upstream.origin}/c${index}`),
    ...dialects[dialect].config,
  }));
  gateway = await startGateway({
    config: { providers, groups: [{ id: 'default', policy: { retries: 1 } }] },
    secrets: Object.fromEntries(cells.map(({ dialect }, index) => [`provider/p${index}/c1`, dialects[dialect].secret])),
  });
  results = start();
});
afterAll(async () => {
  await Promise.allSettled(results);
  await gateway.stop();
  await upstream.stop();
});

const atATime = 24;

/** Runs all cells, some at a time; those that wait for the end of a silence wait together. */
function start(): Promise<Seen>[] {
  const lanes: Promise<unknown>[] = Array.from({ length: atATime }, () => Promise.resolve());
  return cells.map((cell, index) => {
    const lane = index % atATime;
    const isSilent = cell.title.startsWith('with silence');
    const result = isSilent ? run(cell, index) : (lanes[lane] ?? Promise.resolve()).then(() => run(cell, index));
    if (!isSilent) lanes[lane] = result.catch(() => {});
    result.catch(() => {});
    return result;
  });
}

async function run({ client: name, isStream }: Cell, index: number): Promise<Seen> {
  const client: Client = clients[name];
  const model = modelOf(index);
  const response = await fetch(gateway.origin + client.path(model, isStream), {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(client.ask(model, isStream)),
  });
  const told = await readAs(name, response);
  const row = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
  return { ...told, row, asked: asked[index] ?? 0 };
}

/** What the clients have seen of such an answer by a provider of this dialect. */
function seenBy(title: string, dialect: DialectName, isStream: boolean): [ClientName, Promise<Seen>][] {
  return cells.flatMap((cell, index): [ClientName, Promise<Seen>][] => {
    const result = results[index];
    const isMeant = cell.title === title && cell.dialect === dialect && cell.isStream === isStream;
    return isMeant && result ? [[cell.client, result]] : [];
  });
}

/** What one client was told, without the words of its API. */
async function judged(name: ClientName, result: Promise<Seen>) {
  const { text: said, reasons, isError, row, asked: times } = await result;
  const isSound = reasons.every((reason) => reason === clients[name].sound);
  const used = row.attempts.map(({ usage }) => usage?.outputTokens ?? 0);
  const { outcome, attempts } = row;
  return {
    told: [name, { said, reasons: isSound ? reasons.length : reasons, isError, outcome, asked: times }],
    attempts,
    used,
  };
}

/** Streams of Anthropic's and Gemini's own clients are not continued. */
function mayContinue(client: ClientName, dialect: DialectName): boolean {
  return !isIdentity(client, dialect) || dialect === 'chat' || dialect === 'responses';
}

/** The last event passes as it came, and leaves open what it means. */
function passesAsItCame(end: StreamEnd, client: ClientName, dialect: DialectName): boolean {
  return end.includes('without a reason') && isIdentity(client, dialect) && dialect !== 'gemini';
}

/** The text that has come, of which a token is at most some eight bytes. */
const leastTokens = halfText.length / 8;

describe.each(streamEndNames)('a stream that ends %s', (end) => {
  test.each(dialectNames)('by %s', async (dialect) => {
    for (const [client, result] of seenBy(end, dialect, true)) {
      const { told, attempts, used } = await judged(client, result);
      if (isWhole[end]) {
        expect(told).toEqual([client, { said: text, reasons: 1, isError: false, outcome: 'ok', asked: 1 }]);
        expect(attempts).toMatchObject([{ failure: null }]);
      } else if (passesAsItCame(end, client, dialect)) {
        expect(told).toEqual([client, { said: halfText, reasons: 0, isError: false, outcome: 'ok', asked: 1 }]);
        expect(attempts).toMatchObject([{ failure: null, error: expect.stringContaining('reason') }]);
      } else {
        const outcome = end.includes('error') ? 'error' : 'stream-broken';
        const times = mayContinue(client, dialect) ? 2 : 1;
        expect(told).toEqual([client, { said: halfText, reasons: 0, isError: true, outcome, asked: times }]);
        expect(attempts[0]?.failure).toBe('stream-broken');
        expect(attempts.map(({ usageCertainty }) => usageCertainty)).not.toContain('none');
      }
      const least = used.filter((tokens) => tokens >= (isWhole[end] ? 9 : leastTokens));
      expect([client, used]).toEqual([client, least]);
    }
  });
});

describe.each(brokenEnds)('a stream that ends %s, and is sound when asked again', (end) => {
  test.each(dialectNames)('by %s', async (dialect) => {
    for (const [client, result] of seenBy(thenSound(end), dialect, true)) {
      const { told } = await judged(client, result);
      if (passesAsItCame(end, client, dialect) || !mayContinue(client, dialect)) continue;
      expect(told).toEqual([client, { said: text, reasons: 1, isError: false, outcome: 'ok', asked: 2 }]);
    }
  });
});

describe('a stream that gives a reason, and goes on a moment later', () => {
  test.each(['chat', 'gemini'] as const)('by %s', async (dialect) => {
    for (const [client, result] of seenBy('and goes on', dialect, true)) {
      const reasons = isIdentity(client, dialect) ? 2 : 1;
      const { told } = await judged(client, result);
      expect(told).toEqual([client, { said: text, reasons, isError: false, outcome: 'ok', asked: 1 }]);
    }
  });
});

const wholeAnswers: Record<WholeEnd, object> = {
  soundly: { said: text, reasons: 1, isError: false, outcome: 'ok', asked: 1 },
  'with an error': { said: '', reasons: 0, isError: true, outcome: 'error', asked: 2 },
  'with a reset in its text': { said: '', reasons: 0, isError: true, outcome: 'error', asked: 2 },
  'with its connection in its text': { said: '', reasons: 0, isError: true, outcome: 'error', asked: 2 },
};

describe.each(wholeEndNames)('a whole answer that ends %s', (end) => {
  test.each(dialectNames)('by %s', async (dialect) => {
    for (const [client, result] of seenBy(end, dialect, false)) {
      const { told, used } = await judged(client, result);
      expect(told).toEqual([client, wholeAnswers[end]]);
      if (end !== 'with an error') expect([client, Math.min(...used) >= 9]).toEqual([client, true]);
    }
  });
});

test.each(clientNames)('every stream that is whole has the end that clients of %s expect', async (client) => {
  for (const dialect of dialectNames) {
    for (const end of streamEndNames.filter((each) => isWhole[each])) {
      // A chat may end with its connection instead, as it would without Sluice.
      const isOptional = isIdentity(client, dialect) && client === 'chat' && /connection|silence/.test(end);
      const result = seenBy(end, dialect, true).find(([name]) => name === client)?.[1];
      expect([dialect, end, (await result)?.hasEnd || isOptional]).toEqual([dialect, end, true]);
    }
  }
});

/** The pieces that a dialect's answers are made of. */
const made: Record<DialectName, Dialect> = dialects;

test('an error that no chat client knows as one is followed by one that it knows', async () => {
  const end = 'with an error in its text';
  const [, result] = seenBy(end, 'chat', true).find(([client]) => client === 'chat') ?? [];
  const raw = (await result)?.raw ?? '';
  expect(raw).toContain(`${made.chat.error}data: {"error":{"message":"worker died"`);
});
