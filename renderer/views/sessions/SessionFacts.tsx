import { costOfSum } from '../../../server/contract/ledger.ts';
import {
  programOf,
  type RequestText,
  type SessionInFull,
  type SessionView,
} from '../../../server/contract/session-views.ts';
import { CopyLine } from '../../components/copying/CopyButton.tsx';
import { type Localization, useLocalization } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useNameOf } from '../../state/control/use-found.ts';
import classes from './Sessions.module.css';

interface SessionFactsProps {
  full: SessionInFull;
  /** What its first captured request says; undefined if nothing is known of it. */
  opening: RequestText | undefined;
}

/** Usage and cost of the whole session. */
export function SessionFacts({ full: { session, requests }, opening }: SessionFactsProps) {
  const localization = useLocalization();
  const { formats } = localization;
  const { facts: names } = localization.messages.sessions;
  const keyName = useNameOf('key', session.keyId);
  const { cachedInputTokens, inputTokens, errors, retries, models } = session;
  const share = inputTokens > 0 ? ` (${formats.percent(cachedInputTokens / inputTokens)})` : '';
  const lost = requests.reduce((sum, { cacheLoss }) => sum + (cacheLoss?.tokens ?? 0), 0);
  const lostUsd = requests.reduce((sum, { cacheLoss }) => sum + (cacheLoss?.costUsd ?? 0), 0);
  const facts: [name: string, value: string][] = [
    [names.cost, formats.cost(costOfSum(session))],
    [names.budget, useBudget(session, localization)],
    [names.input, formats.number(inputTokens)],
    [names.cached, `${formats.number(cachedInputTokens)}${share}`],
    [names.lost, lost > 0 ? `${formats.number(lost)}${lostUsd > 0 ? ` (${formats.dollars(lostUsd)})` : ''}` : ''],
    [names.output, formats.number(session.outputTokens)],
    [names.turns, formats.number(session.turns)],
    [names.requests, formats.number(session.requests)],
    [names.errors, errors > 0 ? formats.number(errors) : ''],
    [names.retries, retries > 0 ? formats.number(retries) : ''],
    [names.models, models.join(', ')],
    [names.client, programOf(session.client) ?? ''],
    [names.folder, opening?.folder ?? ''],
    [names.branch, opening?.branch ?? ''],
    [names.key, keyName ?? session.keyId ?? ''],
    [names.time, formats.fromTo(session.firstAt, session.lastAt)],
  ];
  return (
    <div className={classes.panel}>
      <dl className={classes.facts}>
        {facts
          .filter(([, value]) => value !== '')
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      <CopyLine value={session.id} label="ID" oneLine />
    </div>
  );
}

/** Empty if there is no budget. */
function useBudget({ budgetUsedUsd }: SessionView, { messages, formats }: Localization): string {
  const stopAtUsd = useControlState((state) => state.views?.status.settings.sessionBudget.stopAtUsd ?? null);
  if (stopAtUsd === null) return '';
  return messages.sessions.budgetUsed(formats.dollars(budgetUsedUsd), formats.dollars(stopAtUsd));
}
