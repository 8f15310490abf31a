import type { AliasView } from '../../../../server/contract/access-views.ts';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import classes from './AliasFlow.module.css';
import { ranksOf, type SharedTarget } from './alias-ranks.ts';

/** The targets of an alias: ranks that are tried in order, and the share of requests of each target within a rank. */
export function AliasFlow({ alias }: { alias: AliasView }) {
  const { models } = useLocalization().messages;
  return (
    <ol className={classes.ranks} aria-label={models.alias.leadsTo(alias.name)}>
      {ranksOf(alias).map((rank) => (
        <li key={rank.map(({ provider, model }) => `${provider}/${model}`).join()} className={classes.rank}>
          {rank.length > 1 && <Shares rank={rank} />}
          {rank.map((target) => (
            <Target key={`${target.provider}/${target.model}`} target={target} isShared={rank.length > 1} />
          ))}
        </li>
      ))}
    </ol>
  );
}

function Shares({ rank }: { rank: readonly SharedTarget[] }) {
  return (
    <span className={classes.bar} aria-hidden>
      {rank.map(({ provider, model, share }) => (
        <span key={`${provider}/${model}`} className={classes.share} style={{ flexGrow: share }} />
      ))}
    </span>
  );
}

function Target({ target, isShared }: { target: SharedTarget; isShared: boolean }) {
  const { formats } = useLocalization();
  const providerName = useProviderName();
  return (
    <span className={classes.target}>
      {isShared && <span className={classes.percent}>{formats.percent(target.share)} </span>}
      {providerName(target.provider)} <span className={classes.model}>{target.model}</span>
    </span>
  );
}
