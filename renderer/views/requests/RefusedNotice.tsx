import { IconKeyOff } from '@tabler/icons-react';
import { useId } from 'react';
import { Link } from 'wouter';
import { useLocalization } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import { useRights } from '../../state/use-rights.ts';
import { describeRefusal } from './describe-refusal.ts';
import { mendOfRefusal } from './mend.ts';
import classes from './Requests.module.css';

/**
 * Requests without a valid key, which appear in no list. Helps to find a program with a wrong key. Usually renders
 * nothing.
 */
export function RefusedNotice() {
  const localization = useLocalization();
  const { refused, mends } = localization.messages.requests;
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
            const mend = mendOfRefusal(refusal.reason);
            return (
              <li key={refusal.reason}>
                {describeRefusal(refusal, localization)}
                {mend && mayOpen(mend.href) && (
                  <>
                    {' · '}
                    <Link className={classes.refusedMend} href={mend.href}>
                      {mends[mend.kind]}
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
