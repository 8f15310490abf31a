import { Modal } from '@mantine/core';
import { Fragment, type KeyboardEvent } from 'react';
import { useMessages } from '../../messages/use-messages.ts';
import { usePlaces } from '../../state/rights/use-rights.ts';
import { overlay, overlayLevel } from '../../state/window/overlay.ts';
import { goKeyCaps, keyCaps, type Shortcut, shortcutScopes, shortcuts } from '../../state/window/shortcuts.ts';
import { KeyCap } from './KeyCap.tsx';
import classes from './ShortcutSheet.module.css';

/** Escape is meant for the sheet, not for a dialog below it. */
const ownEscape = { 'data-mantine-stop-propagation': 'true' };

/** All shortcuts by scope. */
export function ShortcutSheet() {
  const { shortcuts: names, close } = useMessages();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    overlay.close();
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <Modal
      opened
      onClose={overlay.close}
      closeOnEscape={false}
      returnFocus={false}
      title={names.title}
      centered
      zIndex={overlayLevel}
      transitionProps={{ duration: 0 }}
      closeButtonProps={{ 'aria-label': close, ...ownEscape }}
      attributes={{ header: { role: 'presentation' }, content: ownEscape }}
      styles={{ title: { fontWeight: 600, fontSize: 'var(--mantine-font-size-lg)' } }}
      onKeyDown={onKeyDown}
    >
      <p className={classes.lead}>{names.lead}</p>
      {shortcutScopes.map((scope) => (
        <section key={scope} aria-label={names.scopes[scope]}>
          <h3 className={classes.scope}>{names.scopes[scope]}</h3>
          <dl className={classes.list}>
            {shortcuts
              .filter((shortcut) => shortcut.scope === scope)
              .map((shortcut) => (
                <div key={shortcut.name} className={classes.row}>
                  <dt>{names.names[shortcut.name]}</dt>
                  <dd className={classes.keys}>
                    <Keys shortcut={shortcut} />
                  </dd>
                </div>
              ))}
          </dl>
        </section>
      ))}
      <PlaceKeys />
    </Modal>
  );
}

/** G and a letter, one after the other. */
function PlaceKeys() {
  const { shortcuts: names, places } = useMessages();
  return (
    <section aria-label={names.places}>
      <h3 className={classes.scope}>{names.places}</h3>
      <dl className={classes.list}>
        {usePlaces().map((place) => (
          <div key={place.id} className={classes.row}>
            <dt>{places[place.id]}</dt>
            <dd className={classes.keys}>
              {goKeyCaps(place).map((cap, index) => (
                <Fragment key={cap}>
                  {index > 0 && ` ${names.andThen} `}
                  <KeyCap cap={cap} />
                </Fragment>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Keys({ shortcut }: { shortcut: Shortcut }) {
  const { or } = useMessages().shortcuts;
  return keyCaps(shortcut).map((cap, index) => (
    <Fragment key={cap}>
      {index > 0 && ` ${or} `}
      <KeyCap cap={cap} />
    </Fragment>
  ));
}
