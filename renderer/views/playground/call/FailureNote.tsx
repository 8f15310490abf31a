import { Button } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { Link } from 'wouter';
import { useMessages } from '../../../messages/use-messages.ts';
import { type Failure, isTemporary } from '../../../state/calls/exchange.ts';
import classes from '../Playground.module.css';

interface FailureNoteProps {
  failure: Failure | null;
  /** The request behind it; null if Sluice never had one. */
  requestId?: string | null;
  onRetry?: (() => void) | undefined;
  onChooseModel?: (() => void) | undefined;
}

/** Why there is no answer, or only a partial one, and the way on. */
export function FailureNote({ failure, requestId = null, onRetry, onChooseModel }: FailureNoteProps) {
  const { playground: names } = useMessages();
  if (!failure) return null;
  if (failure.kind === 'stopped') return <p className={classes.soft}>{names.stopped}</p>;
  const hint = failure.kind === 'refused' ? hintFor(failure.status) : null;
  const mayRetry = failure.kind === 'told' || isTemporary(failure);
  return (
    <div className={classes.failure} role="alert">
      <IconAlertTriangle className={classes.failureIcon} size={16} aria-hidden />
      <div>
        <p className={classes.words}>{describeFailure(failure, names)}</p>
        {hint && <p className={classes.hint}>{names.failureHints[hint]}</p>}
        <div className={classes.wayOn}>
          {onRetry && mayRetry && (
            <Button size="compact-xs" variant="default" onClick={onRetry}>
              {names.tryAgain}
            </Button>
          )}
          {onChooseModel && hint === 'model' && (
            <Button size="compact-xs" variant="default" onClick={onChooseModel}>
              {names.chooseModel}
            </Button>
          )}
          {failure.kind === 'keyless' && <Link href="/keys">{names.toKeys}</Link>}
          {requestId && <Link href={`/requests/${requestId}`}>{names.whatHappened}</Link>}
        </div>
      </div>
    </div>
  );
}

type Names = ReturnType<typeof useMessages>['playground'];

/** What to do about an error of the gateway or a provider; null if nothing general can be said. */
function hintFor(status: number): keyof Names['failureHints'] | null {
  if (status === 404) return 'model';
  if (status === 401 || status === 403) return 'access';
  return status === 402 || status === 429 ? 'limit' : null;
}

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
