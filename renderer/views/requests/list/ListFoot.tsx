import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import classes from './RequestTable.module.css';
import type { ShownRequests } from './use-requests.ts';

/** Shown below the list while older requests are loading, or if loading them failed. */
export function ListFoot({ isLoading, problem }: Pick<ShownRequests, 'isLoading' | 'problem'>) {
  const { requests: names } = useMessages();
  if (problem) {
    return (
      <div className={classes.foot}>
        <CommandProblem problem={problem} />
      </div>
    );
  }
  return isLoading && <div className={classes.foot}>{names.loadingOlder}</div>;
}
