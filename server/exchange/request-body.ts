import type { Readable } from 'node:stream';
import type { GatewayError } from '../contract/errors.ts';
import type { MeasuredRequest } from '../wire/wire.ts';

/** A body that can be sent: `open` may be called once per attempt. A Readable that is not wanted must be destroyed. */
export interface Sendable {
  /** In bytes; null where only its end tells. */
  length: number | null;
  open(): Buffer | Readable;
  /** All of it in memory, to be changed further; not there for uploads. */
  bytes?(): Promise<Buffer>;
}

/** As one target is to have it. `usageAsked`: Sluice asks for the usage at the end of the stream, the client did not. */
export interface PreparedBody extends Sendable {
  usageAsked: boolean;
}

/** Fields of a body that decide about the request. */
export interface RequestFields {
  model: string | null;
  stream: boolean;
  previousResponseId: string | null;
  store: boolean;
}

/** A request's body, looked at as far as routing needs, and what is sent of it to a target. */
export interface RequestBody extends MeasuredRequest {
  fields: RequestFields;
  contentType: string;
  /** May be kept where its group captures bodies. Uploads are not. */
  captured: Buffer | null;
  /** Ids that it names, as far as it was looked at; of a body that is passed on as it is. */
  readonly namedIds?: readonly string[];
  /** It can be sent but once. */
  readonly isOnce?: true;
  /** Why the rest of a streamed body will not come. */
  readonly fault?: GatewayError | null;
  /**
   * What is sent to a target that knows the model as `model` (null: as the client named it), and the previous response
   * as `previousResponseId`, where that is another name than the client's. A promise where the disk has to be asked.
   */
  sendable(model: string | null, askUsage: boolean, previousResponseId?: string): PreparedBody | Promise<PreparedBody>;
  dispose(): void;
}
