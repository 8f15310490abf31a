import { Button } from '@mantine/core';
import { useCallback, useMemo, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { nameOfClient } from '../../../server/contract/known-clients.ts';
import { costOfSum } from '../../../server/contract/ledger.ts';
import { ranges } from '../../../server/contract/request-filter.ts';
import { type RequestText, type SessionView, titleOf } from '../../../server/contract/session-views.ts';
import { CopyLine } from '../../components/copying/CopyButton.tsx';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { EmptyNote } from '../../components/feedback/EmptyNote.tsx';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import { Screen } from '../../components/layout/Screen.tsx';
import { Panel } from '../../components/layout/Section.tsx';
import filterBar from '../../components/selects/FilterBar.module.css';
import { FilterFold } from '../../components/selects/FilterFold.tsx';
import { type FilterOptions, FilterSelect } from '../../components/selects/FindSelect.tsx';
import { RelativeTime } from '../../components/text/RelativeTime.tsx';
import { VerdictCounts } from '../../components/usage/VerdictCounts.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useControlState, useControlStore } from '../../state/control/use-control.ts';
import { useNameOf } from '../../state/control/use-found.ts';
import { useLiveQuery, useQuery } from '../../state/control/use-query.ts';
import { useRequestTexts } from '../../state/control/use-request-texts.ts';
import { clientOptions } from '../../state/requests/request-filter.ts';
import { useRights } from '../../state/rights/use-rights.ts';
import { SessionDetail } from './SessionDetail.tsx';
import classes from './Sessions.module.css';
import {
  folderName,
  type ShownSessions,
  sessionFilterOf,
  sessionQueryOf,
  sessionSearchOf,
  sessionStates,
} from './session-facts.ts';

/** The list of sessions, or the session in the address. */
export function Sessions() {
  const [path] = useLocation();
  const [, , id] = path.split('/');
  return id ? <SessionDetail key={id} id={decodeURIComponent(id)} /> : <SessionList />;
}

const pageSize = 50;
/** The engine's maximum per query. */
const maxShown = 200;

/** The latest sessions, updated live. */
function SessionList() {
  const { sessions: names } = useMessages();
  const store = useControlStore();
  const [limit, setLimit] = useState(pageSize);
  const [, navigate] = useLocation();
  const search = useSearch();
  const filter = useMemo(() => sessionFilterOf(new URLSearchParams(search)), [search]);
  const isFiltered = sessionSearchOf(filter) !== '';
  const load = useCallback(
    () => store.query<'sessions'>({ type: 'sessions', limit, filter: sessionQueryOf(filter, Date.now()) }),
    [store, limit, filter],
  );
  const { answer, problem } = useLiveQuery(load, true);
  const sessions = answer?.sessions ?? null;
  const texts = useRequestTexts(
    store.query,
    (sessions ?? []).flatMap(({ openingId }) => openingId ?? []),
  );
  return (
    <Screen name="sessions" lead={names.lead}>
      {(isFiltered || sessions?.length !== 0) && (
        <SessionFilters filter={filter} onChange={(changed) => navigate(`/sessions${sessionSearchOf(changed)}`)} />
      )}
      {problem && <CommandProblem problem={problem} />}
      {!sessions && !problem && <ListSkeleton rows={4} rowHeight={60} />}
      {sessions?.length === 0 && isFiltered && <EmptyNote title={names.noneFound} next={names.noneFoundNext} />}
      {sessions?.length === 0 && !isFiltered && (
        <EmptyNote title={names.emptyTitle} next={names.emptyNext}>
          <Origins />
        </EmptyNote>
      )}
      {sessions && sessions.length > 0 && (
        <Panel name="sessions">
          <ul className={classes.list}>
            {sessions.map((session) => (
              <Row key={session.id} session={session} opening={texts.get(session.openingId ?? '')} />
            ))}
          </ul>
        </Panel>
      )}
      {answer && answer.next !== null && limit < maxShown && (
        <Button size="xs" variant="default" className={classes.more} onClick={() => setLimit(maxShown)}>
          {names.showMore}
        </Button>
      )}
      {sessions && sessions.length > 0 && (
        <details className={classes.origins}>
          <summary>{names.missing}</summary>
          <Origins />
        </details>
      )}
    </Screen>
  );
}

/** How requests become sessions, for those whose program does not send one. */
function Origins() {
  const { sessions: names } = useMessages();
  const { isAdmin } = useRights();
  const sessions = useControlState(({ views }) => views?.status.settings.sessions ?? 'named');
  return (
    <ul className={classes.originList}>
      {sessions !== 'off' && <li>{names.origins.named}</li>}
      {sessions !== 'off' && (
        <li>
          {names.origins.header}
          <CopyLine value="x-sluice-session: my-run-1" label={names.origins.headerName} oneLine />
        </li>
      )}
      <li>
        {names.origins.bySetting[sessions]}
        {isAdmin && sessions !== 'all' && (
          <>
            {' '}
            <Link href="/settings?section=records">{names.origins.change}</Link>
          </>
        )}
      </li>
    </ul>
  );
}

function Row({ session, opening }: { session: SessionView; opening: RequestText | undefined }) {
  const { messages, formats } = useLocalization();
  const names = messages.sessions;
  const { id, keyId, client, lastAt, running, stoppedAt, isOverBudget, turns, requests, isComplete, models } = session;
  const keyName = useNameOf('key', keyId);
  const count = formats.number(requests);
  return (
    <li className={classes.row}>
      <div className={classes.head}>
        <Link href={`/sessions/${id}`} className={classes.name}>
          {titleOf(session, opening) ?? names.unknownClient}
        </Link>
        {running > 0 && <span className={classes.running}>{names.running}</span>}
        {stoppedAt !== null && <span className={classes.bad}>{names.stopped}</span>}
        {stoppedAt === null && isOverBudget && <span className={classes.bad}>{names.overBudget}</span>}
        <span className={classes.soft}>
          <RelativeTime moment={lastAt} />
        </span>
      </div>
      <span className={classes.cost}>{formats.cost(costOfSum(session))}</span>
      <div className={classes.detail}>
        {(session.name ?? opening?.opening) != null && (
          <span>{client ? nameOfClient(client) : names.unknownClient}</span>
        )}
        {opening && <Place text={opening} />}
        {keyName && <span>{keyName}</span>}
        <span>{names.turns(formats.number(turns))}</span>
        <span>{isComplete ? names.requests(count) : names.moreRequests(count)}</span>
        <span>{names.tokens(formats.compact(session.inputTokens), formats.compact(session.outputTokens))}</span>
        {session.failed + session.refused > 0 && (
          <span>
            <VerdictCounts counts={session} />
          </span>
        )}
        <span className={classes.models}>{models.join(', ')}</span>
      </div>
    </li>
  );
}

/** The folder and the branch that its client says it works on. */
function Place({ text: { folder, branch } }: { text: RequestText }) {
  if (folder === null) return null;
  return (
    <span className={classes.place} title={folder}>
      {folderName(folder)}
      {branch !== null && ` (${branch})`}
    </span>
  );
}

interface SessionFiltersProps {
  filter: ShownSessions;
  onChange(filter: ShownSessions): void;
}

interface Choice {
  name: keyof ShownSessions;
  label: string;
  any: string;
  options: FilterOptions;
}

/** Filters of the list, combined with AND. */
function SessionFilters({ filter, onChange }: SessionFiltersProps) {
  const { requests: names } = useMessages();
  const choose = (name: keyof ShownSessions, value: string) => {
    const address = new URLSearchParams(sessionSearchOf(filter));
    if (value === '') address.delete(name);
    else address.set(name, value);
    onChange(sessionFilterOf(address));
  };
  const menus = useChoices().map(({ name, label, any, options }) => (
    <FilterSelect
      key={name}
      label={label}
      any={any}
      options={options}
      value={filter[name] ?? ''}
      onChange={(value) => choose(name, value)}
    />
  ));
  return (
    <search className={filterBar.filters}>
      <FilterFold count={new URLSearchParams(sessionSearchOf(filter)).size} usual={menus}>
        {sessionSearchOf(filter) !== '' && (
          <Button size="xs" variant="subtle" onClick={() => onChange({})}>
            {names.clearFilters}
          </Button>
        )}
      </FilterFold>
    </search>
  );
}

function useChoices(): Choice[] {
  const { requests: names, sessions } = useMessages();
  const isThere = useControlState((state) => state.views !== null);
  const { answer: clients } = useQuery<'request-names'>(isThere ? { type: 'request-names', of: 'client' } : null);
  const { filters, anyOf } = names;
  return [
    {
      name: 'range',
      label: filters.range,
      any: anyOf.range,
      options: ranges.map((value) => ({ value, label: names.ranges[value] })),
    },
    {
      name: 'state',
      label: sessions.state,
      any: sessions.anyState,
      options: sessionStates.map((value) => ({ value, label: sessions.states[value] })),
    },
    { name: 'key', label: filters.keyId, any: anyOf.keyId, options: 'key' },
    { name: 'group', label: filters.groupId, any: anyOf.groupId, options: 'group' },
    {
      name: 'client',
      label: filters.client,
      any: anyOf.client,
      options: clientOptions(clients ?? []),
    },
  ];
}
