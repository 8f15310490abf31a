/**
 * Renews the list prices and exchange rates from public tables, if the settings ask for it: once a day, at one replica for
 * all. What was read is one document, which outlives a restart. Loads what reads the tables when one is due.
 */
import { controlError } from '../../contract/control-error.ts';
import type { CurrencyView, PriceChange, PriceRenewalView } from '../../contract/price-views.ts';
import type { Settings } from '../../contract/settings.ts';
import { dayMs, hourMs, secondMs } from '../../contract/units.ts';
import { after, every } from '../../ground/timers.ts';
import { ListPrices, type RenewedPrice, shippedPricesDate } from '../../models/price-table.ts';
import type { RenewalStore } from '../../store/store.ts';
import {
  dayOf,
  documentSchema,
  type FetchTable,
  isImplausible,
  modelOf,
  nothingRead,
  type RenewalDocument,
} from './renewal-document.ts';

interface RenewalPorts {
  store: RenewalStore;
  fetch: FetchTable;
  settings(): Pick<Settings, 'renewPrices' | 'currency'>;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  now?: () => number;
}

export const publicPricesAddress =
  'https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json';
/** Of the European Central Bank, on working days. */
export const publicRatesAddress = 'https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml';

const firstLookMs = 30 * secondMs;
const lookEveryMs = 15 * 60 * secondMs;
const retryMs = hourMs;

export class PriceRenewal {
  readonly #ports: RenewalPorts;
  readonly #now: () => number;
  readonly #listeners: (() => void)[] = [];
  readonly #timers: NodeJS.Timeout[];
  #document = nothingRead;
  #list = new ListPrices();
  #isOn = false;

  constructor(ports: RenewalPorts) {
    this.#ports = ports;
    this.#now = ports.now ?? Date.now;
    this.#timers = [
      after(() => this.renewIfDue(), firstLookMs).unref(),
      every(() => this.renewIfDue(), lookEveryMs).unref(),
    ];
    ports.store.onChange(() => void this.#read());
  }

  /** Must be called before the first request; prices are the shipped ones until then. */
  open(): Promise<void> {
    return this.#read();
  }

  /** The list prices in force. */
  get list(): ListPrices {
    return this.#list;
  }

  /** Calls the listener when prices, rates or what waits have changed. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** The settings may have changed. */
  settingsChanged(): void {
    if (this.#isOn !== (this.#ports.settings().renewPrices !== 'off')) this.#use(this.#document);
    void this.renewIfDue();
  }

  view(): PriceRenewalView {
    const { checkedAt, failure, date } = this.#document.prices;
    const { renewPrices: mode } = this.#ports.settings();
    const isOn = mode !== 'off';
    return {
      mode,
      address: publicPricesAddress,
      date: isOn && date !== null ? date : shippedPricesDate,
      checkedAt: isOn ? checkedAt : null,
      failure: isOn ? failure : null,
      waiting: isOn ? this.#changes(this.#document) : [],
    };
  }

  /** Null if amounts are shown in dollars, also because no rate is known. */
  currency(): CurrencyView | null {
    const { currency } = this.#ports.settings();
    if (!currency) return null;
    const { date, perDollar, failure } = this.#document.rates;
    if (currency.perDollar !== null)
      return { code: currency.code, perDollar: currency.perDollar, date: null, failure: null };
    const rate = perDollar[currency.code];
    return { code: currency.code, perDollar: rate ?? null, date, failure };
  }

  /** Once a day, and an hour after a failure. Never rejects. */
  async renewIfDue(): Promise<void> {
    try {
      const { renewPrices } = this.#ports.settings();
      if (!this.#isDue(this.#document) && !(renewPrices === 'apply' && this.#hasPlausible(this.#document))) return;
      await this.#change(async (document) => {
        const { rates, prices } = dueOf(document, this.#now(), this.#ports.settings());
        return this.#settled(await this.#renewed(document, { rates, prices }));
      });
    } catch (error) {
      this.#ports.log.warn({ err: error }, 'prices cannot be renewed: the store does not answer');
    }
  }

  /** Reads the public tables now. Throws GatewayError `conflict` if that is off, or another replica is at it. */
  async check(): Promise<void> {
    const { renewPrices, currency } = this.#ports.settings();
    const due = { prices: renewPrices !== 'off', rates: currency?.perDollar === null };
    if (!due.prices && !due.rates) throw controlError('conflict', { code: 'prices-not-renewed' });
    const isDone = await this.#change(async (document) => this.#settled(await this.#renewed(document, due)));
    if (!isDone) throw controlError('conflict', { code: 'prices-in-work' });
  }

  /** Puts what waits in force; `which: plausible` leaves the rest waiting. Resolves with the number of prices. */
  async apply(which: 'plausible' | 'all'): Promise<number> {
    if (this.#ports.settings().renewPrices === 'off') throw controlError('conflict', { code: 'prices-not-renewed' });
    let applied = 0;
    const isDone = await this.#change(async (document) => {
      const after = this.#applied(document, which);
      applied = document.prices.waiting.length - after.prices.waiting.length;
      return after;
    });
    if (!isDone) throw controlError('conflict', { code: 'prices-in-work' });
    return applied;
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  async #renewed(document: RenewalDocument, due: { prices: boolean; rates: boolean }): Promise<RenewalDocument> {
    const { readPublicPrices, readPublicRates } = await import('./read-public-tables.ts');
    const { fetch, log } = this.#ports;
    const now = this.#now();
    let { prices, rates } = document;
    if (due.prices) prices = await readPublicPrices({ fetch, address: publicPricesAddress, now }, prices);
    if (due.rates) rates = await readPublicRates({ fetch, address: publicRatesAddress, now }, rates);
    const failures = [due.prices && prices.failure, due.rates && rates.failure].filter(Boolean);
    if (failures.length > 0) log.warn({ failures }, 'prices or exchange rates are as they were');
    return { ...document, prices, rates };
  }

  /** If they apply by themselves, those that are plausible are in force. */
  #settled(document: RenewalDocument): RenewalDocument {
    return this.#ports.settings().renewPrices === 'apply' ? this.#applied(document, 'plausible') : document;
  }

  #applied(document: RenewalDocument, which: 'plausible' | 'all'): RenewalDocument {
    const { prices } = document;
    const implausible = new Set(
      this.#changes(document).flatMap(({ entry, isImplausible }) =>
        isImplausible && which === 'plausible' ? [entry] : [],
      ),
    );
    const taken = prices.waiting.filter(({ entry }) => !implausible.has(entry));
    if (taken.length === 0) return document;
    this.#ports.log.info({ prices: taken.length }, 'list prices are renewed');
    const names = new Set(taken.map(({ entry }) => entry));
    return {
      ...document,
      prices: {
        ...prices,
        date: dayOf(prices.checkedAt ?? this.#now()),
        renewed: [...prices.renewed.filter(({ entry }) => !names.has(entry)), ...taken],
        waiting: prices.waiting.filter(({ entry }) => implausible.has(entry)),
      },
    };
  }

  #changes({ prices }: RenewalDocument): PriceChange[] {
    const list = new ListPrices(prices.renewed);
    return prices.waiting.map(({ preset, entry, amounts }) => {
      const before = list.find([preset], modelOf(preset, entry))?.amounts ?? null;
      return {
        entry,
        preset,
        before,
        after: amounts,
        isImplausible: before !== null && isImplausible(before, amounts),
      };
    });
  }

  #hasPlausible(document: RenewalDocument): boolean {
    return document.prices.waiting.length > 0 && this.#changes(document).some((each) => !each.isImplausible);
  }

  #isDue(document: RenewalDocument): boolean {
    const due = dueOf(document, this.#now(), this.#ports.settings());
    return due.prices || due.rates;
  }

  async #change(work: (document: RenewalDocument) => Promise<RenewalDocument>): Promise<boolean> {
    return this.#ports.store.exclusive(async (text) => {
      const before = this.#parse(text);
      const after = await work(before);
      this.#use(after);
      return after === before ? null : JSON.stringify(after);
    });
  }

  async #read(): Promise<void> {
    try {
      this.#use(this.#parse(await this.#ports.store.read()));
    } catch (error) {
      this.#ports.log.warn({ err: error }, 'renewed prices cannot be read; prices stay as they are');
    }
  }

  #parse(text: string | null): RenewalDocument {
    if (text === null) return nothingRead;
    try {
      const document = documentSchema.parse(JSON.parse(text)) as RenewalDocument;
      const { date } = document.prices;
      // A newer version of Sluice has a newer table.
      const isPassed = date !== null && date < shippedPricesDate;
      return isPassed ? { ...document, prices: nothingRead.prices } : document;
    } catch {
      this.#ports.log.warn({}, 'renewed prices are unreadable, so the shipped ones apply until they are read again');
      return nothingRead;
    }
  }

  #use(document: RenewalDocument): void {
    this.#document = document;
    this.#isOn = this.#ports.settings().renewPrices !== 'off';
    this.#list = new ListPrices(this.#isOn ? (document.prices.renewed as RenewedPrice[]) : []);
    for (const listener of this.#listeners) listener();
  }
}

function dueOf(
  { prices, rates }: RenewalDocument,
  now: number,
  { renewPrices, currency }: Pick<Settings, 'renewPrices' | 'currency'>,
): { prices: boolean; rates: boolean } {
  const isDue = ({ triedAt, failure }: Pick<RenewalDocument['rates'], 'triedAt' | 'failure'>) =>
    triedAt === null || now - triedAt >= (failure === null ? dayMs : retryMs) || triedAt > now;
  return {
    prices: renewPrices !== 'off' && isDue(prices),
    rates: currency?.perDollar === null && isDue(rates),
  };
}
