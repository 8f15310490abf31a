/** List prices that renew themselves: what is taken of a public table, what waits, and what a bad answer leaves as it was. */
import { describe, expect, test } from 'vitest';
import type { PriceRenewalMode } from '../../../../server/contract/price-views.ts';
import type { Settings } from '../../../../server/contract/settings.ts';
import { dayMs } from '../../../../server/contract/units.ts';
import {
  PriceRenewal,
  publicPricesAddress,
  publicRatesAddress,
} from '../../../../server/control/prices/price-renewal.ts';
import type { FetchTable } from '../../../../server/control/prices/renewal-document.ts';
import { createPriceTable, shippedPricesDate } from '../../../../server/models/price-table.ts';
import type { RenewalStore } from '../../../../server/store/store.ts';
import { publicTable, ratesOf } from './public-table.ts';

const startMs = Date.parse(`${shippedPricesDate}T12:00:00Z`) + 10 * dayMs;
const silent = { info() {}, warn() {} };

interface World {
  renewal: PriceRenewal;
  settings: Pick<Settings, 'renewPrices' | 'currency'>;
  answer: (address: string) => Response;
  asked: { address: string; etag: string | undefined }[];
  nowMs: number;
  document(): string | null;
  restart(): Promise<PriceRenewal>;
}

async function open(mode: PriceRenewalMode, stored: string | null = null): Promise<World> {
  let document = stored;
  const store: RenewalStore = {
    read: async () => document,
    exclusive: async (work) => {
      document = (await work(document)) ?? document;
      return true;
    },
    onChange() {},
  };
  const start = async () => {
    const renewal = new PriceRenewal({
      store,
      fetch,
      settings: () => world.settings,
      log: silent,
      now: () => world.nowMs,
    });
    await renewal.open();
    renewal.close();
    return renewal;
  };
  const fetch: FetchTable = async (address, { headers }) => {
    world.asked.push({ address, etag: headers['if-none-match'] });
    return world.answer(address);
  };
  const world: Omit<World, 'renewal'> = {
    settings: { renewPrices: mode, currency: null },
    answer: () => new Response(publicTable()),
    asked: [],
    nowMs: startMs,
    document: () => document,
    restart: start,
  };
  return Object.assign(world, { renewal: await start() });
}

const inputOf = ({ list }: PriceRenewal, model: string, own = {}) =>
  createPriceTable(own, {}, list).applied('openai', model)?.amounts.input;
const waitingIn = (renewal: PriceRenewal) => renewal.view().waiting.map(({ entry }) => entry);

describe('a public table', () => {
  test('that says what is known changes nothing, and dates the list', async () => {
    const { renewal } = await open('ask');
    expect(renewal.view()).toMatchObject({ date: shippedPricesDate, checkedAt: null });
    await renewal.check();
    expect(renewal.view()).toMatchObject({ date: '2026-12-08', checkedAt: startMs, failure: null, waiting: [] });
  });

  test('waits with its changes until they are applied, and those that are implausible until all are', async () => {
    const world = await open('ask');
    const { renewal } = world;
    world.answer = () =>
      new Response(publicTable({ 'gpt-4-turbo': { input: 20 }, 'gpt-3.5-turbo': { input: 4 }, o1: { input: 0 } }));
    await renewal.check();
    expect(waitingIn(renewal).sort()).toEqual(['gpt-3.5-turbo', 'gpt-4-turbo', 'o1']);
    expect(renewal.view().waiting.find(({ entry }) => entry === 'gpt-4-turbo')).toMatchObject({
      before: { input: 10 },
      after: { input: 20 },
      isImplausible: false,
    });
    expect(inputOf(renewal, 'gpt-4-turbo')).toBe(10);
    expect(await renewal.apply('plausible')).toBe(1);
    expect([inputOf(renewal, 'gpt-4-turbo'), inputOf(renewal, 'gpt-3.5-turbo'), inputOf(renewal, 'o1')]).toEqual([
      20, 0.5, 15,
    ]);
    expect(await renewal.apply('all')).toBe(2);
    expect([inputOf(renewal, 'gpt-3.5-turbo'), inputOf(renewal, 'o1')]).toEqual([4, 0]);
    const later = await world.restart();
    expect(later.view()).toMatchObject({ date: '2026-12-08', waiting: [] });
    expect(inputOf(later, 'gpt-4-turbo')).toBe(20);
  });

  test('of several names of one model the last counts, as when the shipped prices were made', async () => {
    const world = await open('ask');
    world.answer = () => {
      const table = JSON.parse(publicTable());
      const name = Object.keys(table).find((each) => each.startsWith('gemini/')) ?? '';
      return new Response(
        JSON.stringify({ [name.slice('gemini/'.length)]: { ...table[name], input_cost_per_token: 1 }, ...table }),
      );
    };
    await world.renewal.check();
    expect(waitingIn(world.renewal)).toEqual([]);
  });

  test('applies by itself where that is asked for, but for what is implausible', async () => {
    const world = await open('apply');
    world.answer = () =>
      new Response(publicTable({ 'gpt-4-turbo': { input: 20 }, o1: { input: 76 }, 'gpt-9': { input: 1 } }));
    await world.renewal.renewIfDue();
    expect([
      inputOf(world.renewal, 'gpt-4-turbo'),
      inputOf(world.renewal, 'gpt-9'),
      inputOf(world.renewal, 'o1'),
    ]).toEqual([20, 1, 15]);
    expect(waitingIn(world.renewal)).toEqual(['o1']);
  });

  test('stands behind own prices, and behind those that Sluice has checked', async () => {
    const world = await open('apply');
    world.answer = () => new Response(publicTable({ 'gpt-4-turbo': { input: 20 } }));
    await world.renewal.renewIfDue();
    expect(inputOf(world.renewal, 'gpt-4-turbo', { 'gpt-4-turbo': { input: 7, output: 1 } })).toBe(7);
  });

  test('is asked for once a day, an hour after a failure, with the tag of the last answer', async () => {
    const world = await open('ask');
    const isAskedAfter = async (ms: number) => {
      const before = world.asked.length;
      world.nowMs += ms;
      await world.renewal.renewIfDue();
      return world.asked.length > before;
    };
    world.answer = () => new Response(publicTable(), { headers: { etag: '"one"' } });
    expect(await isAskedAfter(0)).toBe(true);
    expect(await isAskedAfter(dayMs - 1)).toBe(false);
    world.answer = () => new Response(null, { status: 304 });
    expect(await isAskedAfter(1)).toBe(true);
    expect(world.asked.at(-1)).toEqual({ address: publicPricesAddress, etag: '"one"' });
    expect(world.renewal.view()).toMatchObject({ checkedAt: world.nowMs, failure: null });
    world.answer = () => new Response('', { status: 500 });
    expect(await isAskedAfter(dayMs)).toBe(true);
    expect(await isAskedAfter(3_599_999)).toBe(false);
    expect(await isAskedAfter(1)).toBe(true);
  });

  test('is never asked for where that is off, and what was applied is not in force', async () => {
    const world = await open('apply');
    world.answer = () => new Response(publicTable({ 'gpt-4-turbo': { input: 20 } }));
    await world.renewal.renewIfDue();
    world.settings = { renewPrices: 'off', currency: null };
    world.asked = [];
    world.nowMs += 2 * dayMs;
    world.renewal.settingsChanged();
    await world.renewal.renewIfDue();
    await expect(world.renewal.check()).rejects.toMatchObject({ code: 'conflict' });
    await expect(world.renewal.apply('all')).rejects.toMatchObject({ code: 'conflict' });
    expect(world.asked).toEqual([]);
    expect(inputOf(world.renewal, 'gpt-4-turbo')).toBe(10);
    expect(world.renewal.view()).toMatchObject({ mode: 'off', date: shippedPricesDate, waiting: [] });
  });

  const elsewhere = (location: string) => () => new Response(null, { status: 302, headers: { location } });
  test.each<[string, () => Response, RegExp]>([
    ['a redirect to http', elsewhere('http://raw.githubusercontent.com/x.json'), /not https/],
    ['redirects without end', elsewhere(publicPricesAddress), /redirects too often/],
    ['an error', () => new Response('no', { status: 404 }), /answers 404/],
    ['more than 5 MiB', () => new Response('x'.repeat(5 * 1024 * 1024 + 1)), /larger than 5 MiB/],
    ['no JSON', () => new Response('<html>'), /not JSON/],
    ['a list', () => new Response('[]'), /not a table/],
    ['values that are no models', () => new Response('{"a":1}'), /not a table/],
    ['a handful of models', () => new Response(JSON.stringify({ 'gpt-4-turbo': {} })), /0 models only/],
    [
      'negative prices',
      () => new Response(publicTable().replaceAll('_cost_per_token":', '_cost_per_token":-')),
      /0 models only/,
    ],
    [
      'a connection that fails',
      () => {
        throw new Error('The connection was refused.');
      },
      /refused/,
    ],
  ])('that is %s leaves prices and their date as they were', async (_name, answer, reason) => {
    const world = await open('apply');
    world.answer = () => new Response(publicTable({ 'gpt-4-turbo': { input: 20 } }));
    await world.renewal.renewIfDue();
    world.answer = answer;
    world.nowMs += dayMs;
    await world.renewal.renewIfDue();
    expect(world.renewal.view()).toMatchObject({
      date: '2026-12-08',
      checkedAt: startMs,
      failure: expect.stringMatching(reason),
    });
    expect(inputOf(world.renewal, 'gpt-4-turbo')).toBe(20);
  });

  test('is found over https behind a redirect', async () => {
    const world = await open('ask');
    const target = 'https://objects.githubusercontent.com/table.json';
    world.answer = (address) => (address === target ? new Response(publicTable()) : elsewhere(target)());
    await world.renewal.check();
    expect(world.renewal.view().failure).toBeNull();
  });

  test.each([
    '{',
    '{"version":2}',
    JSON.stringify({ version: 1, prices: { renewed: [{ entry: 'gpt-4-turbo', amounts: { input: -1 } }] } }),
  ])('whose stored copy is damaged (%s) is read anew', async (stored) => {
    const world = await open('ask', stored);
    expect(inputOf(world.renewal, 'gpt-4-turbo')).toBe(10);
    await world.renewal.renewIfDue();
    expect(world.renewal.view()).toMatchObject({ failure: null, waiting: [] });
  });

  test('that is older than the one of this version is forgotten', async () => {
    const world = await open('apply');
    world.nowMs = startMs - 30 * dayMs;
    world.answer = () => new Response(publicTable({ 'gpt-4-turbo': { input: 20 } }));
    await world.renewal.renewIfDue();
    expect(inputOf(await world.restart(), 'gpt-4-turbo')).toBe(10);
  });
});

describe('an exchange rate', () => {
  const euros = { code: 'EUR', perDollar: null };

  test('is that of the day, and stays where a new one is implausible or cannot be read', async () => {
    const world = await open('off');
    const { renewal } = world;
    expect(renewal.currency()).toBeNull();
    world.settings = { renewPrices: 'off', currency: euros };
    expect(renewal.currency()).toMatchObject({ code: 'EUR', perDollar: null });
    world.answer = () => new Response(ratesOf('2026-12-08', { USD: 1.25, JPY: 150 }));
    await renewal.renewIfDue();
    expect(world.asked).toEqual([{ address: publicRatesAddress, etag: undefined }]);
    expect(renewal.currency()).toEqual({ code: 'EUR', perDollar: 0.8, date: '2026-12-08', failure: null });
    world.settings = { renewPrices: 'off', currency: { code: 'JPY', perDollar: null } };
    expect(renewal.currency()).toMatchObject({ perDollar: 120 });
    world.nowMs += dayMs;
    world.answer = () => new Response(ratesOf('2026-12-09', { USD: 1.25, JPY: 15_000 }));
    await renewal.renewIfDue();
    expect(renewal.currency()).toMatchObject({
      perDollar: 120,
      failure: expect.stringContaining('more than fivefold'),
    });
    world.nowMs += dayMs;
    world.answer = () => new Response('<html>');
    await renewal.renewIfDue();
    expect(renewal.currency()).toMatchObject({ perDollar: 120, failure: expect.stringContaining('no rate') });
  });

  test('that is set by hand is asked for nowhere', async () => {
    const world = await open('off');
    world.settings = { renewPrices: 'off', currency: { code: 'EUR', perDollar: 0.9 } };
    await world.renewal.renewIfDue();
    expect(world.asked).toEqual([]);
    expect(world.renewal.currency()).toEqual({ code: 'EUR', perDollar: 0.9, date: null, failure: null });
  });
});
