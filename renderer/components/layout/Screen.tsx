import { ActionIcon, Button } from '@mantine/core';
import { IconArrowLeft, IconTrash } from '@tabler/icons-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import type { Lock } from '../../../server/contract/lock.ts';
import { pathOf, placeOf, type ScreenName } from '../../../server/contract/places.ts';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import type { ControlError } from '../../state/api/api.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useCanChange, useTabs } from '../../state/rights/use-rights.ts';
import { hasNavigated } from '../../state/window/hash-location.ts';
import { overlay } from '../../state/window/overlay.ts';
import { CommandProblem } from '../feedback/CommandProblem.tsx';
import { EmptyNote } from '../feedback/EmptyNote.tsx';
import { ListSkeleton } from '../feedback/ListSkeleton.tsx';
import { LockMark } from '../locks/Lockable.tsx';
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
    <div className={fills ? classes.fills : classes.screen} data-fills={fills || undefined}>
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

interface DetailScreenProps<Item> {
  /** The parent screen with the list. */
  name: 'groups' | 'providers';
  id: string;
  /** Null: there is none, or it is not known yet. */
  item: Item | null;
  /** What people call it; null with it. */
  title: string | null;
  isKnown: boolean;
  /** Why it could not be asked for. */
  problem?: ControlError | null;
  /** Against its removal. */
  lock: Lock | null;
  /** Asks for confirmation. */
  onRemove(): void;
  children(item: Item): ReactNode;
}

/** One of a list in full, with the way back and its removal; or the word that it is gone. */
export function DetailScreen<Item>(props: DetailScreenProps<Item>) {
  const { name, id, item, title, isKnown, problem, lock, onRemove, children } = props;
  const { backToAll, goneTitle, goneNext, removeOpen } = useMessages()[name];
  const canChange = useCanChange();
  const remove = item && (
    <>
      <LockMark lock={lock} />
      <Button
        size="xs"
        variant="default"
        leftSection={<IconTrash size={14} />}
        disabled={!canChange || lock !== null}
        onClick={onRemove}
      >
        {removeOpen}
      </Button>
    </>
  );
  return (
    <Screen name={name} item={{ title, listHref: pathOf(name), backLabel: backToAll }} action={remove}>
      {!isKnown && !problem && <ListSkeleton rows={3} rowHeight={120} />}
      {problem && <CommandProblem problem={problem} />}
      {isKnown && !item && <EmptyNote title={goneTitle(id)} next={goneNext} />}
      {item && children(item)}
    </Screen>
  );
}
