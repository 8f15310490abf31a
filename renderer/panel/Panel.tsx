/** The panel at the tray: whether Sluice is on, what it has done today, and the few things to do about it. */

import { IconAppWindow, IconCamera, IconChevronRight, IconPlayerStop } from '@tabler/icons-react';
import { type RefObject, useEffect, useEffectEvent, useRef, useState } from 'react';
import { localCalendar } from '../../server/contract/calendar.ts';
import type { DesktopView } from '../../server/contract/ipc.ts';
import { costOfSum } from '../../server/contract/ledger.ts';
import type { PanelClient, PanelView } from '../../server/contract/panel-view.ts';
import { minuteMs } from '../../server/contract/units.ts';
import { describeProblem, Problem } from '../components/feedback/CommandProblem.tsx';
import { shownCurrency } from '../messages/formats.ts';
import type { Connection } from '../state/api/api.ts';
import { useNow } from '../state/window/use-now.ts';
import { LatestRequests, SessionList } from './Activity.tsx';
import { ClientList, idOfClient } from './ClientList.tsx';
import { Budgets, RemainingLimits } from './Meters.tsx';
import classes from './Panel.module.css';
import { type PanelActions, type PanelStore, useDesktopView, usePanel } from './panel-store.ts';
import { AmountsIn, usePanelWords } from './panel-words.tsx';
import rows from './Rows.module.css';
import { usePanelDesktop, WindowLink } from './Rows.tsx';
import { Switched, SwitchView, useSwitching } from './SwitchView.tsx';

export function Panel({ store }: { store: PanelStore }) {
  const desktop = usePanelDesktop();
  const panel = usePanel(store);
  const { view, connection } = panel;
  const state = stateOf(connection, useDesktopView(desktop));
  const isForOthers = view === null && panel.problem?.code === 'forbidden';
  const [opened, setOpenClient] = useState<PanelClient | null>(null);
  // As it is now: a lock or an alias may have changed since the menu was opened.
  const openClient = opened && (view?.clients.find((client) => idOfClient(client) === idOfClient(opened)) ?? opened);
  const { switched, choose, undo } = useSwitching(panel);
  const frame = useFocus(openClient && idOfClient(openClient));
  useArrowKeys(frame, {
    isInMenu: openClient !== null,
    leave() {
      if (openClient) setOpenClient(null);
      // Which the desktop answers by hiding it.
      else if (desktop) window.close();
    },
  });
  return (
    <div className={classes.panel} ref={frame} tabIndex={-1}>
      <Header state={state} baseUrl={view?.baseUrl ?? null} />
      <main className={classes.body}>
        {isForOthers ? <ForAdministrators /> : <Notes state={state} isKnown={view !== null} problem={panel.problem} />}
        {view && openClient === null && (
          <AmountsIn currency={shownCurrency(view.currency)}>
            <Attention attention={view.attention} />
            <Figures today={view.today} isStale={connection !== 'open'} />
            <Contents
              view={view}
              onOpen={setOpenClient}
              query={store.query}
              run={panel.run}
              canChange={panel.canChange}
            />
          </AmountsIn>
        )}
        {openClient && (
          <SwitchView
            client={openClient}
            canChange={panel.canChange}
            query={store.query}
            onBack={() => setOpenClient(null)}
            onChoose={async (choosing, chosen) => {
              if (await choose(choosing, chosen)) setOpenClient(null);
            }}
          />
        )}
      </main>
      {switched && <Switched switched={switched} canChange={panel.canChange} onUndo={undo} />}
      {!isForOthers && <Footer view={view} run={panel.run} canChange={panel.canChange} />}
    </div>
  );
}

interface ContentsProps extends Pick<PanelActions, 'run' | 'canChange'> {
  query: PanelStore['query'];
  view: PanelView;
  onOpen(client: PanelClient): void;
}

function Contents({ view, onOpen, query, run, canChange }: ContentsProps) {
  const texts = usePanelWords().messages.panel;
  const { clients, sessions, budgets, remaining, requests } = view;
  if (clients.length === 0 && requests.length === 0) {
    return (
      <section className={classes.first} aria-label={texts.clients}>
        <h2>{texts.nothingYet}</h2>
        <p>{texts.nothingYetNext}</p>
        <WindowLink path="/connect" className={classes.primary}>
          {texts.connect}
        </WindowLink>
      </section>
    );
  }
  return (
    <>
      <ClientList clients={clients} onOpen={onOpen} />
      <SessionList sessions={sessions} query={query} run={run} canChange={canChange} />
      <Budgets budgets={budgets} />
      <RemainingLimits remaining={remaining} />
      <LatestRequests requests={requests} />
    </>
  );
}

/** It shows the requests of all and changes what answers them; each member has their own in the window. */
function ForAdministrators() {
  const texts = usePanelWords().messages.panel;
  return (
    <section className={classes.first} aria-label={texts.forAdministrators}>
      <h2>{texts.forAdministrators}</h2>
      <p>{texts.forAdministratorsNext}</p>
      <WindowLink path="/account" className={classes.primary}>
        {texts.open}
      </WindowLink>
    </section>
  );
}

/** The panel itself, so that the first arrow key arrives; in a menu its first button, and after it the row that opened it. */
function useFocus(openId: string | null) {
  const frame = useRef<HTMLDivElement>(null);
  const last = useRef<string | null>(null);
  useEffect(() => {
    const inMenu = openId !== null && frame.current?.querySelector<HTMLElement>('section button');
    const row =
      last.current && frame.current?.querySelector<HTMLElement>(`[data-client="${CSS.escape(last.current)}"]`);
    (inMenu || row || frame.current)?.focus();
    last.current = openId;
  }, [openId]);
  return frame;
}

interface NotesProps {
  state: PanelPower;
  isKnown: boolean;
  problem: PanelActions['problem'];
}

function Notes({ state, isKnown, problem }: NotesProps) {
  const { messages } = usePanelWords();
  const texts = messages.panel;
  const notes: Partial<Record<PanelPower, string>> = {
    off: texts.offText,
    failed: texts.failedText,
    lost: isKnown ? texts.lostText : messages.connection.lostNothing,
    'signed-out': texts.signedOutText,
  };
  return (
    <>
      {notes[state] !== undefined && (
        <p className={classes.note} role="status">
          {notes[state]}
        </p>
      )}
      {problem && (
        <div className={classes.problem}>
          <Problem text={describeProblem(problem, messages)} />
        </div>
      )}
    </>
  );
}

/** Opens Home, which says what it is. */
function Attention({ attention: { count, isBad } }: Pick<PanelView, 'attention'>) {
  const { messages, formats } = usePanelWords();
  if (count === 0) return null;
  return (
    <WindowLink path="/" className={classes.attention}>
      <span className={rows.dot} data-tone={isBad ? 'bad' : 'warning'} />
      <span>{messages.panel.attention(count, formats.number(count))}</span>
      <IconChevronRight size={14} aria-hidden />
    </WindowLink>
  );
}

function Figures({ today, isStale }: { today: PanelView['today']; isStale: boolean }) {
  const { messages, formats } = usePanelWords();
  const texts = messages.panel;
  const {
    requests = 0,
    failed = 0,
    refused = 0,
    inputTokens = 0,
    outputTokens = 0,
    unpricedRequests = 0,
  } = today ?? {};
  const cost = today ? costOfSum(today) : 0;
  const since = useNow((now) => localCalendar().periodOf('day', now).startMs);
  return (
    <dl className={classes.figures} aria-label={texts.today} data-is-stale={isStale || undefined}>
      <div className={classes.figure}>
        <dt>
          {texts.cost}
          {cost !== 'unknown' && unpricedRequests > 0 && ` · ${texts.unpriced(formats.compact(unpricedRequests))}`}
        </dt>
        <dd className={cost === 'unknown' ? classes.unknown : undefined}>{formats.cost(cost)}</dd>
      </div>
      <div className={classes.figure}>
        <dt>{texts.requests}</dt>
        <dd>{formats.compact(requests)}</dd>
        {failed + refused > 0 && (
          <dd className={classes.verdicts}>
            {failed > 0 && (
              <WindowLink path={`/requests?outcome=failed&since=${since}`} className={classes.failed}>
                {messages.verdictCounts.failed(formats.compact(failed))}
              </WindowLink>
            )}
            {failed > 0 && refused > 0 && ' · '}
            {refused > 0 && (
              <WindowLink path={`/requests?outcome=refused&since=${since}`} className={classes.refused}>
                {messages.verdictCounts.refused(formats.compact(refused))}
              </WindowLink>
            )}
          </dd>
        )}
      </div>
      <div className={classes.figure}>
        <dt>{texts.tokens}</dt>
        <dd title={texts.inOut(formats.number(inputTokens), formats.number(outputTokens))}>
          {formats.compact(inputTokens + outputTokens)}
        </dd>
      </div>
    </dl>
  );
}

const captureMinutes = 10;

interface FooterProps extends Pick<PanelActions, 'run' | 'canChange'> {
  view: PanelView | null;
}

function Footer({ view, run, canChange }: FooterProps) {
  const { messages, formats } = usePanelWords();
  const texts = messages.panel;
  // Those of single keys or groups were begun in the window, and are ended there.
  const capture = view?.capture.find(({ kind }) => kind === 'all');
  const minutesLeft = useNow((now) => (capture ? Math.max(1, Math.ceil((capture.untilMs - now) / minuteMs)) : 0));
  return (
    <footer className={classes.footer}>
      {capture ? (
        <button
          type="button"
          className={`${classes.act} ${classes.capturing}`}
          disabled={!canChange}
          title={texts.stopCapture}
          onClick={() => run({ type: 'capture.stop' })}
        >
          <IconPlayerStop size={16} aria-hidden />
          {texts.capturing(formats.number(minutesLeft))}
        </button>
      ) : (
        <button
          type="button"
          className={classes.act}
          disabled={!canChange}
          onClick={() => run({ type: 'capture.start', minutes: captureMinutes })}
        >
          <IconCamera size={16} aria-hidden />
          {texts.capture(formats.number(captureMinutes))}
        </button>
      )}
      <WindowLink path="/" className={`${classes.act} ${classes.open}`}>
        <IconAppWindow size={16} aria-hidden />
        {texts.open}
      </WindowLink>
    </footer>
  );
}

type PanelPower = DesktopView['gateway'] | Exclude<Connection, 'open'>;

/** On the desktop, its own word counts: without an engine there is no connection. */
function stateOf(connection: Connection, desktop: DesktopView | null): PanelPower {
  if (desktop && desktop.gateway !== 'serving') return desktop.gateway;
  return connection === 'open' ? 'serving' : connection;
}

interface HeaderProps {
  state: PanelPower;
  baseUrl: string | null;
}

/** The name, where Sluice listens, and the switch, which only the desktop has: in a browser the page is the engine's own. */
function Header({ state, baseUrl }: HeaderProps) {
  const texts = usePanelWords().messages.panel;
  const desktop = usePanelDesktop();
  // Without a connection the engine may run all the same.
  const isOn = !['off', 'stopping', 'failed'].includes(state);
  const address = state === 'serving' && baseUrl !== null ? ` · ${new URL(baseUrl).host}` : '';
  return (
    <header className={classes.header}>
      <svg className={classes.mark} width={22} height={22} viewBox="0 0 24 24" aria-hidden="true">
        <g fill="none" stroke="currentColor" strokeWidth="2.2" strokeLinecap="round" strokeLinejoin="round">
          <path d="M5 3v18M19 3v18M5 7h14" />
          <path d="M8.5 12.5q1.75-1.6 3.5 0t3.5 0M8.5 17q1.75-1.6 3.5 0t3.5 0" />
        </g>
      </svg>
      <div className={classes.names}>
        <h1 className={classes.title}>Sluice</h1>
        <div className={classes.state}>
          {texts.states[state]}
          {address}
        </div>
      </div>
      {desktop && (
        <button
          type="button"
          role="switch"
          className={classes.power}
          aria-checked={isOn}
          aria-label={texts.switch}
          disabled={state === 'starting' || state === 'stopping'}
          onClick={() => desktop.call('setGateway', !isOn).catch(() => {})}
        />
      )}
    </header>
  );
}

interface Keys {
  /** A menu is open, which the left arrow leaves. */
  isInMenu: boolean;
  leave(): void;
}

/** The panel by keyboard: arrows go through all that can be pressed, as in a menu, and Escape leaves. Enter and Space are the elements' own. */
function useArrowKeys(frame: RefObject<HTMLElement | null>, { isInMenu, leave }: Keys): void {
  const handle = useEffectEvent((event: KeyboardEvent) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const isInText = target instanceof HTMLInputElement;
    if (key === 'Escape' || (key === 'ArrowLeft' && isInMenu && !isInText)) {
      event.preventDefault();
      leave();
    } else if (key === 'ArrowRight' && target instanceof HTMLElement && 'client' in target.dataset) {
      target.click();
    } else if (!isInText || key.startsWith('Arrow')) {
      moveFocus(frame.current, event);
    }
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => handle(event);
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}

const stops = 'a[href], button:not(:disabled), input';

function moveFocus(frame: HTMLElement | null, event: KeyboardEvent): void {
  const all = [...(frame?.querySelectorAll<HTMLElement>(stops) ?? [])];
  const at = all.findIndex((each) => each.matches(':focus'));
  const targets: Record<string, HTMLElement | undefined> = {
    ArrowDown: all[at + 1] ?? all[0],
    ArrowUp: at < 1 ? all.at(-1) : all[at - 1],
    Home: all[0],
    End: all.at(-1),
  };
  const next = targets[event.key];
  if (!next) return;
  event.preventDefault();
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}
