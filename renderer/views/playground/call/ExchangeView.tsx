import { Button } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { originOf } from '../../../../server/contract/address.ts';
import { contentOf } from '../../../../server/contract/conversation/body-content.ts';
import { costOf } from '../../../../server/contract/ledger.ts';
import type { ProviderView } from '../../../../server/contract/provider-views.ts';
import { BodyView } from '../../../components/body/BodyView.tsx';
import { CopyButton } from '../../../components/copying/CopyButton.tsx';
import { ProviderLinks } from '../../../components/feedback/Condition.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { type Exchange, type Failure, isTemporary } from '../../../state/calls/exchange.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import type { LiveRequest } from '../../../state/requests/live-request.ts';
import classes from '../Playground.module.css';
import { codeLanguages, codeOf } from './request-code.ts';

type ExchangePart = 'request' | 'reply';

export function isExchangePart(view: string): view is ExchangePart {
  return view === 'request' || view === 'reply';
}

/** What was sent, without the key, or received, as the inspector of requests shows it. */
export function ExchangeView({ exchange, part }: { exchange: Exchange | null; part: ExchangePart }) {
  const { messages, formats } = useLocalization();
  const names = messages.playground;
  if (!exchange) return <p className={classes.empty}>{names.rawEmpty}</p>;
  const facts = [
    exchange.status === null ? names.waiting : String(exchange.status),
    exchange.headersMs !== null && names.firstByte(formats.duration(exchange.headersMs)),
    exchange.totalMs !== null && names.total(formats.duration(exchange.totalMs)),
  ];
  return (
    <>
      <p className={classes.line}>
        {part === 'request' ? (
          <code>
            {exchange.method} {exchange.path}
          </code>
        ) : (
          facts.filter(Boolean).join(' · ')
        )}
        {exchange.requestId && (
          <Link href={`/requests/${exchange.requestId}`} title={names.toRequest}>
            {exchange.requestId}
          </Link>
        )}
      </p>
      {part === 'request' ? <CodeCopies exchange={exchange} /> : <AnswerFacts requestId={exchange.requestId} />}
      {part === 'request' ? (
        <Body text={exchange.requestText} what={names.rawRequest} isWhole />
      ) : (
        <Body text={exchange.replyText} what={names.rawReply} isWhole={!exchange.isRunning} />
      )}
    </>
  );
}

interface BodyProps {
  text: string;
  what: string;
  /** Until then the text is shown as it arrives. */
  isWhole: boolean;
}

function Body({ text, what, isWhole }: BodyProps) {
  const content = useMemo(
    () => (isWhole ? contentOf({ headers: null, body: { encoding: 'utf8', data: text } }) : null),
    [text, isWhole],
  );
  if (content) return <BodyView content={content} title={what} bytes={null} />;
  return text === '' ? null : <pre className={classes.arriving}>{text}</pre>;
}

/** The same request as a shell command or program. */
function CodeCopies({ exchange }: { exchange: Exchange }) {
  const { playground: names } = useMessages();
  const origin = useControlState(({ views }) => (views ? originOf(views.status) : location.origin));
  const codes = codeLanguages.map((language) => ({ language, code: codeOf(exchange, origin, language) }));
  if (codes.some(({ code }) => code === null)) return null;
  return (
    <div className={classes.codes}>
      <span>{names.copyAs}</span>
      {codes.map(({ language, code }) => (
        <span key={language} className={classes.code}>
          {names.codes[language]}
          <CopyButton value={code ?? ''} label={names.codes[language]} />
        </span>
      ))}
    </div>
  );
}

/** Shown below an answer: its usage, cost and speed, as recorded by Sluice. */
export function AnswerFacts({ requestId }: { requestId: string | null }) {
  const { messages, formats } = useLocalization();
  const { answer: names, toRequest } = messages.playground;
  const { costUnknown } = messages.limits;
  const providerName = useProviderName();
  const request = useControlState(({ requests }) => requests.find(({ id }) => id === requestId) ?? null);
  if (!request || request.outcome === null) return null;
  const { usage, firstByteMs, totalMs, provider } = request;
  const cost = costOf(request, usage !== null);
  const speed = tokensPerSecond(request);
  const facts = [
    usage?.inputTokens !== undefined && names.tokensIn(formats.number(usage.inputTokens)),
    usage?.outputTokens !== undefined && names.tokensOut(formats.number(usage.outputTokens)),
    cost !== 'nothing' && (cost === 'unknown' ? costUnknown : formats.cost(cost)),
    firstByteMs !== null && names.firstByte(formats.duration(firstByteMs)),
    speed !== null && names.speed(formats.number(Math.round(speed))),
    totalMs !== null && names.total(formats.duration(totalMs)),
    provider !== null && providerName(provider),
  ];
  return (
    <p className={classes.answerFacts}>
      {facts.filter(Boolean).join(' · ')}{' '}
      <Link href={`/requests/${request.id}`} title={toRequest}>
        {names.details}
      </Link>
    </p>
  );
}

/** Measured from the first byte; null if the time was too short to measure. */
function tokensPerSecond({ usage, firstByteMs, totalMs }: LiveRequest): number | null {
  const streamMs = (totalMs ?? 0) - (firstByteMs ?? 0);
  if (firstByteMs === null || streamMs < 20 || !usage?.outputTokens) return null;
  return usage.outputTokens / (streamMs / 1_000);
}

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
  const providers = useControlState((state) => state.views?.providers ?? null) ?? [];
  if (!failure) return null;
  if (failure.kind === 'stopped') return <p className={classes.soft}>{names.stopped}</p>;
  const hint = failure.kind === 'refused' ? hintFor(failure.status) : null;
  const mayRetry = failure.kind === 'told' || isTemporary(failure);
  return (
    <div className={classes.failure} role="alert">
      <IconAlertTriangle className={classes.failureIcon} size={16} aria-hidden />
      <div>
        <p className={classes.words}>{describeFailure(failure, names)}</p>
        {failure.kind === 'refused' && failure.whole !== null && (
          <details className={classes.whole}>
            <summary>{names.showResponse}</summary>
            <pre className={classes.arriving}>{failure.whole}</pre>
          </details>
        )}
        {hint && <p className={classes.hint}>{names.failureHints[hint]}</p>}
        {failure.kind === 'refused' && <ProviderLinks ids={providersIn(failure.message, providers)} />}
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

/** The ids of those that an error of Sluice names. */
function providersIn(message: string, providers: readonly Pick<ProviderView, 'id'>[]): string[] {
  return providers.map(({ id }) => id).filter((id) => message.includes(`provider "${id}"`));
}

/** What to do about an error of the gateway or a provider; null if nothing general can be said. */
function hintFor(status: number): keyof Names['failureHints'] | null {
  if (status === 404) return 'model';
  if (status === 401 || status === 403) return 'access';
  return status === 402 || status === 429 ? 'limit' : null;
}

function describeFailure(failure: Failure, names: Names): string {
  switch (failure.kind) {
    case 'refused': {
      const { status, message } = failure;
      // The titles of proxies' pages begin with it.
      return message.startsWith(String(status)) ? message : names.refused(String(status), message || names.noWords);
    }
    case 'told':
      return names.broke(failure.message || names.noWords);
    default:
      return names[failure.kind];
  }
}
