/** What runs and what has just run: sessions of agents, and the latest requests. */

import { meaningOf, verdictOf } from '../../server/contract/count.ts';
import { nameOfClient } from '../../server/contract/known-clients.ts';
import { costOfSum } from '../../server/contract/ledger.ts';
import type { RequestView } from '../../server/contract/request-views.ts';
import { type SessionView, titleOf } from '../../server/contract/session-views.ts';
import type { ControlApi } from '../state/api/api.ts';
import { useRequestTexts } from '../state/control/use-request-texts.ts';
import { useNow } from '../state/window/use-now.ts';
import type { PanelActions } from './panel-store.ts';
import { usePanelWords } from './panel-words.tsx';
import classes from './Rows.module.css';
import { Section, WindowLink } from './Rows.tsx';

interface SessionListProps extends Pick<PanelActions, 'run' | 'canChange'> {
  sessions: readonly SessionView[];
  query: ControlApi['query'];
}

export function SessionList({ sessions, query, run, canChange }: SessionListProps) {
  const { messages, formats } = usePanelWords();
  const texts = messages.panel;
  const openings = useRequestTexts(
    query,
    sessions.flatMap(({ openingId }) => openingId ?? []),
  );
  if (sessions.length === 0) return null;
  return (
    <Section title={texts.sessions}>
      <ul>
        {sessions.map((session) => {
          const { id, requests, running } = session;
          const name = titleOf(session, openings.get(session.openingId ?? '')) ?? id;
          const isRefused = session.stoppedAt !== null || session.isOverBudget;
          return (
            <li key={id} className={classes.row}>
              <WindowLink path={`/sessions/${id}`} className={classes.main}>
                <span className={classes.dot} data-state={running > 0 ? 'running' : undefined} aria-hidden />
                <span className={classes.cut}>
                  {name} <span className={classes.small}>{texts.sessionRequests(formats.number(requests))}</span>
                </span>
                <span className={isRefused ? classes.bad : classes.figure}>
                  {session.stoppedAt !== null && texts.stopped}
                  {session.stoppedAt === null && session.isOverBudget && texts.overBudget}
                  {!isRefused && formats.cost(costOfSum(session))}
                </span>
              </WindowLink>
              <button
                type="button"
                className={classes.side}
                disabled={!canChange}
                aria-label={isRefused ? texts.resumeSession(name) : texts.stopSession(name)}
                onClick={() => run({ type: isRefused ? 'session.resume' : 'session.stop', id })}
              >
                {isRefused ? texts.resume : texts.stop}
              </button>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

export function LatestRequests({ requests }: { requests: readonly RequestView[] }) {
  const { messages } = usePanelWords();
  const texts = messages.panel;
  return (
    <Section title={texts.latest}>
      <ul>
        {requests.map((request) => (
          <li key={request.id} className={classes.row}>
            <RequestRow request={request} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function RequestRow({ request }: { request: RequestView }) {
  const { messages, formats } = usePanelWords();
  const { id, modelAsked, route, client, status, totalMs, startedAt } = request;
  const ago = useNow((now) => formats.ago(startedAt, now));
  const verdict = verdictOf(request);
  return (
    <WindowLink path={`/requests/${id}`} className={classes.main}>
      <span className={classes.dot} data-state={verdict} aria-hidden />
      <span className={classes.cut}>
        {modelAsked ?? route} {client !== null && <span className={classes.small}>{nameOfClient(client)}</span>}
      </span>
      <span className={classes.figure}>
        {verdict === 'ok' ? (
          totalMs !== null && formats.duration(totalMs)
        ) : (
          <span className={classes[meaningOf[verdict]]}>
            {(verdict === 'error' || verdict === 'refused') && status !== null ? `${status} ` : ''}
            {messages.verdicts[verdict]}
          </span>
        )}{' '}
        <span className={classes.small}>{ago}</span>
      </span>
    </WindowLink>
  );
}
