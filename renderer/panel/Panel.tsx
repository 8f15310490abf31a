/** The panel at the tray: whether Sluice is on, what it has done today, and the few things to do about it. */
import { IconAppWindow, IconCamera, IconPlayerStop } from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useRef } from 'react';
import type { PanelView } from '../../server/contract/panel-view.ts';
import { minuteMs } from '../../server/contract/units.ts';
import { describeProblem, Problem } from '../components/feedback/CommandProblem.tsx';
import { useNow } from '../state/window/use-now.ts';
import { LatestRequests, SessionList } from './Activity.tsx';
import { ClientList } from './ClientList.tsx';
import { Header, stateOf } from './Header.tsx';
import { Budgets } from './Meters.tsx';
import classes from './Panel.module.css';
import type { PanelStore } from './panel-store.ts';
import { usePanelWords } from './panel-words.tsx';
import { usePanelDesktop, WindowLink } from './Rows.tsx';
import { type PanelActions, useDesktopView, usePanel } from './use-panel.ts';

export function Panel({ store }: { store: PanelStore }) {
  const { messages } = usePanelWords();
  const texts = messages.panel;
  const desktop = usePanelDesktop();
  const desktopView = useDesktopView(desktop);
  const panel = usePanel(store);
  const { view, connection, problem } = panel;
  const state = stateOf(connection, desktopView);
  const frame = useRef<HTMLDivElement>(null);
  // So that the first arrow key arrives.
  useEffect(() => frame.current?.focus(), []);
  const notes = {
    off: texts.offText,
    failed: texts.failedText,
    lost: view ? texts.lostText : messages.connection.lostNothing,
    'signed-out': texts.signedOutText,
  };
  const note = state in notes ? notes[state as keyof typeof notes] : null;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only moves the focus between what can be pressed
    <div
      className={classes.panel}
      ref={frame}
      tabIndex={-1}
      onKeyDown={(event) => moveByArrows(event, () => desktop && window.close())}
    >
      <Header state={state} baseUrl={view?.baseUrl ?? null} />
      <main className={classes.body}>
        {note !== null && (
          <p className={classes.note} role="status">
            {note}
          </p>
        )}
        {problem && <Problem text={describeProblem(problem, messages)} />}
        {view && (
          <>
            <Figures today={view.today} isStale={connection !== 'open'} />
            <ClientList clients={view.clients} />
            <SessionList sessions={view.sessions} run={panel.run} canChange={panel.canChange} />
            <Budgets budgets={view.budgets} />
            <LatestRequests requests={view.requests} />
          </>
        )}
      </main>
      <Footer view={view} run={panel.run} canChange={panel.canChange} />
    </div>
  );
}

function Figures({ today, isStale }: { today: PanelView['today']; isStale: boolean }) {
  const { messages, formats } = usePanelWords();
  const texts = messages.panel;
  const { requests = 0, errors = 0, inputTokens = 0, outputTokens = 0, unpricedRequests = 0 } = today ?? {};
  const costUsd = today ? today.costUsd : 0;
  return (
    <dl className={classes.figures} aria-label={texts.today} data-is-stale={isStale || undefined}>
      <div className={classes.figure}>
        <dt>
          {texts.cost}
          {costUsd !== null && unpricedRequests > 0 && ` · ${texts.unpriced(formats.compact(unpricedRequests))}`}
        </dt>
        <dd className={costUsd === null ? classes.unknown : undefined}>
          {costUsd === null ? texts.unknownCost : formats.dollars(costUsd)}
        </dd>
      </div>
      <div className={classes.figure}>
        <dt>
          {texts.requests}
          {errors > 0 && <span className={classes.bad}> · {texts.failed(formats.compact(errors))}</span>}
        </dt>
        <dd>{formats.compact(requests)}</dd>
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

const stops = 'a[href], button:not(:disabled)';

/** For the element around them. Enter and Space are the elements' own. */
function moveByArrows(event: KeyboardEvent<HTMLElement>, leave: () => void): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Escape') {
    event.preventDefault();
    leave();
    return;
  }
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>(stops)];
  const next = targetOf(event.key, all);
  if (!next) return;
  event.preventDefault();
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}

function targetOf(key: string, all: readonly HTMLElement[]): HTMLElement | undefined {
  const at = all.indexOf(document.activeElement as HTMLElement);
  switch (key) {
    case 'ArrowDown':
      return all[at + 1] ?? all[0];
    case 'ArrowUp':
      return all[at - 1] ?? all.at(-1);
    case 'Home':
      return all[0];
    case 'End':
      return all.at(-1);
    default:
      return undefined;
  }
}
