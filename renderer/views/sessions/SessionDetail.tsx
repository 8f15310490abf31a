import { Group } from '@mantine/core';
import { useCallback, useState } from 'react';
import type { SessionInFull } from '../../../server/contract/session-views.ts';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { EmptyNote } from '../../components/feedback/EmptyNote.tsx';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import { Screen } from '../../components/layout/Screen.tsx';
import { Section } from '../../components/layout/Section.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlStore } from '../../state/control/use-control.ts';
import { useLiveQuery } from '../../state/control/use-live-query.ts';
import { ExportSession } from './ExportSession.tsx';
import { SessionFacts } from './SessionFacts.tsx';
import classes from './Sessions.module.css';
import { type StateChange, StopSession } from './StopSession.tsx';
import { isRefused, titleOf } from './session-facts.ts';
import { TurnChart } from './TurnChart.tsx';
import { TurnTable } from './TurnTable.tsx';

/** One session while it goes on: its cost and the reasons for it, turn by turn. */
export function SessionDetail({ id }: { id: string }) {
  const { sessions: names } = useMessages();
  const store = useControlStore();
  const load = useCallback(() => store.query<'session'>({ type: 'session', id }), [store, id]);
  const { answer: loaded, problem } = useLiveQuery(load, true);
  // A change made here holds until the engine's next answer.
  const [changed, setChanged] = useState<{ from: SessionInFull | null; change: StateChange } | null>(null);
  const answer = loaded && changed?.from === loaded ? withChange(loaded, changed.change) : loaded;
  const isGone = problem !== null && (problem.code === 'not_found' || problem.code === 'invalid_command');
  const acts = answer && (
    <Group gap="xs">
      <ExportSession full={answer} />
      <StopSession session={answer.session} onChanged={(change) => setChanged({ from: loaded, change })} />
    </Group>
  );
  return (
    <Screen
      name="sessions"
      item={{
        title: answer && !isGone ? (titleOf(answer.session) ?? names.unknownClient) : null,
        listHref: '/sessions',
        backLabel: names.backToAll,
      }}
      action={acts}
    >
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
      <Section title={names.soFar}>
        <SessionFacts full={full} />
      </Section>
      <TurnChart turns={turns} />
      {turns.map((turn) => (
        <TurnTable key={turn.turn} turn={turn} requests={byTurn.get(turn.turn) ?? []} />
      ))}
    </>
  );
}
