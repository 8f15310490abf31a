import { IconMessages, IconPinFilled, IconWaveSine } from '@tabler/icons-react';
import { type FunctionComponent, memo } from 'react';
import { Link } from 'wouter';
import { meaningOf, verdictOf } from '../../../../server/contract/count.ts';
import { nameOfClient } from '../../../../server/contract/known-clients.ts';
import type { AttemptRecord } from '../../../../server/contract/ledger.ts';
import type { FilterCondition } from '../../../../server/contract/request-filter.ts';
import { withIndexKeys } from '../../../components/lists/with-index-keys.ts';
import { nothing } from '../../../messages/formats.ts';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useNameOf } from '../../../state/control/use-found.ts';
import { type LiveRequest, outputRateOf } from '../../../state/requests/live-request.ts';
import { useNow } from '../../../state/window/use-now.ts';
import { togglePick } from '../diff/picked.ts';
import { usageInRow } from '../facts/usage-amounts.ts';
import type { ColumnName } from './columns.ts';
import classes from './RequestTable.module.css';

interface RequestRowProps {
  request: LiveRequest;
  columns: readonly ColumnName[];
  providerName: string | null;
  /** How it begins, if that is kept; else empty. */
  firstWords: string;
  /** Vertical position in the list, in pixels. */
  top: number;
  /** `aria-rowindex` in the table. The header row is 1. */
  position: number;
  /** Address of the request's details. */
  href: string;
  /** Address of the list with one more condition; null where rows are touched, and lead to their request alone. */
  hrefWith: ((condition: FilterCondition) => string) | null;
  /** Whether the request's details are open. */
  isOpen: boolean;
  isTabStop: boolean;
  /** Whether it is selected to be compared. */
  isPicked: boolean;
  /** Whether it is kept beyond the retention of the log. */
  isPinned: boolean;
}

/** One request. Re-renders only when it changes or moves, and each second while it runs. */
export const RequestRow = memo(function RequestRow(props: RequestRowProps) {
  const { request, columns, providerName, hrefWith, top, position, isOpen, isPicked } = props;
  return (
    <tr
      className={`${classes.row} ${isOpen ? classes.open : ''} ${isPicked ? classes.picked : ''}`}
      style={{ transform: `translateY(${top}px)` }}
      aria-rowindex={position}
    >
      {columns.map((name) => {
        if (name === 'request') return <RequestCell key={name} {...props} />;
        const Cell = cells[name];
        return <Cell key={name} request={request} providerName={providerName} hrefWith={hrefWith} />;
      })}
    </tr>
  );
});

type CellProps = Pick<RequestRowProps, 'request' | 'providerName' | 'hrefWith'>;

const cells: Record<Exclude<ColumnName, 'request'>, FunctionComponent<CellProps>> = {
  status: ({ request }) => (
    <td className={classes.status}>
      <Outcome request={request} />
      <AttemptDots attempts={request.attempts} />
    </td>
  ),
  time: TimeCell,
  model: ({ request: { modelAsked, modelServed }, hrefWith }) => {
    const name = modelAsked ?? modelServed;
    return <NameCell field="model" name={name} hrefWith={hrefWith} className={`${classes.model} ${classes.mono}`} />;
  },
  provider: ProviderCell,
  key: ({ request: { keyId }, hrefWith }) => (
    <NameCell field="key" value={keyId} name={useNameOf('key', keyId)} hrefWith={hrefWith} />
  ),
  group: ({ request: { groupId }, hrefWith }) => (
    <NameCell field="group" value={groupId} name={useNameOf('group', groupId)} hrefWith={hrefWith} />
  ),
  client: ({ request: { client }, hrefWith }) => (
    <NameCell field="client" name={client && nameOfClient(client)} hrefWith={hrefWith} />
  ),
  firstByte: ({ request: { firstByteMs } }) => {
    const { formats } = useLocalization();
    return <td className={classes.firstByte}>{firstByteMs === null ? nothing : formats.duration(firstByteMs)}</td>;
  },
  duration: ({ request }) => (
    <td className={classes.duration}>
      <Duration request={request} />
    </td>
  ),
  rate: RateCell,
  tokens: ({ request }) => {
    const { tokens, tokensInFull } = usageInRow(request, useLocalization());
    return (
      <td className={classes.tokens} title={tokensInFull}>
        {tokens}
      </td>
    );
  },
  cost: ({ request }) => {
    const { cost, certainty } = usageInRow(request, useLocalization());
    return (
      <td className={classes.cost} title={certainty}>
        {cost}
      </td>
    );
  },
};

/** How it begins, or else its path. The method and version that nearly all requests share are only in its tooltip. */
function RequestCell({ request, firstWords, href, isOpen, isTabStop, isPicked, isPinned }: RequestRowProps) {
  const { requests: names } = useLocalization().messages;
  const { method } = request;
  const methodAndRoute = `${method} ${request.route}`;
  const path = request.route.replace(/^\/v1\//, '/');
  const isTold = firstWords !== '';
  return (
    <td className={isTold ? classes.request : `${classes.request} ${classes.mono}`}>
      <label className={classes.pick}>
        <input
          type="checkbox"
          // X selects the row that has the focus.
          tabIndex={-1}
          checked={isPicked}
          aria-label={names.picks.select(methodAndRoute)}
          onChange={() => togglePick(request.id)}
        />
      </label>
      <Link
        className={classes.link}
        href={href}
        title={isTold ? `${firstWords}\n${methodAndRoute}` : methodAndRoute}
        // Contains what is shown.
        aria-label={
          isTold ? `${firstWords} (${methodAndRoute})` : method === 'POST' ? methodAndRoute : `${method} ${path}`
        }
        data-request={request.id}
        tabIndex={isTabStop ? 0 : -1}
        {...(isOpen && { 'aria-current': true })}
      >
        {!isTold && method !== 'POST' && <span className={classes.soft}>{method} </span>}
        {isTold ? firstWords : path}
      </Link>
      {isPinned && <IconPinFilled className={classes.mark} size={13} role="img" aria-label={names.pins.pinned} />}
      {request.stream && <StreamMark />}
      {request.session && <SessionMark id={request.session.id} />}
      {request.shadowOf && <span className={classes.soft}> {names.shadows.mark}</span>}
    </td>
  );
}

function TimeCell({ request: { startedAt } }: CellProps) {
  const { formats } = useLocalization();
  const time = useNow((now) => formats.moment(startedAt, now));
  return (
    <td className={`${classes.time} ${classes.soft}`} title={formats.fullMoment(startedAt)}>
      {time}
    </td>
  );
}

function ProviderCell({ request: { provider, cassette }, providerName, hrefWith }: CellProps) {
  const { cassettes } = useLocalization().messages;
  if (cassette === 'replayed') return <td>{cassettes.name}</td>;
  return <NameCell field="provider" value={provider} name={providerName} hrefWith={hrefWith} />;
}

function RateCell({ request }: CellProps) {
  const { messages, formats } = useLocalization();
  const rate = outputRateOf(request);
  if (rate === null) return <td className={classes.rate}>{nothing}</td>;
  return (
    <td className={classes.rate} title={messages.requests.tokensPerSecond(formats.number(rate))}>
      {formats.number(Math.round(rate))}
    </td>
  );
}

interface NameCellProps extends Pick<RequestRowProps, 'hrefWith'> {
  field: 'model' | 'provider' | 'key' | 'group' | 'client';
  name: string | null;
  /** What a filter calls it; absent: its name. */
  value?: string | null;
  className?: string;
}

/** A click on the name filters the list by it; the rest of the row leads to the request. */
function NameCell({ field, name, value = name, hrefWith, className }: NameCellProps) {
  const { requests: names } = useLocalization().messages;
  if (!name || !value || !hrefWith) {
    return (
      <td className={className} title={name || undefined}>
        {name || nothing}
      </td>
    );
  }
  const label = names.filters[field === 'key' ? 'keyId' : field === 'group' ? 'groupId' : field];
  const only = names.onlyCondition(`${label}: ${name}`);
  return (
    <td className={className}>
      <Link
        className={classes.filterLink}
        href={hrefWith({ field, value })}
        aria-label={only}
        title={only}
        // The menu of the row has it for the keyboard.
        tabIndex={-1}
      >
        {name}
      </Link>
    </td>
  );
}

function StreamMark() {
  const { streamed } = useLocalization().messages.requests;
  return <IconWaveSine className={classes.mark} size={13} role="img" aria-label={streamed} />;
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

type Ended = Pick<LiveRequest, 'outcome' | 'provider' | 'status' | 'errorCode' | 'fault'>;

/** `404 refused`: the status, and what became of the request. */
export function Outcome({ request }: { request: Ended }) {
  const { verdicts, faults } = useLocalization().messages;
  const { status, errorCode, fault } = request;
  const verdict = verdictOf(request);
  const text = fault === null ? verdicts[verdict] : faults.mark(fault);
  return (
    <span className={classes[meaningOf[verdict]]} title={errorCode ?? text}>
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
  if (totalMs === null && outcome !== null) return nothing;
  return totalMs === null ? <span className={classes.soft}>{text}</span> : text;
}

type AttemptState = 'failed' | 'stopped' | 'answered';

/** More would not fit into a row. */
const mostDots = 6;

/** The outcome of each attempt, if there were several: a rescued request is red, red, green. */
function AttemptDots({ attempts }: { attempts: readonly AttemptRecord[] }) {
  const { messages, formats } = useLocalization();
  const { attemptStates, attemptsInWords } = messages.requests;
  if (attempts.length < 2) return null;
  const states = attempts.map(stateOf);
  const description = states.map((state) => attemptStates[state]).join(', ');
  const words = attemptsInWords(formats.number(states.length), description);
  return (
    <span className={classes.dots} role="img" aria-label={words} title={words}>
      {withIndexKeys(states.slice(-mostDots)).map(({ key, value }) => (
        <span key={key} className={classes[value]} />
      ))}
    </span>
  );
}

function stateOf({ failure, error }: AttemptRecord): AttemptState {
  if (failure !== null && failure !== 'client-gone') return 'failed';
  return error === null && failure === null ? 'answered' : 'stopped';
}
