import { Button, Group, SegmentedControl } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useCallback, useState } from 'react';
import { type SessionInFull, titleOf } from '../../../server/contract/session-views.ts';
import { downloadLines } from '../../components/buttons/download.ts';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { EmptyNote } from '../../components/feedback/EmptyNote.tsx';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import { Screen } from '../../components/layout/Screen.tsx';
import { Section } from '../../components/layout/Section.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlStore } from '../../state/control/use-control.ts';
import { useLiveQuery } from '../../state/control/use-query.ts';
import { type RequestTexts, useRequestTexts } from '../../state/control/use-request-texts.ts';
import { SessionConversation } from './SessionConversation.tsx';
import { SessionFacts } from './SessionFacts.tsx';
import classes from './Sessions.module.css';
import { type StateChange, StopSession } from './StopSession.tsx';
import { isRefused } from './session-facts.ts';
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
  const texts = useRequestTexts(store.query, answer ? toldRequests(answer) : []);
  const opening = texts.get(answer?.session.openingId ?? '');
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
        title: answer && !isGone ? (titleOf(answer.session, opening) ?? names.unknownClient) : null,
        listHref: '/sessions',
        backLabel: names.backToAll,
      }}
      action={acts}
    >
      {isGone && <EmptyNote title={names.goneTitle} next={names.goneNext} />}
      {problem && !isGone && <CommandProblem problem={problem} />}
      {!answer && !problem && <ListSkeleton rows={3} rowHeight={120} />}
      {answer && !isGone && <Content full={answer} texts={texts} />}
    </Screen>
  );
}

function withChange(full: SessionInFull, change: StateChange): SessionInFull {
  return { ...full, session: { ...full.session, ...change } };
}

/** Of so many of the newest requests it is asked what they say. */
const mostTold = 150;

/** The requests of the main conversation that say something of their own. */
function toldRequests({ session, requests }: SessionInFull): string[] {
  const told = requests.filter(({ thread, isToolResult, isCaptured }) => isCaptured && (thread === 0 || isToolResult));
  return [...(session.openingId === null ? [] : [session.openingId]), ...told.slice(-mostTold).map(({ id }) => id)];
}

function Content({ full, texts }: { full: SessionInFull; texts: RequestTexts }) {
  const { sessions: names } = useMessages();
  const [view, setView] = useState<'turns' | 'conversation'>('turns');
  const { session, turns, requests } = full;
  const byTurn = Map.groupBy(requests, ({ turn }) => turn);
  return (
    <>
      {isRefused(session) && (
        <p className={classes.stoppedNote}>{session.stoppedAt === null ? names.overBudgetNote : names.stoppedNote}</p>
      )}
      <Section title={names.soFar}>
        <SessionFacts full={full} opening={texts.get(session.openingId ?? '')} />
      </Section>
      <SegmentedControl
        className={classes.views}
        size="xs"
        aria-label={names.show}
        value={view}
        onChange={(value) => setView(value === 'conversation' ? 'conversation' : 'turns')}
        data={[
          { value: 'turns', label: names.views.turns },
          { value: 'conversation', label: names.views.conversation },
        ]}
      />
      {view === 'conversation' && <SessionConversation requests={requests} />}
      {view === 'turns' && <TurnChart turns={turns} />}
      {view === 'turns' &&
        turns.map((turn) => (
          <TurnTable key={turn.turn} turn={turn} requests={byTurn.get(turn.turn) ?? []} texts={texts} />
        ))}
    </>
  );
}

/** Downloads the session's requests as JSON Lines, as `sluice session export` prints them. */
function ExportSession({ full: { session, requests } }: { full: SessionInFull }) {
  const { requests: names } = useMessages();
  const download = () =>
    downloadLines(
      `sluice-session-${session.id}.jsonl`,
      requests.map((request) => ({ session: session.id, ...request })),
    );
  return (
    <Button size="xs" variant="default" leftSection={<IconDownload size={14} aria-hidden />} onClick={download}>
      {names.export}
    </Button>
  );
}
