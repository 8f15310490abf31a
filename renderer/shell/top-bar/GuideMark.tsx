import { Link, useLocation } from 'wouter';
import { useLocalization } from '../../messages/use-messages.ts';
import { doneSteps, stepCount } from '../../state/first-run/progress.ts';
import { useFirstRun } from '../../state/first-run/use-first-run.ts';
import classes from './GuideMark.module.css';

/** How far the first steps have come, wherever they are not shown, and the way back to them. */
export function GuideMark() {
  const { messages, formats } = useLocalization();
  const { firstRun: names } = messages;
  const { isShown, progress } = useFirstRun();
  const [path] = useLocation();
  if (!isShown || path === '/') return null;
  const [done, all] = [doneSteps(progress), stepCount].map((count) => formats.number(count)) as [string, string];
  return (
    <Link className={classes.mark} href="/" aria-label={names.progressTitle(done, all)}>
      {names.progress(done, all)}
    </Link>
  );
}
