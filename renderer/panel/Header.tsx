import type { DesktopView } from '../../server/contract/ipc.ts';
import type { Connection } from '../state/api/api.ts';
import classes from './Panel.module.css';
import { usePanelWords } from './panel-words.tsx';
import { usePanelDesktop } from './Rows.tsx';

export type PanelPower = DesktopView['gateway'] | Exclude<Connection, 'open'>;

/** On the desktop, its own word counts: without an engine there is no connection. */
export function stateOf(connection: Connection, desktop: DesktopView | null): PanelPower {
  if (desktop && desktop.gateway !== 'serving') return desktop.gateway;
  return connection === 'open' ? 'serving' : connection;
}

interface HeaderProps {
  state: PanelPower;
  baseUrl: string | null;
}

/** The name, where Sluice listens, and the switch, which only the desktop has: in a browser the page is the engine's own. */
export function Header({ state, baseUrl }: HeaderProps) {
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
