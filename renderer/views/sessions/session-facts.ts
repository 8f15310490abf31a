import type { SessionSums, SessionView } from '../../../server/contract/session-views.ts';
import type { Localization } from '../../messages/use-messages.ts';

/** `claude-cli/2.1.197 (external, cli)` is `claude-cli/2.1.197`. */
export function programOf(client: string | null): string | null {
  return client?.split(' ', 1)[0] || null;
}

/** Whether its further requests are refused. */
export function isRefused({ stoppedAt, isOverBudget }: SessionView): boolean {
  return stoppedAt !== null || isOverBudget;
}

/** `$0.42`, or the word that it is not known. */
export function costIn({ costUsd }: Pick<SessionSums, 'costUsd'>, { messages, formats }: Localization): string {
  return costUsd === null ? messages.sessions.costUnknown : formats.dollars(costUsd);
}
