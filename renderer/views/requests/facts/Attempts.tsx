import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { CapturedAttempt } from '../../../../server/contract/capture.ts';
import { type AttemptRecord, costOf } from '../../../../server/contract/ledger.ts';
import type { CapturedBody } from '../../../../server/contract/request-views.ts';
import { CopyLine } from '../../../components/copying/CopyButton.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { apiOfUrl } from '../../../state/chat/read-sent.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useCredentialName, useProviderName } from '../../../state/providers/providers.ts';
import { failureWordsOf } from '../../../state/requests/failures.ts';
import { useRights } from '../../../state/rights/use-rights.ts';
import { MessageTab } from '../body/BodyTabs.tsx';
import panel from '../detail/RequestPanel.module.css';
import classes from './Attempts.module.css';
import { usageAmounts } from './usage-amounts.ts';

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
  const { provider, model, status, failure, totalMs } = attempt;
  const credential = useChosenCredential(provider, attempt.credential);
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
        <p className={classes.soft}>{messages.labelled(messages.requests.factNames.credential, credential)}</p>
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

/** The attempt's share of the request's usage and cost, in one line. */
function AttemptUsage({ attempt }: { attempt: AttemptRecord }) {
  const { usage, usageCertainty } = attempt;
  const { messages, formats } = useLocalization();
  const { usageNames, certaintyMarks, usedNothing } = messages.requests;
  const known = costOf(attempt, usage !== null);
  if (known === 'nothing') return <p className={panel.used}>{usedNothing}</p>;
  const amounts = usageAmounts(usage, usageNames).map(({ name, amount }) => `${name} ${formats.number(amount)}`);
  const cost = known === 'unknown' ? `${messages.requests.cost} ${messages.unknownCost}` : formats.cost(known);
  return (
    <p className={panel.used}>
      {[...amounts, cost].join(' · ')}
      {usageCertainty !== 'reported' && usageCertainty !== 'none' && (
        <span className={panel.mark}>{certaintyMarks[usageCertainty]}</span>
      )}
    </p>
  );
}

/** Why an attempt failed; a quotation only if the provider said it. The status is shown beside it. */
export function FailureWords({ error, className }: { error: string; className: string | undefined }) {
  const { inspector } = useMessages();
  const { by, words } = failureWordsOf(error);
  if (words === '') return null;
  if (by === 'provider') return <blockquote className={className}>{words}</blockquote>;
  return <p className={className}>{by === 'connection' ? inspector.connectionError(words) : words}</p>;
}

/** What the credential is called, if its provider has others; otherwise null. */
export function useChosenCredential(provider: string | null, credential: string | null): string | null {
  const credentialName = useCredentialName();
  const hasOthers = useControlState(({ views }) =>
    views?.providers.some(({ id, credentials }) => id === provider && credentials.length > 1),
  );
  return hasOthers && provider !== null && credential !== null ? credentialName(provider, credential) : null;
}

/**
 * The name of a provider, as a link if it has a page that the person may open. The demo and removed providers have
 * none.
 */
export function ProviderLink({ id }: { id: string }) {
  const name = useProviderName()(id);
  const hasPage = useControlState(({ views }) => views?.providers.some((each) => each.id === id && !each.isDemo));
  const href = `/providers/${id}`;
  return useRights().mayOpen(href) && hasPage ? <Link href={href}>{name}</Link> : name;
}
