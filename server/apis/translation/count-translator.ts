/** Translates token counting, so that a provider of another API, or a cloud, can do it. Pure, like `translator.ts`. */
import { isObject } from '../../contract/is-object.ts';
import { wholeNumberOf } from '../core/usage/reported-usage.ts';
import type { WireName } from '../neutral/conversation.ts';
import { parseLosslessJson, writeJson } from '../neutral/json-text.ts';
import type { Loss } from '../neutral/losses.ts';
import type { Target } from '../neutral/requests/rendering.ts';
import {
  countedRequest,
  createTranslatorBetween,
  type FailedCall,
  type NamedInUrl,
  type TranslatedError,
  type Translator,
  type WholeAnswer,
} from './translator.ts';

/** The wires whose APIs can count tokens. */
export type CountingWire = 'anthropic-messages' | 'gemini-generate' | 'openai-responses';

export function isCountingWire(name: string | null): name is CountingWire {
  return name !== null && Object.hasOwn(bodies, name);
}

type WriteCount = (tokens: number) => object;

export class CountTranslator {
  readonly #translator: Translator;
  readonly #write: WriteCount;
  /** Null if client and upstream use the same API. */
  readonly #bodyFor: ((rendered: Record<string, unknown>, model: string) => object) | null;

  /** @param write writes the client's answer */
  constructor(client: WireName, upstream: CountingWire, write: WriteCount) {
    this.#translator = createTranslatorBetween(client, upstream);
    this.#bodyFor = client === upstream ? null : bodies[upstream];
    this.#write = write;
  }

  /** @throws GatewayError `malformed_json` or `invalid_value`, as for the request itself */
  open(body: Buffer, fromUrl?: NamedInUrl): (target: Target) => TranslatedCount {
    const bodyFor = this.#bodyFor;
    if (bodyFor === null) return () => new TranslatedCount(body, this.#write);
    const parsed = this.#translator.read(Buffer.from(writeJson(countedRequest(body))), fromUrl);
    return (target) => {
      const { body: request } = this.#translator.request(parsed, target);
      const rendered: unknown = parseLosslessJson(request.toString());
      const countBody = bodyFor(isObject(rendered) ? rendered : {}, target.model);
      return new TranslatedCount(Buffer.from(writeJson(countBody)), this.#write);
    };
  }

  /** For a body that was rendered elsewhere. */
  counted(body: Buffer): TranslatedCount {
    return new TranslatedCount(body, this.#write);
  }

  error(failed: FailedCall): TranslatedError {
    return this.#translator.error(failed);
  }
}

const claudeFields = ['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'output_config'];
const geminiFields = ['contents', 'systemInstruction', 'tools', 'toolConfig'];
const responsesFields = ['model', 'input', 'instructions', 'tools', 'tool_choice', 'reasoning', 'text'];

/**
 * The fields that each API accepts for counting. Sources: Anthropic, "Count tokens in a Message"; Google,
 * "models.countTokens"; OpenAI, "Get input token counts".
 */
const bodies: Record<CountingWire, (rendered: Record<string, unknown>, model: string) => object> = {
  'anthropic-messages': (rendered) => pick(rendered, claudeFields),
  'gemini-generate': (rendered, model) => ({
    generateContentRequest: { model: `models/${model}`, ...pick(rendered, geminiFields) },
  }),
  'openai-responses': (rendered) => pick(rendered, responsesFields),
};

function pick(request: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(request).filter(([name]) => names.includes(name)));
}

/** The field names of Anthropic and OpenAI, of Google, and of Bedrock. */
const counts = ['input_tokens', 'totalTokens', 'inputTokens'];

export class TranslatedCount {
  readonly body: Buffer;
  /** Always empty: losses are reported with the request itself. */
  readonly losses: readonly Loss[] = [];
  readonly #write: WriteCount;

  constructor(body: Buffer, write: WriteCount) {
    this.body = body;
    this.#write = write;
  }

  /** Null if the body has no count. */
  whole(body: Buffer): WholeAnswer | null {
    const answer = parseLosslessJson(body.toString());
    const count = isObject(answer)
      ? counts.map((name) => answer[name]).find((value) => value !== undefined)
      : undefined;
    const told = wholeNumberOf(count);
    if (told === null) return null;
    return { ok: true, body: Buffer.from(JSON.stringify(this.#write(told))), losses: [], reasoning: null };
  }
}
