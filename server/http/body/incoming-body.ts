/** Request bodies: the fields that routing needs, and the bytes to send, which differ from the client's only in the model name. */
import type { Recording } from '../../apis/core/recordings/recording-length.ts';
import { readStreamFlag } from '../../apis/core/requests/deciding-fields.ts';
import { requestFields } from '../../apis/registry.ts';
import type { BodyChanges, PreparedBody, RequestBody, RequestFields } from '../../exchange/request/request-body.ts';
import type { MultipartBody } from './multipart.ts';
import { withField } from './multipart-splice.ts';
import { idsInFields } from './search-form.ts';

/** The fields that each request is routed by, whatever its wire. */
const routingFields = ['model', 'stream', 'stream_options', 'previous_response_id', 'store'] as const;

/**
 * All fields that Sluice reads from a JSON body, in a single pass: its own, and those that the wires declare. Since they
 * decide routing and price, they must be written in a way that all JSON parsers read alike.
 */
export const collectedFields: readonly string[] = [...new Set([...routingFields, ...requestFields])];

export class FormBody implements RequestBody {
  readonly fields: RequestFields;
  readonly captured = null;
  readonly recording: Recording | null;
  readonly #form: MultipartBody;

  constructor(form: MultipartBody, recording: Recording | null = null) {
    this.#form = form;
    this.recording = recording;
    this.fields = {
      model: this.#text('model') || null,
      stream: readStreamFlag(this.#text('stream')) === true,
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

  field(name: string): unknown {
    return this.#text(name);
  }

  raw(): null {
    return null;
  }

  get referencedIds(): readonly string[] {
    return idsInFields(this.#form.fields);
  }

  async sendable({ model }: BodyChanges): Promise<PreparedBody> {
    const isChanged = model !== null && model !== this.fields.model;
    const body = isChanged ? await withField(this.#form, 'model', model) : this.#form.spool.whole();
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

/** For routes without a body. */
export const emptyBody: RequestBody = {
  fields: { model: null, stream: false, previousResponseId: null, store: true },
  size: 0,
  contentType: '',
  captured: null,
  field: () => undefined,
  raw: () => null,
  sendable: () => ({ length: 0, open: () => Buffer.alloc(0), usageAsked: false }),
  dispose() {},
};
