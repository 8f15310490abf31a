/**
 * Threads of messages, which only Anthropic stores. The first request of one holds the whole conversation, so it is answered. One
 * that continues a thread holds only what is new; it is refused with the code upon which Anthropic's SDKs send the
 * whole conversation again. Source: `lib/internal/threads/ThreadState.ts` of the TypeScript SDK 1.14.0.
 */
import { GatewayError } from '../../../contract/errors.ts';
import { lossCodes } from '../../../contract/loss-codes.ts';
import type { Fields } from '../../neutral/fields.ts';

/** @throws GatewayError `thread_not_found` or `thread_unsupported_request` */
export function parseThread(fields: Fields): void {
  const thread = fields.fields('thread');
  if (thread === undefined) return;
  const type = thread.text('type');
  if (type === 'create') {
    thread.dropRest();
    fields.losses.emulated('thread', 'unkept-thread');
    return;
  }
  const message = `'thread' cannot be continued: ${lossCodes['unkept-thread']}.`;
  throw new GatewayError(type === 'continue' ? 'thread_not_found' : 'thread_unsupported_request', message, {
    param: 'thread',
  });
}
