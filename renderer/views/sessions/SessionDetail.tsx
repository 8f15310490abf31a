import { useCallback, useState } from 'react';
import type { SessionInFull, SessionView } from '../../../server/contract/session-views.ts';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { CopyLine } from '../../components/CopyLine.tsx';
import { EmptyNote } from '../../components/EmptyNote.tsx';
import { ListSkeleton } from '../../components/ListSkeleton.tsx';
import { Screen } from '../../components/Screen.tsx';
import { Section } from '../../components/Section.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useControlState, useControlStore } from '../../state/use-control.ts';
import { useLiveAnswer } from '../../state/use-live-answer.ts';
import classes from './Sessions.module.css';
import { type StateChange, StopSession } from './StopSession.tsx';
import { costIn, isRefused, programOf } from './session-facts.ts';
import { TurnChart } from './TurnChart.tsx';
import { TurnTable } from './TurnTable.tsx';

/** One session: what it cost and why, turn by turn, as it goes on. */
export function SessionDetail({ id }: { id: string }) {
  const { sessions: names } = useMessages();
  const store = useControlStore();
  const load = useCallback(() => store.query<'session'>({ type: 'session', id }), [store, id]);
  const { answer: known, problem } = useLiveAnswer(load);
  // What was just changed holds until the engine tells more.
  const [changed, setChanged] = useState<{ from: SessionInFull | null; change: StateChange } | null>(null);
  const answer = known && changed?.from === known ? withChange(known, changed.change) : known;
  const isGone = problem !== null && (problem.code === 'not_found' || problem.code === 'invalid_command');
  const stop = answer && (
    <StopSession session={answer.session} onChanged={(change) => setChanged({ from: known, change })} />
  );
  return (
    <Screen name="sessions" back={{ href: '/sessions', label: names.backToAll }} action={stop}>
      {isGone && <EmptyNote title={names.goneTitle} next={names.goneNext} />}
      {problem && !isGone && <CommandProblem problem={problem} />}
      {!answer && !problem && <ListSkeleton rows={3} rowHeight={120} />}
      {answer && !isGone && <Content full={answer} />}
    </Screen>
  );
}

function withChange(full: SessionInFull, change: StateChange): SessionInFull {
  return { ...full, session: { ...full.session, ...change } };
}

function Content({ full }: { full: SessionInFull }) {
  const { sessions: names } = useMessages();
  const { session, turns, requests } = full;
  const byTurn = Map.groupBy(requests, ({ turn }) => turn);
  return (
    <>
      {isRefused(session) && (
        <p className={classes.stoppedNote}>{session.stoppedAt === null ? names.overBudgetNote : names.stoppedNote}</p>
      )}
      <Section title={programOf(session.client) ?? names.unknownClient}>
        <Facts session={session} />
      </Section>
      <TurnChart turns={turns} />
      {turns.map((turn) => (
        <TurnTable key={turn.turn} turn={turn} requests={byTurn.get(turn.turn) ?? []} />
      ))}
    </>
  );
}

function Facts({ session }: { session: SessionView }) {
  const localization = useLocalization();
  const { formats } = localization;
  const { facts: names } = localization.messages.sessions;
  const keyName = useControlState((state) => state.views?.keys.find(({ id }) => id === session.keyId)?.name);
  const { cachedInputTokens, inputTokens, errors, retries, models } = session;
  const share = inputTokens > 0 ? ` (${formats.percent(cachedInputTokens / inputTokens)})` : '';
  const facts: [name: string, value: string][] = [
    [names.cost, costIn(session, localization)],
    [names.input, formats.number(inputTokens)],
    [names.cached, `${formats.number(cachedInputTokens)}${share}`],
    [names.output, formats.number(session.outputTokens)],
    [names.turns, formats.number(session.turns)],
    [names.requests, formats.number(session.requests)],
    [names.errors, errors > 0 ? formats.number(errors) : ''],
    [names.retries, retries > 0 ? formats.number(retries) : ''],
    [names.models, models.join(', ')],
    [names.key, keyName ?? session.keyId ?? ''],
    [names.time, `${formats.dayAndClock(session.firstAt)} – ${formats.dayAndClock(session.lastAt)}`],
  ];
  return (
    <div className={classes.panel}>
      <dl className={classes.facts}>
        {facts
          .filter(([, value]) => value !== '')
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      <CopyLine value={session.id} what="ID" oneLine />
    </div>
  );
}
