/**
 * The cells of the table of dialects, determined by observation. Each case is sent in the client's notation and
 * searched for in what the provider receives; the provider's answer is searched for in what the client receives. What
 * is not found must be reported as a loss.
 */

import { anthropicRoutes } from '../../../../../server/apis/anthropic/routes.ts';
import { readError } from '../../../../../server/apis/core/errors/error-body.ts';
import { geminiRoutes } from '../../../../../server/apis/gemini/routes.ts';
import type { UpstreamWireName, WireName } from '../../../../../server/apis/neutral/conversation.ts';
import type { Fate, Loss } from '../../../../../server/apis/neutral/losses.ts';
import { openaiRoutes } from '../../../../../server/apis/openai/routes.ts';
import { CountTranslator, isCountingWire } from '../../../../../server/apis/translation/count-translator.ts';
import { estimateRequestTokens } from '../../../../../server/apis/translation/estimate-input.ts';
import type { TranslatedRequest } from '../../../../../server/apis/translation/translated-request.ts';
import { createTranslator, type Translator } from '../../../../../server/apis/translation/translator.ts';
import { GatewayError } from '../../../../../server/contract/errors.ts';
import { type LossCode, lossCodes } from '../../../../../server/contract/loss-codes.ts';
import { complaintsOf } from '../strict-upstreams.ts';
import { answered, dataOf, type Json, moment, streamed, targetOf } from '../translating.ts';
import { type Case, type Failure, hello, type Side } from './notation.ts';
import type { Row } from './rows.ts';

export interface Upstream {
  wire: UpstreamWireName;
  /** What the provider's API accepts depends on the model. */
  model: string;
}

/** `lost`: neither carried nor reported, which is a defect. */
export type Word = Fate | 'as is' | 'none' | 'lost';

export interface Cell {
  word: Word;
  /** Why it is not carried. */
  codes: LossCode[];
  /** Defects of the translation. */
  defects: string[];
}

const asIs: Cell = { word: 'as is', codes: [], defects: [] };
/** From best to worst. A cell is as good as its worst case. */
const words: readonly Word[] = ['as is', 'none', 'carried', 'emulated', 'dropped', 'refused', 'lost'];

export function cellOf({ cases, mark }: Row, client: WireName, upstream: Upstream): Cell {
  const translator = createTranslator(client, upstream.wire);
  if (translator === null) return asIs;
  const cells = cases.map((sides) => new Trial(translator, upstream, mark).observe(sides, client));
  const worst = Math.max(...cells.map(({ word }) => words.indexOf(word)));
  return {
    word: words[worst] ?? 'lost',
    codes: [...new Set(cells.flatMap(({ codes }) => codes))],
    defects: cells.flatMap(({ defects }) => defects),
  };
}

/** One case between two APIs. */
class Trial {
  readonly #translator: Translator;
  readonly #upstream: Upstream;
  readonly #mark: string;
  readonly #losses: Loss[] = [];
  readonly #missing: string[] = [];
  readonly #defects: string[] = [];

  constructor(translator: Translator, upstream: Upstream, mark = '') {
    this.#translator = translator;
    this.#upstream = upstream;
    this.#mark = mark;
  }

  observe(sides: Case, client: WireName): Cell {
    const asking = sides[client];
    const serving = sides[this.#upstream.wire];
    const isNeverSaid = asking.hears !== undefined && asking.gets?.length === 0 && serving.says === undefined;
    if (asking.asks === null || isNeverSaid) return { word: 'none', codes: [], defects: [] };
    try {
      this.#converse(asking, serving, { ...hello[client], ...asking.asks });
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const codes = codesIn(error.message);
      return { word: 'refused', codes, defects: codes.length === 0 ? [error.message] : [] };
    }
    return this.#judge();
  }

  #converse({ hears, continues }: Side, { gets, says }: Side, request: Json): void {
    const asked = this.#ask(request);
    if (isFailure(says)) {
      const { status, body } = this.#translator.error({
        status: says.status,
        ...readError(Buffer.from(JSON.stringify(says.body))),
      });
      this.#lookFor(hears, { status, body: JSON.parse(body.toString()) });
      return;
    }
    const told = says === undefined ? undefined : this.#answer(asked, says);
    if (!continues) {
      this.#losses.push(...asked.losses);
      this.#lookFor(gets, JSON.parse(asked.body.toString()));
      this.#lookFor(hears, told);
      return;
    }
    const again = this.#ask({ ...request, ...continues(told as Json) });
    this.#losses.push(...again.losses);
    this.#lookFor(gets, JSON.parse(again.body.toString()));
  }

  #ask(request: Json): TranslatedRequest {
    const { wire, model } = this.#upstream;
    const read = this.#translator.read(Buffer.from(JSON.stringify(request)));
    const asked = this.#translator.request(read, targetOf(model));
    const body = JSON.parse(asked.body.toString());
    this.#defects.push(...complaintsOf(wire, body));
    if (!asked.body.includes(this.#mark)) this.#defects.push(`${this.#mark} is missing`);
    return asked;
  }

  #answer(asked: TranslatedRequest, says: Json | Buffer): unknown {
    if (Buffer.isBuffer(says)) return dataOf(streamed(asked, [says]));
    const whole = asked.whole(Buffer.from(JSON.stringify(says)), moment);
    if (whole?.ok) this.#losses.push(...whole.losses);
    return answered(asked, says);
  }

  #lookFor(fragments: readonly unknown[] | null | undefined, value: unknown): void {
    if (fragments === null) this.#missing.push('what the API has no field for');
    for (const fragment of fragments ?? [])
      if (!holds(value, fragment)) this.#missing.push(`${JSON.stringify(fragment)} in ${JSON.stringify(value)}`);
  }

  #judge(): Cell {
    const told = this.#losses.filter(({ fate }) => fate !== 'carried');
    const codes = [...new Set(told.map(({ code }) => code))];
    const isDropped = told.some(({ fate }) => fate === 'dropped');
    if (told.length > 0) return { word: isDropped ? 'dropped' : 'emulated', codes, defects: this.#defects };
    if (this.#missing.length === 0) return { word: 'carried', codes, defects: this.#defects };
    return { word: 'lost', codes, defects: [...this.#defects, ...this.#missing] };
  }
}

function isFailure(says: Side['says']): says is Failure {
  return says !== undefined && 'status' in says && typeof says.status === 'number';
}

/** Whether the fragment occurs anywhere in the value. An object in the fragment may have fewer members. */
function holds(value: unknown, fragment: unknown): boolean {
  if (isLike(value, fragment)) return true;
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((member) => holds(member, fragment));
}

function isLike(value: unknown, fragment: unknown): boolean {
  if (typeof fragment !== 'object' || fragment === null) return value === fragment;
  if (typeof value !== 'object' || value === null || Array.isArray(value) !== Array.isArray(fragment)) return false;
  if (Array.isArray(fragment) && fragment.length !== (value as unknown[]).length) return false;
  return Object.entries(fragment).every(([name, member]) => isLike((value as Json)[name], member));
}

function codesIn(message: string): LossCode[] {
  const codes = Object.keys(lossCodes) as LossCode[];
  return codes.filter((code) => message.includes(lossCodes[code]));
}

const countingPaths: Record<WireName, string | null> = {
  'openai-chat': null,
  'openai-responses': '/responses/input_tokens',
  'anthropic-messages': '/messages/count_tokens',
  'gemini-generate': '/models/{model}:countTokens',
};

/** If no provider can count, Sluice estimates, for the routes that it supports. */
export function countingCell(client: WireName, upstream: Upstream): Cell {
  if (countingPaths[client] === null) return { word: 'none', codes: [], defects: [] };
  if (client === upstream.wire) return asIs;
  const route = [...openaiRoutes, ...anthropicRoutes, ...geminiRoutes].find(
    ({ path }) => path === countingPaths[client],
  );
  if (!route?.writeTokenCount) return { word: 'refused', codes: [], defects: [] };
  const body = Buffer.from(JSON.stringify(hello[client]));
  if (isCountingWire(upstream.wire))
    return carriedCount(new CountTranslator(client, upstream.wire, route.writeTokenCount), body);
  const counted = route.writeTokenCount(estimateRequestTokens(client, body));
  const isCount = Object.values(counted).some((count) => count >= 2 && count < 50);
  return { word: 'emulated', codes: [], defects: isCount ? [] : [JSON.stringify(counted)] };
}

/** Checks that the request reaches the provider, and its count the client. */
function carriedCount(translator: CountTranslator, body: Buffer): Cell {
  const asked = translator.open(body, { model: 'm', stream: false })(targetOf('m'));
  const whole = asked.whole(Buffer.from(JSON.stringify({ input_tokens: 1234, totalTokens: 1234 })));
  const isCarried = asked.body.includes('Hello') && whole?.ok === true && whole.body.includes('1234');
  return { word: 'carried', codes: [], defects: isCarried ? [] : [asked.body.toString()] };
}
