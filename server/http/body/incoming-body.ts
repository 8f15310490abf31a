/** A request's body, looked at as far as routing needs, and what is sent of it to a target: the client's own bytes but for a changed model name. */
import { GatewayError } from '../../contract/errors.ts';
import type { RequestBody, RequestFields, Sendable } from '../../exchange/request-body.ts';
import { fieldValue, type JsonField, type JsonPeek, peekJson } from '../../wire/json/json-peek.ts';
import { applyEdits, editedPieces, fieldEdits, type JsonEdit, usageEdits } from '../../wire/json/json-splice.ts';
import { BodyReader } from '../request/body-reader.ts';
import type { MultipartBody } from './multipart.ts';
import { withField } from './multipart-splice.ts';
import { releaseBody } from './release-chunk.ts';

/** All that anything here asks of a JSON body, so that it is gone through once. */
const looked = [
  'model',
  'stream',
  'stream_options',
  'messages',
  'input',
  'prompt',
  'instructions',
  'previous_response_id',
  'conversation',
  'background',
  'store',
  'n',
  'max_completion_tokens',
  'max_output_tokens',
  'max_tokens',
  'best_of',
  'logprobs',
  'echo',
  'suffix',
  'seconds',
  'size',
  'quality',
  'response_format',
  'prompt_cache_key',
] as const;

export type FieldName = (typeof looked)[number];

/** From here on a body is sent piece by piece. */
const pieceByPieceBytes = 1024 * 1024;

export class JsonBody implements RequestBody {
  readonly fields: RequestFields;
  readonly contentType = 'application/json';
  readonly #bytes: Buffer;
  readonly #size: number;
  readonly #readers = new Set<BodyReader>();
  readonly #peek: Extract<JsonPeek, { ok: true }>;

  constructor(bytes: Buffer) {
    const peek = peekJson(bytes, looked);
    if (!peek.ok) {
      throw new GatewayError(
        'malformed_json',
        `We could not parse the JSON body of your request: ${peek.reason} at byte ${peek.offset}. Send one valid JSON object.`,
      );
    }
    this.#bytes = bytes;
    this.#size = bytes.length;
    this.#peek = peek;
    this.fields = {
      model: this.#text('model'),
      stream: this.#read(peek.fields.get('stream')) === true,
      previousResponseId: this.#text('previous_response_id'),
      store: this.#read(peek.fields.get('store')) !== false,
    };
  }

  get size(): number {
    return this.#size;
  }

  get captured(): Buffer {
    return this.#bytes;
  }

  field(name: FieldName): unknown {
    const field = this.#peek.fields.get(name);
    try {
      return field && fieldValue(this.#bytes, field);
    } catch {
      return undefined;
    }
  }

  async sendable(
    model: string | null,
    askUsage: boolean,
    previousResponseId?: string,
  ): Promise<Sendable & { usageAsked: boolean }> {
    const usage = askUsage && this.fields.stream ? usageEdits(this.#bytes, this.#peek) : [];
    const previous = this.#peek.fields.get('previous_response_id');
    const renamed = previous && previousResponseId ? fieldEdits(previous, previousResponseId) : [];
    const edits = [...this.#modelEdits(model), ...usage, ...renamed];
    const bytes = () => (edits.length > 0 ? applyEdits(this.#bytes, edits) : this.#bytes);
    const usageAsked = usage.length > 0;
    if (this.#isLong) {
      const pieces = editedPieces(this.#bytes, edits);
      const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
      return { length, open: () => this.#send(pieces), bytes, usageAsked };
    }
    const whole = bytes();
    return { length: whole.length, open: () => whole, bytes: () => whole, usageAsked };
  }

  /** Long ones give their memory back: no socket has seen them. */
  dispose(): void {
    if (!this.#isLong) return;
    for (const reader of this.#readers) reader.destroy();
    releaseBody(this.#bytes);
  }

  get #isLong(): boolean {
    return this.#size >= pieceByPieceBytes;
  }

  #send(pieces: readonly Buffer[]): BodyReader {
    const reader = new BodyReader(pieces);
    this.#readers.add(reader);
    return reader.once('close', () => this.#readers.delete(reader));
  }

  #modelEdits(model: string | null): JsonEdit[] {
    const field = this.#peek.fields.get('model');
    // A model that is named twice is made one: the upstream may take the first, and only the last was admitted.
    const isSettled = model === null || (model === this.fields.model && field?.earlier.length === 0);
    if (isSettled) return [];
    if (field) return fieldEdits(field, model);
    const start = this.#bytes.indexOf(0x7b) + 1;
    return [{ start, end: start, text: `"model":${JSON.stringify(model)}${this.#peek.empty ? '' : ','}` }];
  }

  #text(name: 'model' | 'previous_response_id'): string | null {
    const value = this.#read(this.#peek.fields.get(name));
    if (value === undefined || value === null || value === '') return null;
    if (typeof value === 'string') return value;
    throw new GatewayError('invalid_value', `Invalid type for '${name}': expected a string.`, { param: name });
  }

  #read(field: JsonField | undefined): unknown {
    if (!field) return undefined;
    try {
      return fieldValue(this.#bytes, field);
    } catch (error) {
      throw new GatewayError(
        'malformed_json',
        'We could not parse the JSON body of your request: a string in it is not valid JSON.',
        { cause: error },
      );
    }
  }
}

export class FormBody implements RequestBody {
  readonly fields: RequestFields;
  readonly captured = null;
  readonly #form: MultipartBody;

  constructor(form: MultipartBody) {
    this.#form = form;
    this.fields = {
      model: this.#text('model') || null,
      stream: this.#text('stream') === 'true',
      previousResponseId: null,
      store: true,
    };
  }

  get size(): number {
    return this.#form.size;
  }

  get contentType(): string {
    return this.#form.contentType;
  }

  field(name: FieldName): unknown {
    return this.#text(name);
  }

  async sendable(model: string | null): Promise<Sendable & { usageAsked: boolean }> {
    const changed = model !== null && model !== this.fields.model;
    const body = changed ? await withField(this.#form, 'model', model) : this.#form.spool.whole();
    return { length: body.length, open: () => body.open(), usageAsked: false };
  }

  dispose(): void {
    this.#form.spool.dispose();
  }

  #text(name: string): string | undefined {
    const value = this.#form.fields[name];
    return Array.isArray(value) ? value.at(-1) : value;
  }
}

/** For the routes without one. */
export const emptyBody: RequestBody = {
  fields: { model: null, stream: false, previousResponseId: null, store: true },
  size: 0,
  contentType: '',
  captured: null,
  field: () => undefined,
  sendable: async () => ({ length: 0, open: () => Buffer.alloc(0), usageAsked: false }),
  dispose() {},
};
