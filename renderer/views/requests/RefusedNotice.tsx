import { CloseButton } from '@mantine/core';
import { IconKeyOff } from '@tabler/icons-react';
import { useId } from 'react';
import { Link } from 'wouter';
import type { RefusalView } from '../../../server/contract/request-views.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { describeRefusal, fixOfRefusal } from '../../state/requests/failures.ts';
import { useRights } from '../../state/rights/use-rights.ts';
import { createSessionValue, useSessionValue } from '../../state/window/session-value.ts';
import classes from './Requests.module.css';

/** The latest refusal when the notice was closed, in Unix milliseconds. A later one opens it again. */
const closedAt = createSessionValue<number>(0);

/**
 * Refused requests that appear in no list. Helps to find a program with a wrong key, or in a loop over a limit. One line, so that the
 * list keeps its place; the kinds besides the latest are unfolded. Usually renders nothing.
 */
export function RefusedNotice() {
  const localization = useLocalization();
  const { refused } = localization.messages.requests;
  const refusals = useControlState((state) => state.views?.refusals ?? null) ?? [];
  const [seenUntil, setSeenUntil] = useSessionValue(closedAt);
  const titleId = useId();
  const [latest, ...others] = refusals.toSorted((one, other) => other.lastAt - one.lastAt);
  if (!latest || latest.lastAt <= seenUntil) return null;
  return (
    <section className={classes.refused} aria-labelledby={titleId}>
      <IconKeyOff className={classes.refusedIcon} size={18} aria-hidden />
      <h2 className={classes.refusedTitle} id={titleId}>
        {refused.title}
      </h2>
      <p className={classes.refusedLine}>
        <Refusal refusal={latest} />
      </p>
      {others.length > 0 && (
        <details className={classes.refusedOthers}>
          <summary>{refused.others(localization.formats.number(others.length))}</summary>
          <ul className={classes.refusedList}>
            {others.map((refusal) => (
              <li key={`${refusal.reason} ${refusal.keyId}`}>
                <Refusal refusal={refusal} />
              </li>
            ))}
          </ul>
        </details>
      )}
      <CloseButton
        size="sm"
        className={classes.refusedClose}
        aria-label={refused.close}
        title={refused.close}
        onClick={() => setSeenUntil(latest.lastAt)}
      />
    </section>
  );
}

function Refusal({ refusal }: { refusal: RefusalView }) {
  const localization = useLocalization();
  const { fixes } = localization.messages.requests;
  const { mayOpen } = useRights();
  const keyName = useControlState(({ views }) => views?.keys.find(({ id }) => id === refusal.keyId)?.name);
  const fix = fixOfRefusal(refusal);
  const text = describeRefusal(refusal, localization, keyName);
  return (
    <>
      <span title={text}>{text}</span>
      {fix && mayOpen(fix.href) && (
        <>
          {' · '}
          <Link className={classes.refusedFix} href={fix.href}>
            {fixes[fix.kind]}
          </Link>
        </>
      )}
    </>
  );
}
