import { IconChevronRight, IconKeyOff } from '@tabler/icons-react';
import { Link } from 'wouter';
import { useLocalization } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import { describeRefusal } from './describe-refusal.ts';
import { mendOfRefusal } from './mend.ts';
import classes from './Requests.module.css';

/** The requests without a valid key, which are in no list: a program with a wrong one is found by it. Mostly not there. */
export function RefusedNotice() {
  const localization = useLocalization();
  const { refused, mends } = localization.messages.requests;
  const refusals = useControlState((state) => state.views?.refusals ?? null);
  if (!refusals || refusals.length === 0) return null;
  return (
    <ul className={classes.refusals} aria-label={refused.title}>
      {refusals.map((refusal) => {
        const mend = mendOfRefusal(refusal.reason);
        return (
          <li key={refusal.reason}>
            <IconKeyOff className={classes.refusedIcon} size={18} aria-hidden />
            <span className={classes.refusedText}>{describeRefusal(refusal, localization)}</span>
            {mend && (
              <Link className={classes.refusedMend} href={mend.href}>
                {mends[mend.kind]}
                <IconChevronRight size={16} aria-hidden />
              </Link>
            )}
          </li>
        );
      })}
    </ul>
  );
}
