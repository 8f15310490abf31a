import type { AttemptResult } from '../../routing/attempt-result.ts';
import type { AttemptTimeouts } from '../../routing/compile-timeouts.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import type { DeliveryOptions } from '../answer/answer-delivery.ts';
import type { IncomingOptions } from '../answer/incoming-response.ts';
import type { MemoryAccount, NonRepeatable } from '../request/outgoing-call.ts';
import type { StreamNeeds } from './choose-reader.ts';

export interface AttemptOptions extends DeliveryOptions, IncomingOptions {
  /** Secrets of the client and of the attempt; nothing recorded of the response may contain them. */
  secrets: readonly string[];
  /** The memory account of the request and its response. */
  memory: MemoryAccount;
  /** What the request must not do twice: buy something (`isPurchase`), or delete something. Null: it may be repeated. */
  once: NonRepeatable | null;
  needs: StreamNeeds;
  /** Whether the client itself asked for usage at the end of a chat stream. */
  wantsUsage(): boolean;
  timeouts: AttemptTimeouts;
  /** Called with the headers of a response, before anything is read. */
  answered(headers: ResponseHeaders): void;
  /** Called for a fault of Sluice's own in reading the answer. */
  reportError(error: unknown): void;
  /** Claims the answer for this attempt. Once true, it is false for all others. */
  claim(): boolean;
}

/** The result for the attempt loop, or a redirect, which may be followed. */
export type CallResult = AttemptResult | { kind: 'redirected'; location: string };
