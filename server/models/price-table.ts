/**
 * Calculates the cost of usage from the user's overrides, `prices.json`, the renewed prices and `public-prices.json`, in that
 * order. Pure; independent of the source of the usage. If a price or quantity is missing, the cost is unknown (null), never 0
 * or partial.
 */

import type { Config, ProviderConfig } from '../contract/config.ts';
import type { AskedTerms, PriceTerms, PriceTier, Usage } from '../contract/ledger.ts';
import { foldName, identify, type ModelIdentity } from '../contract/model-identity.ts';
import type { AppliedPrice, PriceAmounts } from '../contract/price-views.ts';
import { largestAnswer } from './model-facts.ts';

import ownTable from './prices.json' with { type: 'json' };
import publicTable from './public-prices.json' with { type: 'json' };

/** In the units given in `prices.json`, under `unit`. */
type Prices = PriceAmounts;

export interface PriceTable {
  /** US dollars; null if unknown. `usage` is null if the usage is unknown. */
  cost(provider: string, model: string, usage: Usage | null, terms?: PriceTerms | null): number | null;
  /**
   * The most that a request can cost with this usage on the terms that it allows, and the usage in what its model is billed
   * by. Null if the price is unknown.
   */
  most(provider: string, model: string, usage: Usage, asked: AskedTerms | null): MostCost | null;
  /** US dollars per 1,000,000 tokens of text, for input and output; null if unknown. */
  tokenPrice(provider: string, model: string): TokenPrice | null;
  /** The output limit of a model in tokens; null if unknown. */
  maxOutput(provider: string, model: string): number | null;
  /** The entry that applies to a model; null if there is none. */
  applied(provider: string, model: string): AppliedPrice | null;
}

interface MostCost {
  usage: Usage;
  costUsd: number;
}

/** US dollars per 1,000,000 tokens; `outputUsd` is null if the model has no output that is priced by tokens. */
interface TokenPrice {
  inputUsd: number;
  outputUsd: number | null;
}

/** The day on which the shipped prices were last checked, such as `2026-11-20`. */
export const shippedPricesDate = publicTable.date;

const free: Prices = { request: 0 };

const presets = new Set([...ownTable.services, ...publicTable.services].map(({ preset }) => preset));
const isOfOneService = (name: string) => presets.has(name.slice(0, Math.max(0, name.indexOf('/'))));

/** A price that was read from the public table after this version was made. */
export interface RenewedPrice {
  preset: string;
  entry: string;
  amounts: PriceAmounts;
}

/** List prices: those that are shipped, and in the place of the public ones of them what was renewed. */
export class ListPrices {
  readonly #renewed: readonly RenewedPrice[];
  /** Those that hold everywhere, under the empty name, and those of one service, each indexed when it is first asked for. */
  readonly #indexes = new Map<string, PriceIndex>();

  constructor(renewed: readonly RenewedPrice[] = []) {
    this.#renewed = renewed;
  }

  /** The price of a model at a service, or anywhere. */
  find(owners: readonly string[], model: string): Pick<AppliedPrice, 'entry' | 'amounts'> | null {
    const named = model.slice(0, Math.max(0, model.indexOf('/')));
    for (const preset of [...new Set([...owners, named, ''])]) {
      const found = preset === '' || presets.has(preset) ? this.#index(preset).find(owners, model) : null;
      if (found) return found;
    }
    return null;
  }

  #index(preset: string): PriceIndex {
    let index = this.#indexes.get(preset);
    if (!index) {
      const all = pricesOfServices(preset === '' ? undefined : preset, this.#renewed);
      index = new PriceIndex(all.filter(([name]) => isOfOneService(name) === (preset !== '')));
      this.#indexes.set(preset, index);
    }
    return index;
  }
}

/** Those that are shipped. */
export const shippedPrices = new ListPrices();

/** The list prices by name; of those of one name the first holds. */
export function pricesOfServices(
  preset?: string,
  renewed: readonly RenewedPrice[] = [],
): (readonly [name: string, amounts: Prices])[] {
  const isAsked = (service: { preset: string }) => preset === undefined || service.preset === preset;
  return [
    ...checkedPrices(preset),
    ...renewed.filter(isAsked).map(({ entry, amounts }) => [entry, amounts] as const),
    ...publicTable.services.filter(isAsked).flatMap(({ models }) => models.map(publicPrice)),
  ];
}

/** What was looked up at the services themselves, because the public table lacks it or has it wrong. */
export function checkedPrices(preset?: string): (readonly [name: string, amounts: Prices])[] {
  const asked = ownTable.services.filter((service) => preset === undefined || service.preset === preset);
  return asked.flatMap(({ models }) => Object.entries<Prices>(models));
}

/** Entries of the public table on which another source disagrees; they are not taken. */
export const disputedPrices: ReadonlySet<string> = new Set(publicTable.disputed);

/** `gpt-5 input=1.25 output=10` */
function publicPrice(line: string): [string, Prices] {
  const [name = '', ...amounts] = line.split(' ');
  return [
    name,
    Object.fromEntries(amounts.map((amount) => amount.split('=')).map(([field, price]) => [field, Number(price)])),
  ];
}

/** What the price table knows of providers, by their ids. */
export interface PricedProviders {
  /** The preset that it was made from. */
  presetOf?(provider: string): string | undefined;
  /** Whether the model runs on a machine of one's own, so that it costs nothing unless an override says otherwise. */
  isLocal?(provider: string, model: string): boolean;
}

/** `overrides` by model name, `provider/model` or `preset/model`; an override replaces the whole entry. */
export function createPriceTable(
  overrides: Readonly<Record<string, Prices>> = {},
  { presetOf, isLocal }: PricedProviders = {},
  list: ListPrices = shippedPrices,
): PriceTable {
  const ownIndex = new PriceIndex(Object.entries(overrides));
  const ownersOf = (provider: string) => [provider, presetOf?.(provider) ?? provider];
  const applied = (provider: string, model: string): AppliedPrice | null => {
    const owners = ownersOf(provider);
    const own = ownIndex.find(owners, model);
    if (own) return { ...own, isOwn: true };
    // OpenRouter's suffix for what costs nothing.
    if (identify(model).suffixes.includes('free')) return { entry: model, isOwn: false, amounts: free };
    if (isLocal?.(provider, model))
      return { entry: `${provider}/${model}`, isOwn: false, isLocal: true, amounts: free };
    const known = list.find(owners, model);
    return known && { ...known, isOwn: false };
  };
  const pricesOf = remembered((provider, model) => applied(provider, model)?.amounts ?? null);
  const maxOutput = remembered((provider, model) => {
    const owners = ownersOf(provider);
    // A price of one's own says nothing of the model unless it does so expressly.
    const stated = ownIndex.find(owners, model)?.amounts.maxOutput ?? largestAnswer(model);
    return stated ?? list.find(owners, model)?.amounts.maxOutput ?? null;
  });
  return {
    cost(provider, model, usage, terms) {
      const prices = pricesOf(provider, model);
      const cost = prices && costOf(prices, usage);
      return prices === null || cost === null || !terms ? cost : onTerms(prices, cost, terms);
    },
    most(provider, model, usage, asked) {
      const prices = pricesOf(provider, model);
      return prices && mostCost(prices, usage, asked);
    },
    tokenPrice(provider, model) {
      const prices = pricesOf(provider, model);
      if (prices?.request === 0) return { inputUsd: 0, outputUsd: 0 };
      return prices?.input === undefined ? null : { inputUsd: prices.input, outputUsd: prices.output ?? null };
    },
    maxOutput,
    applied,
  };
}

/** Calls `find` once for each model of a provider. */
function remembered<Found>(
  find: (provider: string, model: string) => Found,
): (provider: string, model: string) => Found {
  const known = new Map<string, Found>();
  return (provider, model) => {
    const key = `${provider}/${model}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const found = find(provider, model);
    // Clients choose the names, so the cache is bounded.
    if (known.size >= 1_000) known.clear();
    known.set(key, found);
    return found;
  };
}

/** Suffixes of names that cost the same without them. */
const atNoCharge = new Set('latest preview default thinking 1m extended beta nitro floor exacto'.split(' '));

/** Prices by the models that their names mean. */
class PriceIndex {
  readonly #entries = new Map<string, Pick<AppliedPrice, 'entry' | 'amounts'>>();

  constructor(entries: readonly (readonly [string, Prices])[]) {
    for (const [entry, amounts] of entries) {
      const slash = entry.indexOf('/');
      const identity = identify(entry.slice(slash + 1));
      const keys = [foldName(entry)];
      // The price of one region says nothing of the others.
      if (identity.region === null)
        keys.push(`${foldName(entry.slice(0, Math.max(0, slash)))}=${longestForm(identity)}`);
      for (const key of keys) if (!this.#entries.has(key)) this.#entries.set(key, { entry, amounts });
    }
  }

  /** The longest form of the name comes first, and of each one the price of an owner before the price of all. */
  find(owners: readonly string[], model: string): Pick<AppliedPrice, 'entry' | 'amounts'> | null {
    if (this.#entries.size === 0) return null;
    const name = foldName(model);
    // Bedrock's prices differ by region, which is in the name but no part of the model: also at the end of an ARN.
    const names = new Set([name, name.slice(name.lastIndexOf('/') + 1)]);
    const places = [...owners.map(foldName), ''];
    const keys = [
      ...[...names].flatMap((each) => places.map((owner) => (owner === '' ? each : `${owner}/${each}`))),
      ...formsOf(identify(model)).flatMap((form) => places.map((owner) => `${owner}=${form}`)),
    ];
    for (const key of keys) {
      const found = this.#entries.get(key);
      if (found) return found;
    }
    return null;
  }
}

function longestForm({ model, date, suffixes }: ModelIdentity): string {
  return [model, date ?? '', ...suffixes].join('@');
}

/** The model with date and suffixes, and without what changes no price. */
function formsOf(identity: ModelIdentity): string[] {
  const suffixes = identity.suffixes.filter((suffix) => !atNoCharge.has(suffix));
  const forms = [
    identity,
    { ...identity, suffixes },
    { ...identity, date: null },
    { ...identity, suffixes, date: null },
  ].map(longestForm);
  return [...new Set(forms)];
}

function costOf(prices: Prices, usage: Usage | null): number | null {
  const metered = usage === null ? null : meteredCost(prices, usage);
  if (prices.request === undefined) return metered;
  const isOnlyByRequest = Object.keys(prices).every((name) => name === 'request' || name === 'maxOutput');
  if (isOnlyByRequest) return prices.request;
  return metered === null ? null : metered + prices.request;
}

const factorFields = {
  priority: 'priorityFactor',
  flex: 'flexFactor',
  fast: 'fastFactor',
} as const satisfies Record<PriceTier, keyof Prices>;

/** Null if the price of a tier or a search is unknown. What is free of charge is so on any terms. */
function onTerms(prices: Prices, cost: number, { tier, searches }: PriceTerms): number | null {
  if (prices.request === 0 && cost === 0) return 0;
  const factor = tier === null ? 1 : prices[factorFields[tier]];
  const found =
    searches === 0 ? 0 : prices.webSearch === undefined ? prices.groundedRequest : prices.webSearch * searches;
  return factor === undefined || found === undefined ? null : cost * factor + found;
}

/** No service multiplies its prices by more, or asks more for a search: for what the table does not know. */
const dearestFactors = { priority: 2.5, flex: 1, fast: 6 } as const satisfies Record<PriceTier, number>;
const dearestSearch = 0.035;

/** A tier that was asked for may not be given, so that a cheaper one saves nothing. */
function mostCost(prices: Prices, usage: Usage, asked: AskedTerms | null): MostCost | null {
  const dearest = asked === null ? usage : dearestKinds(tierOf(prices, usage), usage, asked);
  const { seconds, characters, images } = usage;
  const byMeter = [dearest, { seconds }, { characters }, { images }].map((metered) =>
    costOf(prices, onlyDefined(metered)),
  );
  const costs = byMeter.filter((each) => each !== null);
  if (costs.length === 0) return null;
  const cost = Math.max(...costs);
  const billed = billedIn(prices, usage);
  if (asked === null || (prices.request === 0 && cost === 0)) return { usage: billed, costUsd: cost };
  const { tier, isTierOpen, searches } = asked;
  const named = tier === null ? 1 : (prices[factorFields[tier]] ?? dearestFactors[tier]);
  const factor = Math.max(1, named, (isTierOpen && prices.priorityFactor) || 1);
  const perSearch = prices.webSearch ?? (prices.groundedRequest === undefined ? dearestSearch : 0);
  const found =
    searches === 0 ? 0 : perSearch * searches + (prices.webSearch === undefined ? (prices.groundedRequest ?? 0) : 0);
  return { usage: billed, costUsd: cost * factor + found };
}

/** Each token of the kind that costs most among those that it may be. What is known of its kind stays so. */
function dearestKinds(prices: Prices, usage: Usage, asked: AskedTerms): Usage {
  return {
    ...usage,
    ...(!asked.isInputTold && dearestInput(prices, usage, asked)),
    ...dearestOutput(prices, usage, asked),
  };
}

function dearestInput(prices: Prices, usage: Usage, { cachesForAnHour, heardTokens }: AskedTerms): Usage {
  const { inputTokens = 0 } = usage;
  const dearest: Usage = {};
  const text = prices.input ?? 0;
  const written = Math.max(prices.cacheWrite ?? text, (cachesForAnHour && prices.cacheWriteOneHour) || 0);
  const isWritten = written > text && written >= (prices.imageInput ?? 0);
  const isSeen = !isWritten && (prices.imageInput ?? 0) > text;
  const isHeard =
    (prices.audioInput ?? 0) > Math.max(text, isWritten ? written : 0, isSeen ? (prices.imageInput ?? 0) : 0);
  const heard = isHeard ? Math.min(inputTokens, Math.max(heardTokens, usage.audioInputTokens ?? 0)) : 0;
  if (heard > 0) dearest.audioInputTokens = heard;
  if (isWritten) dearest.cacheWriteTokens = inputTokens - heard;
  if (isWritten && cachesForAnHour) dearest.cacheWriteOneHourTokens = inputTokens - heard;
  if (isSeen) dearest.imageInputTokens = inputTokens - heard;
  return dearest;
}

function dearestOutput(prices: Prices, { outputTokens = 0 }: Usage, { speaks }: AskedTerms): Usage {
  const { output: said = 0, imageOutput: drawn = 0, audioOutput: spoken = 0 } = prices;
  if (speaks && spoken > Math.max(said, drawn)) return { audioOutputTokens: outputTokens };
  return drawn > said ? { imageOutputTokens: outputTokens } : {};
}

/** In one unit that the model is billed by. What has a length has no tokens that anybody counted. */
function billedIn(prices: Prices, { inputTokens, outputTokens, seconds, characters, images }: Usage): Usage {
  if (seconds !== undefined && (prices.second ?? prices.minute) !== undefined) return { seconds };
  if (characters !== undefined && prices.characters !== undefined) return { characters };
  const isByPiece = prices.image !== undefined && prices.input === undefined && prices.output === undefined;
  if (images !== undefined && isByPiece) return { images };
  return onlyDefined({ inputTokens, outputTokens });
}

function onlyDefined(amounts: { [Name in keyof Usage]: number | undefined }): Usage {
  const usage: Usage = {};
  for (const name in amounts) {
    const amount = amounts[name as keyof Usage];
    if (amount !== undefined) usage[name as keyof Usage] = amount;
  }
  return usage;
}

/** Uses the first meter that has both a price and a quantity. */
function meteredCost(prices: Prices, usage: Usage): number | null {
  if (usage.inputTokens !== undefined || usage.outputTokens !== undefined) {
    const cost = tokenCost(prices, usage);
    if (cost !== null) return cost;
  }
  const perSecond = prices.second ?? (prices.minute === undefined ? undefined : prices.minute / 60);
  if (usage.seconds !== undefined && perSecond !== undefined) return usage.seconds * perSecond;
  if (usage.characters !== undefined && prices.characters !== undefined) {
    return (usage.characters * prices.characters) / 1e6;
  }
  if (usage.images !== undefined && prices.image !== undefined) return usage.images * prices.image;
  return null;
}

function tokenCost(prices: Prices, usage: Usage): number | null {
  const tier = tierOf(prices, usage);
  const parts = [...inputParts(tier, usage), ...outputParts(tier, usage)];
  let sum = 0;
  for (const { tokens, price } of parts) {
    if (tokens === undefined) return null;
    if (tokens === 0) continue;
    if (price === undefined) return null;
    sum += tokens * price;
  }
  return sum / 1e6;
}

function tierOf(prices: Prices, usage: Usage): Prices {
  const isLong = prices.longContextAbove !== undefined && (usage.inputTokens ?? 0) > prices.longContextAbove;
  if (!isLong) return prices;
  const { input, cachedInput, cacheWrite, cacheWriteOneHour, output, ...others } = prices;
  const tier: { -readonly [Field in keyof Prices]: number } = others;
  if (prices.longContextInput !== undefined) tier.input = prices.longContextInput;
  if (prices.longContextCachedInput !== undefined) tier.cachedInput = prices.longContextCachedInput;
  if (prices.longContextCacheWrite !== undefined) tier.cacheWrite = prices.longContextCacheWrite;
  if (prices.longContextCacheWriteOneHour !== undefined) tier.cacheWriteOneHour = prices.longContextCacheWriteOneHour;
  if (prices.longContextOutput !== undefined) tier.output = prices.longContextOutput;
  return tier;
}

interface Part {
  /** Undefined if unknown although it has a price. */
  tokens: number | undefined;
  price: number | undefined;
}

/** Services include cached, audio and image tokens in the input; each has its own price, and the rest is text. */
function inputParts(prices: Prices, usage: Usage): Part[] {
  const { inputTokens } = usage;
  if (inputTokens === undefined) return [{ tokens: undefined, price: prices.input }];
  const cached = usage.cachedInputTokens ?? 0;
  const cacheWriteTokens = usage.cacheWriteTokens ?? 0;
  const forAnHour = Math.min(usage.cacheWriteOneHourTokens ?? 0, cacheWriteTokens);
  const writePrice = prices.cacheWrite ?? prices.input;
  const audio = usage.audioInputTokens ?? 0;
  const image = usage.imageInputTokens ?? 0;
  return [
    { tokens: Math.max(0, inputTokens - cached - cacheWriteTokens - audio - image), price: prices.input },
    { tokens: cached, price: prices.cachedInput },
    { tokens: cacheWriteTokens - forAnHour, price: writePrice },
    { tokens: forAnHour, price: prices.cacheWriteOneHour ?? writePrice },
    { tokens: audio, price: prices.audioInput },
    { tokens: image, price: prices.imageInput ?? prices.input },
  ];
}

/** For a model with a single kind of output, tokens without a breakdown are of that kind. */
function outputParts(prices: Prices, usage: Usage): Part[] {
  const restPrice = prices.output ?? prices.imageOutput ?? prices.audioOutput;
  const { outputTokens } = usage;
  // Embeddings have no output tokens and no price for them.
  if (outputTokens === undefined) return restPrice === undefined ? [] : [{ tokens: undefined, price: restPrice }];
  const audio = usage.audioOutputTokens ?? 0;
  const image = usage.imageOutputTokens ?? 0;
  return [
    { tokens: Math.max(0, outputTokens - audio - image), price: restPrice },
    { tokens: audio, price: prices.audioOutput },
    { tokens: image, price: prices.imageOutput },
  ];
}

interface ConfigInForce {
  current: { config: Config };
  onChange(listener: (now: { config: Config }) => void): unknown;
}

/** Whether a model of this provider costs nothing because it runs on a machine of one's own. */
type CostsNothing = (provider: ProviderConfig, model: string) => boolean;

/** The list prices in force, which change when they are renewed. */
interface ListInForce {
  readonly list: ListPrices;
  onChange(listener: () => void): unknown;
}

/** The prices of the configuration in force. */
export function followPrices(config: ConfigInForce, costsNothing: CostsNothing, renewed: ListInForce): PriceTable {
  const read = () => {
    const { settings, providers } = config.current.config;
    return createPriceTable(settings.prices, pricedProviders(providers, costsNothing), renewed.list);
  };
  let prices = read();
  const follow = () => {
    prices = read();
  };
  config.onChange(follow);
  renewed.onChange(follow);
  return {
    cost: (...args) => prices.cost(...args),
    most: (...args) => prices.most(...args),
    tokenPrice: (...args) => prices.tokenPrice(...args),
    maxOutput: (...args) => prices.maxOutput(...args),
    applied: (...args) => prices.applied(...args),
  };
}

/** Prices are looked up by preset, because a provider's id is arbitrary. */
export function pricedProviders(providers: readonly ProviderConfig[], costsNothing: CostsNothing): PricedProviders {
  const byId = new Map(providers.map((provider) => [provider.id, provider]));
  return {
    presetOf: (id) => byId.get(id)?.preset,
    isLocal(id, model) {
      const provider = byId.get(id);
      return provider !== undefined && costsNothing(provider, model);
    },
  };
}
