import { IconSearch } from '@tabler/icons-react';
import { useMessages } from '../../messages/use-messages.ts';
import { overlay } from '../../state/window/overlay.ts';
import { isAppleKeyboard, keyCaps, shortcuts } from '../../state/window/shortcuts.ts';
import { KeyCap } from '../palette/KeyCap.tsx';
import classes from './PaletteButton.module.css';

const shortcut = shortcuts.find(({ name }) => name === 'palette');

/** Opens the command palette and shows its shortcut. An icon in a narrow window. */
export function PaletteButton() {
  const { palette: names } = useMessages();
  return (
    <button
      type="button"
      className={classes.button}
      aria-haspopup="dialog"
      aria-keyshortcuts={isAppleKeyboard ? 'Meta+K' : 'Control+K'}
      title={names.open}
      onClick={() => overlay.open('palette')}
    >
      <IconSearch className={classes.icon} size={16} aria-hidden />
      <span className={classes.text}>{names.open}</span>
      <span className={classes.keys} aria-hidden>
        {shortcut && keyCaps(shortcut).map((cap) => <KeyCap key={cap} cap={cap} />)}
      </span>
    </button>
  );
}
