/**
 * Serves OpenAI's routes for images and audio by Gemini's API and Bedrock, as `translator.ts` does for conversations.
 * Pure.
 */
import { GatewayError } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import { readErrorBody } from '../../wire/error-body.ts';
import type { FormValue } from '../../wire/uploaded-file.ts';
import { errorIn } from '../../wire/upstream-error.ts';
import { Fields } from '../fields.ts';
import { parseJson } from '../json-text.ts';
import { type Loss, Losses } from '../losses.ts';
import { geminiFacts } from '../model-facts.ts';
import { neutralError } from '../neutral-error.ts';
import type { WholeAnswer } from '../translated-request.ts';
import type { TranslatedError } from '../translator.ts';
import { wireTranslations } from '../wire-translations.ts';
import { imagenImages } from './imagen.ts';
import { editedImages, generatedImages } from './images.ts';
import type { MediaOperation, MediaRequest } from './operation.ts';
import { spokenText } from './speech.ts';
import { stabilityImages } from './stability-images.ts';
import { transcribedAudio, translatedAudio } from './transcription.ts';

const byGenerate = {
  'openai-images': generatedImages,
  'openai-image-edits': editedImages,
  'openai-speech': spokenText,
  'openai-transcription': transcribedAudio,
  'openai-translation': translatedAudio,
} satisfies Record<string, MediaOperation>;

const imagesBy = { 'gemini-predict': imagenImages, 'bedrock-images': stabilityImages };

export type MediaWireName = keyof typeof byGenerate;
export type MediaUpstreamWire = 'gemini-generate' | 'gemini-predict' | 'bedrock-images';

/** Whether this is the name of a wire for images or audio that other APIs can serve. */
export function isMediaWireName(name: string): name is MediaWireName {
  return Object.hasOwn(byGenerate, name);
}

/**
 * The wire by which a Gemini model is called for this; null if the model cannot serve it.
 * @param model null if the client's name is not known yet
 */
export function mediaUpstreamWire(client: MediaWireName, model: string | null): MediaUpstreamWire | null {
  if (!geminiFacts(model ?? '').predicts) return 'gemini-generate';
  return client === 'openai-images' ? 'gemini-predict' : null;
}

export class MediaTranslator {
  readonly #operation: MediaOperation;

  constructor(client: MediaWireName, upstream: MediaUpstreamWire) {
    this.#operation = upstream === 'gemini-generate' ? byGenerate[client] : imagesBy[upstream];
  }

  /**
   * Parses a client's request, which is the same for each target.
   * @param body JSON, or the fields of a form with its files
   * @throws GatewayError `malformed_json`, or `invalid_value` naming the field
   */
  open(body: Buffer | FormValue): () => TranslatedMedia {
    const value = Buffer.isBuffer(body) ? parseJson(body.toString()) : body;
    if (value === undefined) throw new GatewayError('malformed_json', 'The body is not valid JSON.');
    const losses = new Losses();
    const request = this.#operation(new Fields(value, '', losses), losses);
    const translated = new TranslatedMedia(request, losses.list);
    return () => translated;
  }

  /** Translates an upstream's error into OpenAI's format. */
  error(status: number, body: Buffer): TranslatedError {
    const error = neutralError(errorIn(readErrorBody(body)), status);
    const rendered = wireTranslations['openai-chat'].renderError(error, status);
    return { status: rendered.status, body: Buffer.from(rendered.body), error };
  }
}

export class TranslatedMedia {
  /** The request body for the upstream. */
  readonly body: Buffer;
  readonly losses: readonly Loss[];
  /** Content type of the client's answer, unless it is a stream. */
  readonly contentType: string;
  readonly #request: MediaRequest;

  constructor(request: MediaRequest, losses: readonly Loss[]) {
    // Plain `JSON.stringify`, because the media are long.
    this.body = Buffer.from(JSON.stringify(request.body));
    this.losses = losses;
    this.contentType = request.contentType;
    this.#request = request;
  }

  /** Null if the body is not an answer of the upstream's API. */
  whole(body: Buffer, { createdAt }: { createdAt: number }): WholeAnswer | null {
    const answer = parseJson(body.toString());
    const rendered = isObject(answer) ? this.#request.render(answer, createdAt) : null;
    if (rendered === null) return null;
    return rendered.ok ? { ...rendered, losses: [], reasoning: null } : { ...rendered, isFinal: true };
  }
}
