/** Fetches the public tables of prices and exchange rates, and checks them before anything of them is used. */
import { isObject } from '../../contract/is-object.ts';
import { type PriceAmounts, priceFieldNames } from '../../contract/price-views.ts';
import { mebibyte, minuteMs } from '../../contract/units.ts';
import { after } from '../../ground/timers.ts';
import {
  checkedPrices,
  disputedPrices,
  ListPrices,
  pricesOfServices,
  type RenewedPrice,
} from '../../models/price-table.ts';
import { type LitellmEntry, readLitellmTable } from './litellm-table.ts';
import { dayOf, type FetchTable, modelOf, type RenewalDocument } from './renewal-document.ts';

interface Source {
  fetch: FetchTable;
  address: string;
  now: number;
}

const mostBytes = 5 * mebibyte;
const mostRedirects = 3;
const timeoutMs = minuteMs;

/** The same with what the table says now; after a failure as it was, with the reason. */
export async function readPublicPrices(
  source: Source,
  before: RenewalDocument['prices'],
): Promise<RenewalDocument['prices']> {
  const tried = { ...before, triedAt: source.now };
  try {
    const answer = await readText(source, before.etag);
    const read = { ...tried, checkedAt: source.now, failure: null };
    const waiting = answer === null ? before.waiting : changesOf(answer.text, before.renewed as RenewedPrice[]);
    return {
      ...read,
      etag: answer === null ? before.etag : answer.etag,
      waiting,
      date: waiting.length === 0 ? dayOf(source.now) : before.date,
    };
  } catch (error) {
    return { ...tried, failure: reasonOf(error) };
  }
}

/** A rate that changes more than fivefold stays as it was; the others are taken. */
export async function readPublicRates(
  source: Source,
  before: RenewalDocument['rates'],
): Promise<RenewalDocument['rates']> {
  const tried = { ...before, triedAt: source.now };
  try {
    const { text } = (await readText(source, null)) ?? { text: '' };
    const { date, perDollar } = parseRates(text);
    const refused = Object.entries(before.perDollar).filter(([code, old]) => {
      const now = perDollar[code];
      return now !== undefined && (now / old > 5 || old / now > 5);
    });
    const kept = Object.fromEntries(refused);
    const named = refused.map(([code, old]) => `${code} from ${old} to ${perDollar[code]}`);
    const failure =
      refused.length === 0
        ? null
        : `The rate would change more than fivefold (${named.join(', ')}), so it stays as it was. If it is right, set it by hand.`;
    return {
      ...tried,
      checkedAt: source.now,
      date,
      perDollar: { ...before.perDollar, ...perDollar, ...kept },
      failure,
    };
  } catch (error) {
    return { ...tried, failure: reasonOf(error) };
  }
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

interface Answer {
  text: string;
  etag: string | null;
}

/** Null: unchanged since `etag`. Rejects with an Error whose message is for people. */
async function readText({ fetch, address }: Source, etag: string | null): Promise<Answer | null> {
  const controller = new AbortController();
  const limit = after(() => controller.abort(new Error('It took longer than a minute.')), timeoutMs);
  try {
    let target = new URL(address);
    for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
      if (target.protocol !== 'https:')
        throw new Error(`It leads to ${target.protocol}//${target.host}, which is not https.`);
      const response = await fetch(target.href, {
        headers: { accept: '*/*', 'user-agent': 'sluice', ...(etag !== null && { 'if-none-match': etag }) },
        signal: controller.signal,
      });
      const location = response.headers.get('location');
      if (response.status >= 300 && response.status < 400 && response.status !== 304 && location !== null) {
        await response.body?.cancel();
        target = new URL(location, target);
        continue;
      }
      if (response.status === 304 && etag !== null) return null;
      if (response.status !== 200) {
        await response.body?.cancel();
        throw new Error(`${target.host} answers ${response.status}.`);
      }
      return { text: await textOf(response), etag: response.headers.get('etag') };
    }
    throw new Error(`${target.host} redirects too often.`);
  } finally {
    clearTimeout(limit);
  }
}

async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    // Leaving the loop cancels the body.
    if (bytes > mostBytes) throw new Error('It is larger than 5 MiB.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** What the table changes of the list in force. Throws an Error if it is no such table. */
function changesOf(text: string, renewed: readonly RenewedPrice[]): RenewalDocument['prices']['waiting'] {
  const table = parseTable(text);
  const read = readLitellmTable(table).filter(({ entry }) => !disputedPrices.has(entry));
  const known = pricesOfServices().length;
  if (read.length < known / 2)
    throw new Error(`It has prices of ${read.length} models only, where ${known} are known.`);
  const list = new ListPrices(renewed);
  const checked = new Set(checkedPrices().map(([name]) => name));
  // Several names of one model may have different prices: one of them is that of what is shipped.
  return [...Map.groupBy(read, ({ entry }) => entry)].flatMap(([entry, named]) => {
    const last = named.at(-1);
    if (!last) return [];
    const { preset, amounts } = last;
    const found = list.find([preset], modelOf(preset, entry));
    if (found && (checked.has(found.entry) || named.some((each) => isSame(found.amounts, each.amounts)))) return [];
    return [{ preset, entry, amounts }];
  });
}

function parseTable(text: string): Record<string, LitellmEntry> {
  let table: unknown;
  try {
    table = JSON.parse(text);
  } catch {
    throw new Error('It is not JSON.');
  }
  if (!isObject(table) || !Object.values(table).every(isObject)) throw new Error('It is not a table of models.');
  return table as Record<string, LitellmEntry>;
}

/** How long an answer may be is no price. */
function isSame(one: PriceAmounts, other: PriceAmounts): boolean {
  return priceFieldNames.every((field) => field === 'maxOutput' || one[field] === other[field]);
}

/** The rates of the European Central Bank, which are per euro. Throws an Error if there are none. */
function parseRates(text: string): { date: string; perDollar: Record<string, number> } {
  const date = /\btime=['"](\d{4}-\d\d-\d\d)['"]/.exec(text)?.[1];
  const perEuro = Object.fromEntries(
    [...text.matchAll(/\bcurrency=['"]([A-Z]{3})['"]\s+rate=['"](\d{1,9}(?:\.\d{1,9})?)['"]/g)].flatMap(
      ([, code = '', rate]) => (Number(rate) > 0 ? [[code, Number(rate)]] : []),
    ),
  );
  const { USD: dollars } = perEuro;
  if (date === undefined || dollars === undefined) throw new Error('It has no rate of the US dollar.');
  const perDollar = Object.entries({ ...perEuro, EUR: 1 }).map(([code, rate]) => [
    code,
    Number((rate / dollars).toPrecision(8)),
  ]);
  return { date, perDollar: Object.fromEntries(perDollar) };
}
