import { type ReactNode, useState } from 'react';
import type { CapturedAttempt } from '../../../../server/contract/capture.ts';
import type { AttemptRecord } from '../../../../server/contract/ledger.ts';
import type { CapturedBody } from '../../../../server/contract/request-views.ts';
import { CopyLine } from '../../../components/copying/CopyButton.tsx';
import { useLocalization } from '../../../messages/use-messages.ts';
import { apiOfUrl } from '../../../state/chat/read-sent.ts';
import { useCredentialName } from '../../../state/providers/providers.ts';
import { MessageTab } from '../body/BodyTabs.tsx';
import classes from './Attempts.module.css';
import { AttemptUsage } from './AttemptUsage.tsx';
import { FailureWords } from './FailureWords.tsx';
import { ProviderLink } from './ProviderLink.tsx';

interface AttemptsProps {
  attempts: readonly AttemptRecord[];
  /** In the same order; empty if nothing was captured. */
  captured: readonly CapturedAttempt<CapturedBody>[];
}

/**
 * The attempts in order: the provider and model of each, what it was sent and answered, and why the next one was made.
 */
export function Attempts({ attempts, captured }: AttemptsProps) {
  const { noAttempts } = useLocalization().messages.requests;
  if (attempts.length === 0) return <p className={classes.soft}>{noAttempts}</p>;
  return (
    <ol className={classes.attempts}>
      {attempts.map((attempt, index) => (
        <Attempt
          key={`${attempt.provider} ${attempt.startedAt} ${attempt.totalMs}`}
          number={index + 1}
          attempt={attempt}
          isOnly={attempts.length === 1}
          captured={captured[index] ?? null}
        />
      ))}
    </ol>
  );
}

interface AttemptProps {
  /** From 1. */
  number: number;
  attempt: AttemptRecord;
  isOnly: boolean;
  captured: CapturedAttempt<CapturedBody> | null;
}

function Attempt({ number, attempt, isOnly, captured }: AttemptProps) {
  const { messages, formats } = useLocalization();
  const { causes, droppedEvents, failures, noAnswer, upstreamId } = messages.requests;
  const credentialName = useCredentialName();
  const { provider, model, credential, status, failure, totalMs } = attempt;
  const api = captured?.request.url ? apiOfUrl(captured.request.url) : null;
  return (
    <li className={`${classes.attempt} ${failure ? classes.failed : classes.fine}`}>
      {attempt.cause !== 'first' && <p className={classes.cause}>{causes[attempt.cause]}</p>}
      <div className={classes.line}>
        <span className={classes.number}>{formats.number(number)}</span>
        <ProviderLink id={provider} />
        {model && <span className={classes.mono}>{model}</span>}
        {api && <span className={classes.soft}>{api}</span>}
        <span className={failure ? classes.bad : classes.good}>
          {status ?? noAnswer}
          {failure && ` · ${failures[failure]}`}
        </span>
        <span className={classes.end}>{totalMs !== null && formats.duration(totalMs)}</span>
      </div>
      {attempt.error && <FailureWords error={attempt.error} className={classes.words} />}
      {credential && (
        <p className={classes.soft}>
          {messages.labelled(messages.requests.factNames.credential, credentialName(provider, credential))}
        </p>
      )}
      {/* If there is only one attempt, its usage is that of the request. */}
      {!isOnly && <AttemptUsage attempt={attempt} />}
      {attempt.droppedEvents > 0 && (
        <p className={classes.soft}>{droppedEvents(attempt.droppedEvents, formats.number(attempt.droppedEvents))}</p>
      )}
      {attempt.upstreamRequestId && (
        <div>
          <p className={classes.soft}>{upstreamId}</p>
          <CopyLine value={attempt.upstreamRequestId} label={upstreamId} oneLine />
        </div>
      )}
      {captured && <Captured captured={captured} />}
    </li>
  );
}

function Captured({ captured: { request, response } }: { captured: CapturedAttempt<CapturedBody> }) {
  const { inspector: names } = useLocalization().messages;
  return (
    <>
      <Unfolded title={names.sent}>
        <MessageTab
          message={request}
          names={{ headers: names.requestHeaders, body: names.requestBody }}
          line={request.url && `${request.method} ${request.url}`}
        />
      </Unfolded>
      <Unfolded title={names.received}>
        <MessageTab
          message={response}
          names={{ headers: names.responseHeaders, body: names.responseBody }}
          line={response.status === null ? null : String(response.status)}
        />
      </Unfolded>
    </>
  );
}

/** The content may be long, so it is rendered only while open. */
function Unfolded({ title, children }: { title: string; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className={classes.captured} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && children}
    </details>
  );
}
