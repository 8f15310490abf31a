import { IconMessages, IconWaveSine } from '@tabler/icons-react';
import { memo } from 'react';
import { Link } from 'wouter';
import type { RequestOutcome } from '../../../../server/contract/ledger.ts';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useNameOf } from '../../../state/control/use-found.ts';
import type { LiveRequest } from '../../../state/requests/live-request.ts';
import { outputRateOf } from '../../../state/requests/output-rate.ts';
import { useNow } from '../../../state/window/use-now.ts';
import { AttemptDots } from './AttemptDots.tsx';
import classes from './RequestTable.module.css';
import { unknown, usageInRow } from './usage-in-row.ts';

const meanings: Partial<Record<RequestOutcome, string | undefined>> = {
  ok: classes.good,
  error: classes.bad,
  'stream-broken': classes.bad,
  interrupted: classes.warning,
};

interface RequestRowProps {
  request: LiveRequest;
  providerName: string | null;
  /** Vertical position in the list, in pixels. */
  top: number;
  /** `aria-rowindex` in the table. The header row is 1. */
  position: number;
  /** Address of the request's details. */
  href: string;
  /** Whether the request's details are open. */
  isOpen: boolean;
  isTabStop: boolean;
}

/**
 * One request. The method and version that nearly all requests share are only in its tooltip. Re-renders only when it
 * changes or moves, and each second while it runs.
 */
export const RequestRow = memo(function RequestRow(props: RequestRowProps) {
  const { request, providerName, top, position, href, isOpen, isTabStop } = props;
  const keyName = useNameOf('key', request.keyId);
  const localization = useLocalization();
  const { formats } = localization;
  const time = useNow((now) => formats.moment(request.startedAt, now));
  const model = request.modelAsked ?? request.modelServed;
  const usage = usageInRow(request, localization);
  const rate = outputRateOf(request);
  const { method } = request;
  const methodAndRoute = `${method} ${request.route}`;
  const path = request.route.replace(/^\/v1\//, '/');
  const { tokensPerSecond } = localization.messages.requests;
  const servedBy = request.cassette === 'replayed' ? localization.messages.cassettes.name : providerName;
  return (
    <tr
      className={isOpen ? `${classes.row} ${classes.open}` : classes.row}
      style={{ transform: `translateY(${top}px)` }}
      aria-rowindex={position}
    >
      <td className={classes.status}>
        <Outcome request={request} />
        <AttemptDots attempts={request.attempts} />
      </td>
      <td className={`${classes.time} ${classes.soft}`} title={formats.fullMoment(request.startedAt)}>
        {time}
      </td>
      <td className={`${classes.request} ${classes.mono}`}>
        <Link
          className={classes.link}
          href={href}
          title={methodAndRoute}
          // Contains what is shown.
          aria-label={method === 'POST' ? methodAndRoute : `${method} ${path}`}
          data-request={request.id}
          tabIndex={isTabStop ? 0 : -1}
          {...(isOpen && { 'aria-current': true })}
        >
          {method !== 'POST' && <span className={classes.soft}>{method} </span>}
          {path}
        </Link>
        {request.stream && <StreamMark />}
        {request.session && <SessionMark id={request.session.id} />}
        {request.shadowOf && <span className={classes.soft}> {localization.messages.requests.shadows.mark}</span>}
      </td>
      <td className={`${classes.model} ${classes.mono}`} title={model ?? undefined}>
        {model ?? unknown}
      </td>
      <td className={classes.provider} title={servedBy ?? undefined}>
        {servedBy ?? unknown}
      </td>
      <td className={classes.key} title={keyName ?? undefined}>
        {keyName ?? unknown}
      </td>
      <td className={classes.firstByte}>
        {request.firstByteMs === null ? unknown : formats.duration(request.firstByteMs)}
      </td>
      <td className={classes.duration}>
        <Duration request={request} />
      </td>
      <td className={classes.rate} title={rate === null ? undefined : tokensPerSecond(formats.number(rate))}>
        {rate === null ? unknown : formats.number(Math.round(rate))}
      </td>
      <td className={classes.tokens} title={usage.tokensInFull}>
        {usage.tokens}
      </td>
      <td className={classes.cost} title={usage.certainty}>
        {usage.cost}
      </td>
    </tr>
  );
});

function StreamMark() {
  const { streamed } = useLocalization().messages.requests;
  return <IconWaveSine className={classes.stream} size={13} role="img" aria-label={streamed} />;
}

/** Links to the session of the request; the rest of the row links to the request. */
function SessionMark({ id }: { id: string }) {
  const { one } = useLocalization().messages.sessions;
  return (
    <Link className={classes.session} href={`/sessions/${id}`} aria-label={one} title={one} tabIndex={-1}>
      <IconMessages size={13} aria-hidden />
    </Link>
  );
}

export function Outcome({ request }: { request: Pick<LiveRequest, 'outcome' | 'status' | 'errorCode' | 'fault'> }) {
  const { requests: names, faults } = useLocalization().messages;
  const { outcome, status, errorCode, fault } = request;
  const text = fault === null ? names.outcomes[outcome ?? 'running'] : faults.mark(fault);
  const meaning = (outcome && meanings[outcome]) ?? classes.soft;
  return (
    <span className={meaning} title={errorCode ?? text}>
      {status !== null && `${status} `}
      {text}
    </span>
  );
}

function Duration({ request: { startedAt, outcome, totalMs } }: { request: LiveRequest }) {
  const { formats } = useLocalization();
  // Whole seconds while running, because tenths would only flicker.
  const text = useNow((now) => formats.duration(totalMs ?? Math.max(1, Math.round((now - startedAt) / 1_000)) * 1_000));
  // How long an interrupted request took is unknown.
  if (totalMs === null && outcome !== null) return unknown;
  return totalMs === null ? <span className={classes.soft}>{text}</span> : text;
}
