import type { RouteMatch } from '../../apis/registry.ts';
import type { CompiledGroup } from '../../routing/snapshot.ts';
import type { MemoryAccount } from './memory-account.ts';
import type { RequestBody } from './request-body.ts';

/** The request, independent of its target. */
export interface OutgoingCall {
  match: RouteMatch;
  group: CompiledGroup;
  body: RequestBody;
  /** The memory account of the request. */
  memory: MemoryAccount;
  /** The client's headers that may be forwarded. */
  headers: Readonly<Record<string, string>>;
  /** Relative to the API's base, percent-encoded as the client sent it. */
  path: string;
  /** The client's query that may be forwarded. */
  query: string;
}
