/** The parts of which the panel's lists are made, and the way from them to the window. */

import { createContext, type MouseEvent, type ReactNode, useContext, useId } from 'react';
import { nameOfClient, nameOfClientId } from '../../server/contract/known-clients.ts';
import type { PanelClient } from '../../server/contract/panel-view.ts';
import type { DesktopApi } from '../state/api/api.ts';
import classes from './Rows.module.css';

interface SectionProps {
  title: string;
  children: ReactNode;
}

export function Section({ title, children }: SectionProps) {
  const id = useId();
  return (
    <section className={classes.section} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

const DesktopContext = createContext<DesktopApi | null>(null);

/** The desktop around the panel; null in a browser. */
export const PanelDesktopProvider = DesktopContext.Provider;
export const usePanelDesktop = () => useContext(DesktopContext);

interface WindowLinkProps {
  /** Path of a screen: `/requests`. */
  path: string;
  className: string | undefined;
  children: ReactNode;
}

/** Opens the window at a screen: the desktop's, or in a browser the same tab each time. */
export function WindowLink({ path, className, children }: WindowLinkProps) {
  const desktop = usePanelDesktop();
  const open = (event: MouseEvent) => {
    if (!desktop) return;
    event.preventDefault();
    // Nothing to say: the window shows itself, and what keeps it from that.
    desktop.call('showWindow', path).catch(() => {});
  };
  return (
    <a className={className} href={`/#${path}`} target="sluice-window" onClick={open}>
      {children}
    </a>
  );
}

/** Of a client in `PanelModel.sharedWith`. */
export function nameOfSharing(product: PanelClient['product'] | string): string {
  return nameOfClientId(product) ?? nameOfClient(product ?? '');
}
