import { useMessages } from '../../../messages/use-messages.ts';
import type { Failure } from '../../../state/calls/exchange.ts';
import classes from '../Playground.module.css';

/** Why there is no answer, or only a partial one. */
export function FailureNote({ failure }: { failure: Failure | null }) {
  const { playground: names } = useMessages();
  if (!failure) return null;
  if (failure.kind === 'stopped') return <p className={classes.soft}>{names.stopped}</p>;
  return (
    <p className={classes.bad} role="alert">
      {describeFailure(failure, names)}
    </p>
  );
}

type Names = ReturnType<typeof useMessages>['playground'];

function describeFailure(failure: Failure, names: Names): string {
  switch (failure.kind) {
    case 'refused':
      return names.refused(String(failure.status), failure.message);
    case 'told':
      return names.broke(failure.message || names.noWords);
    default:
      return names[failure.kind];
  }
}
