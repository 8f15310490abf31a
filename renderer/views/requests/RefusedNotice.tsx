import { IconKeyOff } from '@tabler/icons-react';
import { useId } from 'react';
import { Link } from 'wouter';
import { useLocalization } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { describeRefusal } from '../../state/requests/describe-refusal.ts';
import { fixOfRefusal } from '../../state/requests/failure-fix.ts';
import { useRights } from '../../state/rights/use-rights.ts';
import classes from './Requests.module.css';

/**
 * Requests without a valid key, which appear in no list. Helps to find a program with a wrong key. Usually renders
 * nothing.
 */
export function RefusedNotice() {
  const localization = useLocalization();
  const { refused, fixes } = localization.messages.requests;
  const refusals = useControlState((state) => state.views?.refusals ?? null);
  const { mayOpen } = useRights();
  const titleId = useId();
  if (!refusals || refusals.length === 0) return null;
  return (
    <section className={classes.refused} aria-labelledby={titleId}>
      <IconKeyOff className={classes.refusedIcon} size={20} aria-hidden />
      <div>
        <h2 className={classes.refusedTitle} id={titleId}>
          {refused.title}
        </h2>
        <ul className={classes.refusedList}>
          {refusals.map((refusal) => {
            const fix = fixOfRefusal(refusal.reason);
            return (
              <li key={refusal.reason}>
                {describeRefusal(refusal, localization)}
                {fix && mayOpen(fix.href) && (
                  <>
                    {' · '}
                    <Link className={classes.refusedFix} href={fix.href}>
                      {fixes[fix.kind]}
                    </Link>
                  </>
                )}
              </li>
            );
          })}
        </ul>
      </div>
    </section>
  );
}
