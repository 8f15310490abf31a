/** Translates embeddings requests between two wires, as `translator.ts` does for conversations. Pure. */
import { GatewayError } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import { mostTextsOfOpenai } from '../../models/model-facts.ts';
import { bedrockEmbeddings } from '../bedrock/translation/embeddings.ts';
import { estimateTokens } from '../core/usage/prompt-estimate.ts';
import { wholeNumberOf } from '../core/usage/reported-usage.ts';
import { embeddedContent, geminiEmbeddings, predictedEmbeddings } from '../gemini/translation/embeddings.ts';
import type { EmbeddingsRequest, EmbeddingsUpstream, EmbeddingsWire } from '../neutral/embeddings.ts';
import { parseLosslessJson, writeJson } from '../neutral/json-text.ts';
import { invalid, type Loss, Losses } from '../neutral/losses.ts';
import { openaiEmbeddings } from '../openai/embeddings.ts';
import { wireTranslations } from './translation-registry.ts';
import {
  type FailedCall,
  type NamedInUrl,
  type TranslatedError,
  translatedError,
  type WholeAnswer,
} from './translator.ts';

const wires = { 'openai-embeddings': openaiEmbeddings, 'gemini-embeddings': geminiEmbeddings };
const upstreamWires = {
  ...wires,
  'vertex-predict': predictedEmbeddings,
  'vertex-embed-content': embeddedContent,
  'bedrock-embeddings': bedrockEmbeddings,
};
/** The conversation wires whose error formats are used. */
const conversations = {
  'openai-embeddings': wireTranslations['openai-chat'],
  'gemini-embeddings': wireTranslations['gemini-generate'],
};

/** A wire that clients use. */
export type EmbeddingsWireName = keyof typeof wires;
/** A wire by which providers are called. */
type EmbeddingsUpstreamName = keyof typeof upstreamWires;

export function isEmbeddingsUpstreamName(name: string): name is EmbeddingsUpstreamName {
  return Object.hasOwn(upstreamWires, name);
}

/** Whether this is the name of an embeddings wire that can be translated. */
export function isEmbeddingsWireName(name: string): name is EmbeddingsWireName {
  return Object.hasOwn(wires, name);
}

/** Null if both wires are the same and the model keeps its name, so that bytes are forwarded unchanged. */
export function createEmbeddingsTranslator(
  client: EmbeddingsWireName,
  upstream: EmbeddingsUpstreamName,
  isRenamed: boolean,
): EmbeddingsTranslator | null {
  return client === upstream && !isRenamed ? null : new EmbeddingsTranslator(client, upstream);
}

export class EmbeddingsTranslator {
  readonly #names: readonly [EmbeddingsWireName, EmbeddingsUpstreamName];
  readonly #client: EmbeddingsWire;
  readonly #upstream: EmbeddingsUpstream;

  constructor(client: EmbeddingsWireName, upstream: EmbeddingsUpstreamName) {
    this.#names = [client, upstream];
    this.#client = wires[client];
    this.#upstream = upstreamWires[upstream];
  }

  /**
   * Parses a client's request. The returned function renders it for a target.
   * @param fromUrl values that Gemini's API has in the URL and other APIs have in the body
   * @throws GatewayError `malformed_json`, or `invalid_value` naming the field
   */
  open(body: Buffer, fromUrl?: NamedInUrl): (target: { model: string }) => TranslatedEmbeddings {
    const value = parseLosslessJson(body.toString());
    if (value === undefined) throw new GatewayError('malformed_json', 'The body is not valid JSON.');
    const losses = new Losses();
    const withModel = fromUrl && isObject(value) ? { ...value, model: fromUrl.model } : value;
    const request = this.#client.parseRequest(withModel, losses);
    return ({ model }) => {
      const more = new Losses();
      const parts = partsOf(request, this.#upstream.mostTexts(model));
      const rendered = parts.map((part, place) =>
        this.#upstream.renderRequest(part, model, place === 0 ? more : new Losses()),
      );
      const reported = [...losses.list, ...more.list];
      return new TranslatedEmbeddings(this.#names, { request, parts, rendered, losses: reported });
    };
  }

  error(failed: FailedCall): TranslatedError {
    return translatedError(conversations[this.#names[0]], failed);
  }
}

/**
 * The request in parts that the model takes at a time; one part for most.
 * @throws GatewayError `invalid_value` for more texts than a client may ask for
 */
function partsOf(request: EmbeddingsRequest, mostTexts: number): EmbeddingsRequest[] {
  const { texts, form } = request;
  if (texts.length <= mostTexts) return [request];
  if (texts.length > mostTextsOfOpenai)
    invalid(form === 'single' ? 'content' : 'input', `at most ${mostTextsOfOpenai} texts at a time`);
  return Array.from({ length: Math.ceil(texts.length / mostTexts) }, (_, place) => ({
    ...request,
    texts: texts.slice(place * mostTexts, (place + 1) * mostTexts),
  }));
}

interface RenderedEmbeddings {
  request: EmbeddingsRequest;
  /** The request, or several parts of it that have to be asked one after the other. */
  parts: readonly EmbeddingsRequest[];
  /** Of each part. */
  rendered: readonly Record<string, unknown>[];
  losses: readonly Loss[];
}

export class TranslatedEmbeddings {
  /** The request body for the upstream: of the last part, if there are several. */
  readonly body: Buffer;
  /** The bodies that have to be asked before it. */
  readonly earlierBodies: readonly Buffer[];
  readonly losses: readonly Loss[];
  readonly #request: EmbeddingsRequest;
  readonly #parts: readonly EmbeddingsRequest[];
  readonly #names: readonly [EmbeddingsWireName, EmbeddingsUpstreamName];
  readonly #client: EmbeddingsWire;
  /** The vectors of each part so far, as JSON for the client: written part by part, because to write all at once takes seconds. */
  readonly #vectors: Buffer[] = [];
  /** Null if an answer has not reported it. */
  #promptTokens: number | null = 0;
  #texts = 0;

  constructor(
    names: readonly [EmbeddingsWireName, EmbeddingsUpstreamName],
    { request, parts, rendered, losses }: RenderedEmbeddings,
  ) {
    const bodies = rendered.map((part) => Buffer.from(writeJson(part)));
    this.body = bodies.at(-1) ?? Buffer.alloc(0);
    this.earlierBodies = bodies.slice(0, -1);
    this.losses = losses;
    this.#request = request;
    this.#parts = parts;
    this.#names = names;
    this.#client = wires[names[0]];
  }

  /** What is wanted of the answer to the next part. */
  get wanted(): WantedVectors {
    const [client, upstream] = this.#names;
    const count = this.#parts[this.#vectors.length]?.texts.length ?? 0;
    return { client, upstream, form: this.#request.form, from: this.#texts, count };
  }

  /** Takes the answer to the next of `earlierBodies`, of which these are the vectors. Null under the same conditions as `whole`. */
  takeEarlier(vectors: RenderedVectors | null): PartOfEmbeddings | null {
    const part = this.#parts[this.#vectors.length];
    if (!part || vectors === null) return null;
    this.#take(part, vectors);
    return {
      promptTokens: vectors.promptTokens ?? part.texts.reduce((sum, text) => sum + estimateTokens(text), 0),
      bytes: vectors.json.length,
    };
  }

  /** Null if the body is not an answer of the upstream's API, or does not have a vector for each text. */
  whole(body: Buffer): WholeAnswer | null {
    return this.wholeOf(renderVectors(body, this.wanted));
  }

  /** The same of the vectors in the body. */
  wholeOf(vectors: RenderedVectors | null): WholeAnswer | null {
    const last = this.#parts.at(-1);
    const areEarlierTaken = this.#vectors.length === this.earlierBodies.length;
    if (!last || !areEarlierTaken || vectors === null) return null;
    this.#take(last, vectors);
    const [begin, end] = this.#client.renderAnswer(this.#promptTokens, this.#request).map((text) => Buffer.from(text));
    if (!begin || !end) throw new Error('unreachable: an answer has a begin and an end');
    const body = Buffer.concat([
      begin,
      ...this.#vectors.flatMap((each, place) => (place === 0 ? [each] : [comma, each])),
      end,
    ]);
    return { ok: true, body, losses: [], reasoning: null };
  }

  #take({ texts }: EmbeddingsRequest, { json, promptTokens }: RenderedVectors): void {
    this.#vectors.push(json);
    this.#texts += texts.length;
    this.#promptTokens =
      this.#promptTokens === null || promptTokens === null ? null : wholeNumberOf(this.#promptTokens + promptTokens);
  }
}

const comma = Buffer.from(',');

/** Which vectors a part of an answer has to have, and how they are written. */
export interface WantedVectors {
  client: EmbeddingsWireName;
  upstream: EmbeddingsUpstreamName;
  form: EmbeddingsRequest['form'];
  /** The index of the first. */
  from: number;
  count: number;
}

export interface RenderedVectors {
  /** For the client, with commas between. */
  json: Buffer;
  promptTokens: number | null;
}

/** The vectors in an upstream's answer. Null if it is not an answer of its API, or has not as many as are wanted. */
export function renderVectors(body: Buffer, wanted: WantedVectors): RenderedVectors | null {
  const answer = upstreamWires[wanted.upstream].parseAnswer(parseLosslessJson(body.toString()));
  if (answer?.vectors.length !== wanted.count) return null;
  const client = wires[wanted.client];
  const rendered = answer.vectors.map((vector, place) =>
    // Not `writeJson`, because the vectors are long and contain only numbers.
    JSON.stringify(client.renderVector(vector, wanted.from + place, wanted.form)),
  );
  return { json: Buffer.from(rendered.join(',')), promptTokens: answer.promptTokens };
}

/** What the answer to a part of a request used. */
interface PartOfEmbeddings {
  /** Reported, or an estimate. */
  promptTokens: number;
  /** Of its vectors for the client. */
  bytes: number;
}
