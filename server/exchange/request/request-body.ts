import type { Readable } from 'node:stream';
import type { MeasuredRequest } from '../../apis/core/wire.ts';
import type { JsonEdit } from '../../apis/json/json-peek.ts';
import type { MarkedElement } from '../../apis/json/json-scan.ts';
import type { GatewayError } from '../../contract/errors.ts';

/** The client disconnected before its request was complete. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** A body that can be sent; `open` is called at most once per attempt. A Readable that is not used must be destroyed. */
export interface Sendable {
  /** In bytes; null if unknown before the end. */
  length: number | null;
  open(): Buffer | Readable;
  /** The whole body in memory, for further changes; absent for uploads. */
  bytes?(): Promise<Buffer>;
  /** The first `most` bytes of a body that is in memory but not opened as one buffer. */
  beginning?(most: number): Buffer;
}

/** The body for one target. `usageAsked`: Sluice asks for usage at the end of the stream, the client did not. */
export interface PreparedBody extends Sendable {
  usageAsked: boolean;
}

/** What differs from the client's body. */
export interface BodyChanges {
  /** The target's name for the model; null: the client's. */
  model: string | null;
  /** Usage is asked for at the end of a stream. */
  askUsage: boolean;
  /** The target's id of the previous response, if it differs from the client's. */
  previousResponseId?: string | undefined;
  /** Further changes. */
  edits?: readonly JsonEdit[] | undefined;
}

/** Body fields that routing depends on. */
export interface RequestFields {
  model: string | null;
  stream: boolean;
  previousResponseId: string | null;
  store: boolean;
}

/** A request body, read as far as routing needs. */
export interface RequestBody extends MeasuredRequest<string> {
  fields: RequestFields;
  contentType: string;
  /** The body to store if the group captures bodies; null for uploads. */
  captured: Buffer | null;
  /** Number of JSON values, at any depth; absent for bodies that are not JSON. */
  readonly values?: number;
  /** Ids of stored objects in a form, or in a passthrough body that is held. */
  readonly referencedIds?: readonly string[];
  /** `captured` may have such ids, which nobody has looked for. */
  readonly mayNameObjects?: boolean;
  /** Where Sluice had a part in the conversation; absent for bodies that are not JSON. */
  readonly marked?: readonly MarkedElement[];
  /** The stored response that the request continues; the body contains its conversation. */
  readonly continuesId?: string | undefined;
  /** More of it may arrive. */
  readonly mayGrow?: boolean;
  /** It can be sent only once. */
  readonly isSingleUse?: true;
  /** Why the rest of a streamed body will not arrive. */
  readonly fault?: GatewayError | null;
  /** The body for a target. Returns a promise if the body is on disk. */
  sendable(changes: BodyChanges): PreparedBody | Promise<PreparedBody>;
  dispose(): void;
}
