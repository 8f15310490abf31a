import { IconMinus } from '@tabler/icons-react';
import type { RouteCandidate } from '../../../../server/contract/access-views.ts';
import { useMessages } from '../../../messages/use-messages.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useProviderName } from '../../../state/providers/use-provider-name.ts';
import classes from '../Models.module.css';
import { describeReason } from './describe-reason.ts';

/** Providers that are not tried for a model, in one row per reason. */
export function SkippedList({ list }: { list: readonly RouteCandidate[] }) {
  const messages = useMessages();
  const providers = useControlState((state) => state.views?.providers);
  const providerName = useProviderName();
  const byReason = Map.groupBy(list, ({ provider, why }) =>
    describeReason(
      why,
      providers?.find(({ id }) => id === provider),
      messages,
    ),
  );
  return (
    <>
      <h3 className={classes.subtitle}>{messages.models.leftOut}</h3>
      <ul className={classes.candidates}>
        {[...byReason].map(([reason, skipped]) => (
          <li key={reason} className={classes.candidate}>
            <IconMinus className={classes.mark} size={16} aria-hidden />
            <div className={classes.candidateText}>
              {skipped.map(({ provider }) => providerName(provider)).join(' · ')}
              <span className={classes.reason}>{reason}</span>
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}
