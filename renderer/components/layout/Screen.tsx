import { ActionIcon } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { pathOf, placeOf, type ScreenName } from '../../../server/contract/places.ts';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useTabs } from '../../state/rights/use-rights.ts';
import { hasNavigated } from '../../state/window/hash-location.ts';
import { overlay } from '../../state/window/overlay.ts';
import classes from './Screen.module.css';

/** Their buttons are disabled if the configuration is read-only. */
const changing: ReadonlySet<ScreenName> = new Set(['providers', 'models', 'groups', 'keys', 'settings']);

interface ScreenProps {
  name: ScreenName;
  /** The number of items on the screen, shown beside the heading. */
  count?: number | undefined;
  /** One line about the purpose of the screen, for first-time users. */
  lead?: string | false | null | undefined;
  /** For one item of a list: the way back to it, and the item's name as the heading; null while it is not known. */
  item?: { title: string | null; listHref: string; backLabel: string };
  /** Shown at the end of the heading's line. */
  action?: ReactNode;
  /** As tall as the window, so that what is inside scrolls instead of the page. */
  fills?: boolean;
  children: ReactNode;
}

/**
 * The frame of every screen. After a navigation, its heading takes the focus so that screen readers announce it. On the
 * first screen after a page load, the focus stays at the start of the page.
 */
export function Screen({ name, count, lead, item, action, fills = false, children }: ScreenProps) {
  const { messages, formats } = useLocalization();
  const { appName, screens } = messages;
  const heading = useRef<HTMLHeadingElement>(null);
  const text = item?.title ?? screens[name];
  const isReadOnly = useControlState(({ views }) => views?.status.readOnly === true);
  useEffect(() => {
    document.title = `${text} – ${appName}`;
  }, [text, appName]);
  useEffect(() => {
    if (hasNavigated() && heading.current) overlay.focusBelow(heading.current);
  }, []);
  const title = (
    <>
      <h1 className={classes.title} ref={heading} tabIndex={-1}>
        {text}
      </h1>
      {count !== undefined && <span className={classes.count}>{formats.number(count)}</span>}
    </>
  );
  return (
    <div className={fills ? classes.fills : classes.screen}>
      <header className={classes.header}>
        {item && (
          <ActionIcon
            component={Link}
            href={item.listHref}
            variant="default"
            aria-label={item.backLabel}
            title={item.backLabel}
          >
            <IconArrowLeft size={16} aria-hidden />
          </ActionIcon>
        )}
        {item ? title : <PlaceTabs current={name}>{title}</PlaceTabs>}
        {action !== undefined && <div className={classes.action}>{action}</div>}
      </header>
      {isReadOnly && changing.has(name) && <p className={classes.lead}>{messages.readOnly}</p>}
      {lead && <p className={classes.lead}>{lead}</p>}
      {children}
    </div>
  );
}

interface PlaceTabsProps {
  current: ScreenName;
  /** The heading of the current screen, which stands in place of its own tab. */
  children: ReactNode;
}

/** The screens of a place, side by side in the line of the heading. With only one, nothing but the heading. */
function PlaceTabs({ current, children }: PlaceTabsProps) {
  const { places, screens } = useMessages();
  const tabs = useTabs(current);
  if (tabs.length < 2) return children;
  return (
    <nav className={classes.tabs} aria-label={places[placeOf(current)]}>
      {tabs.map((name) =>
        name === current ? (
          <div key={name} className={classes.current} aria-current="page">
            {children}
          </div>
        ) : (
          <Link key={name} className={classes.tab} href={pathOf(name)}>
            {screens[name]}
          </Link>
        ),
      )}
    </nav>
  );
}
