/** Translates embeddings requests between two wires, as `translator.ts` does for conversations. Pure. */
import { GatewayError } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import { bedrockEmbeddings } from '../bedrock/translation/embeddings.ts';
import { geminiEmbeddings } from '../gemini/translation/gemini-embeddings.ts';
import { embeddedContent, predictedEmbeddings } from '../gemini/translation/vertex-embeddings.ts';
import type { EmbeddingsRequest, EmbeddingsUpstream, EmbeddingsWire } from '../neutral/embeddings.ts';
import { parseLosslessJson, writeJson } from '../neutral/json-text.ts';
import { type Loss, Losses } from '../neutral/losses.ts';
import { openaiEmbeddings } from '../openai/embeddings-translation.ts';
import type { WholeAnswer } from './translated-request.ts';
import { wireTranslations } from './translation-registry.ts';
import { type FailedCall, type NamedInUrl, type TranslatedError, translatedError } from './translator.ts';

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
  readonly #clientName: EmbeddingsWireName;
  readonly #client: EmbeddingsWire;
  readonly #upstream: EmbeddingsUpstream;

  constructor(client: EmbeddingsWireName, upstream: EmbeddingsUpstreamName) {
    this.#clientName = client;
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
      const rendered = this.#upstream.renderRequest(request, model, more);
      const reported = [...losses.list, ...more.list];
      return new TranslatedEmbeddings([this.#client, this.#upstream], { request, rendered, losses: reported });
    };
  }

  error(failed: FailedCall): TranslatedError {
    return translatedError(conversations[this.#clientName], failed);
  }
}

interface RenderedEmbeddings {
  request: EmbeddingsRequest;
  rendered: Record<string, unknown>;
  losses: readonly Loss[];
}

export class TranslatedEmbeddings {
  /** The request body for the upstream. */
  readonly body: Buffer;
  readonly losses: readonly Loss[];
  readonly #request: EmbeddingsRequest;
  readonly #client: EmbeddingsWire;
  readonly #upstream: EmbeddingsUpstream;

  constructor(
    [client, upstream]: [EmbeddingsWire, EmbeddingsUpstream],
    { request, rendered, losses }: RenderedEmbeddings,
  ) {
    this.body = Buffer.from(writeJson(rendered));
    this.losses = losses;
    this.#request = request;
    this.#client = client;
    this.#upstream = upstream;
  }

  /** Null if the body is not an answer of the upstream's API, or does not have a vector for each text. */
  whole(body: Buffer): WholeAnswer | null {
    const answer = this.#upstream.parseAnswer(parseLosslessJson(body.toString()));
    if (answer === null || answer.vectors.length !== this.#request.texts.length) return null;
    const rendered = this.#client.renderAnswer(answer, this.#request);
    // Plain `JSON.stringify`, because the vectors are long and contain only numbers.
    return { ok: true, body: Buffer.from(JSON.stringify(rendered)), losses: [], reasoning: null };
  }
}
