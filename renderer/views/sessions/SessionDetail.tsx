import { Button, Group, SegmentedControl } from '@mantine/core';
import { IconDownload, IconPlayerPlay, IconPlayerStop } from '@tabler/icons-react';
import { useCallback, useState } from 'react';
import { nameOfClient } from '../../../server/contract/known-clients.ts';
import { costOfSum } from '../../../server/contract/ledger.ts';
import {
  type RequestText,
  type SessionInFull,
  type SessionView,
  titleOf,
} from '../../../server/contract/session-views.ts';
import { downloadLines } from '../../components/buttons/download.ts';
import { CopyLine } from '../../components/copying/CopyButton.tsx';
import { ConfirmDialog } from '../../components/dialogs/ConfirmDialog.tsx';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { EmptyNote } from '../../components/feedback/EmptyNote.tsx';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import { Screen } from '../../components/layout/Screen.tsx';
import { Section } from '../../components/layout/Section.tsx';
import { type Localization, useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useControlState, useControlStore } from '../../state/control/use-control.ts';
import { useNameOf } from '../../state/control/use-found.ts';
import { useLiveQuery } from '../../state/control/use-query.ts';
import { type RequestTexts, useRequestTexts } from '../../state/control/use-request-texts.ts';
import { SessionConversation } from './SessionConversation.tsx';
import classes from './Sessions.module.css';
import { isRefused } from './session-facts.ts';
import { TurnChart, TurnTable } from './TurnTable.tsx';

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

interface SessionFactsProps {
  full: SessionInFull;
  /** What its first captured request says; undefined if nothing is known of it. */
  opening: RequestText | undefined;
}

/** Usage and cost of the whole session. */
function SessionFacts({ full: { session, requests }, opening }: SessionFactsProps) {
  const localization = useLocalization();
  const { formats } = localization;
  const { facts: names } = localization.messages.sessions;
  const keyName = useNameOf('key', session.keyId);
  const { cachedInputTokens, inputTokens, failed, refused, retries, models } = session;
  const share = inputTokens > 0 ? ` (${formats.percent(cachedInputTokens / inputTokens)})` : '';
  const lost = requests.reduce((sum, { cacheLoss }) => sum + (cacheLoss?.tokens ?? 0), 0);
  const lostUsd = requests.reduce((sum, { cacheLoss }) => sum + (cacheLoss?.costUsd ?? 0), 0);
  const facts: [name: string, value: string][] = [
    [names.cost, formats.cost(costOfSum(session))],
    [names.budget, useBudget(session, localization)],
    [names.input, formats.number(inputTokens)],
    [names.cached, `${formats.number(cachedInputTokens)}${share}`],
    [names.lost, lost > 0 ? `${formats.number(lost)}${lostUsd > 0 ? ` (${formats.dollars(lostUsd)})` : ''}` : ''],
    [names.output, formats.number(session.outputTokens)],
    [names.turns, formats.number(session.turns)],
    [names.requests, formats.number(session.requests)],
    [names.failed, failed > 0 ? formats.number(failed) : ''],
    [names.refused, refused > 0 ? formats.number(refused) : ''],
    [names.retries, retries > 0 ? formats.number(retries) : ''],
    [names.models, models.join(', ')],
    [names.client, session.client === null ? '' : nameOfClient(session.client)],
    [names.folder, opening?.folder ?? ''],
    [names.branch, opening?.branch ?? ''],
    [names.key, keyName ?? session.keyId ?? ''],
    [names.time, formats.fromTo(session.firstAt, session.lastAt)],
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
      <CopyLine value={session.id} label="ID" oneLine />
    </div>
  );
}

/** Empty if there is no budget. */
function useBudget({ budgetUsedUsd }: SessionView, { messages, formats }: Localization): string {
  const stopAtUsd = useControlState((state) => state.views?.status.settings.sessionBudget.stopAtUsd ?? null);
  if (stopAtUsd === null) return '';
  return messages.sessions.budgetUsed(formats.dollars(budgetUsedUsd), formats.dollars(stopAtUsd));
}

/** What a command has changed in a session, until the engine's next answer. */
type StateChange = Partial<Pick<SessionView, 'stoppedAt' | 'isOverBudget'>>;

/** Refuses further requests of a session after confirmation, or allows them again. */
function StopSession({ session, onChanged }: { session: SessionView; onChanged(change: StateChange): void }) {
  const { id } = session;
  const { sessions: names } = useMessages();
  const { run, isRunning, problem, forget } = useCommand();
  const isOpen = useControlState((state) => state.connection === 'open');
  const [isAsking, setAsking] = useState(false);
  const change = async (type: 'session.stop' | 'session.resume') => {
    if (!(await run({ type, id }))) return;
    setAsking(false);
    onChanged(type === 'session.stop' ? { stoppedAt: Date.now() } : { stoppedAt: null, isOverBudget: false });
  };
  if (isRefused(session)) {
    return (
      <>
        {problem && <CommandProblem problem={problem} />}
        <Button
          size="xs"
          variant="default"
          leftSection={<IconPlayerPlay size={14} aria-hidden />}
          disabled={!isOpen}
          loading={isRunning}
          onClick={() => void change('session.resume')}
        >
          {names.resume}
        </Button>
      </>
    );
  }
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconPlayerStop size={14} aria-hidden />}
        disabled={!isOpen}
        onClick={() => {
          forget();
          setAsking(true);
        }}
      >
        {names.stop.open}
      </Button>
      <ConfirmDialog
        opened={isAsking}
        title={names.stop.title}
        text={names.stop.text}
        confirm={names.stop.confirm}
        isRunning={isRunning}
        problem={problem}
        onConfirm={() => void change('session.stop')}
        onClose={() => setAsking(false)}
      />
    </>
  );
}
