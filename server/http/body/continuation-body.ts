import type { RawField } from '../../apis/core/wire.ts';
import type { PreparedBody, RequestBody, RequestFields } from '../../exchange/request/request-body.ts';
import { withHistory } from '../../exchange/translation/kept-history.ts';
import type { KeptResponse } from '../../store/rules/kept-response.ts';
import { JsonBody, readJsonBody } from './json-body.ts';

/** A request that continues a response stored by Sluice, with the stored conversation in its `input`. */
class ContinuationBody implements RequestBody {
  readonly fields: RequestFields;
  readonly contentType = 'application/json';
  readonly continuesId: string;
  readonly #whole: JsonBody;
  /** Renders the body for a provider that serves Responses itself. */
  readonly #plain: () => Buffer;

  constructor(whole: JsonBody, plain: () => Buffer, continuesId: string) {
    this.fields = whole.fields;
    this.continuesId = continuesId;
    this.#whole = whole;
    this.#plain = plain;
  }

  get size(): number {
    return this.#whole.size;
  }

  get captured(): Buffer {
    return this.#whole.captured;
  }

  get values(): number {
    return this.#whole.values;
  }

  field(name: string): unknown {
    return this.#whole.field(name);
  }

  raw(name: string): RawField | null {
    return this.#whole.raw(name);
  }

  sendable(model: string | null, askUsage: boolean): PreparedBody {
    return new JsonBody(this.#plain()).sendable(model, askUsage);
  }

  dispose(): void {
    this.#whole.dispose();
  }
}

export async function continueFrom(keptResponse: KeptResponse, body: RequestBody): Promise<RequestBody> {
  const history = body.captured && withHistory(body.captured, keptResponse);
  if (!history) return body;
  return new ContinuationBody(await readJsonBody(history.sealed, null), history.plain, keptResponse.id);
}
