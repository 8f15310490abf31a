/** All actions of the window by name, opened by a shortcut above any screen. */
import { Modal } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { overlay, overlayLevel } from '../../state/window/overlay.ts';
import { isComposing } from '../../state/window/shortcuts.ts';
import { KeyCap } from './KeyCap.tsx';
import classes from './Palette.module.css';
import { listId, optionIdOf, PaletteList } from './PaletteList.tsx';
import { useEntryRunner } from './use-entry-runner.ts';
import { usePaletteSections } from './use-palette-sections.ts';

export function Palette() {
  const { palette: names } = useMessages();
  return (
    <Modal.Root
      opened
      onClose={overlay.close}
      // Its own handler closes it without closing anything below.
      closeOnEscape={false}
      returnFocus={false}
      size={620}
      yOffset="10vh"
      xOffset={8}
      zIndex={overlayLevel}
      transitionProps={{ duration: 0 }}
    >
      <Modal.Overlay />
      <Modal.Content aria-label={names.title} className={classes.content}>
        <Modal.Body p={0} className={classes.body}>
          <Finder />
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

function Finder() {
  const { palette: names } = useMessages();
  const [search, setSearch] = useState('');
  const sections = usePaletteSections(search);
  const entries = sections.flatMap((section) => section.entries);
  const [chosenId, choose] = useState<string | null>(null);
  const active = entries.find(({ id }) => id === chosenId) ?? entries[0] ?? null;
  const { run, isRunning, problem } = useEntryRunner();
  const input = useRef<HTMLInputElement>(null);
  // Earlier than the dialog would, so that no key press is lost.
  useEffect(() => input.current?.focus(), []);
  const move = (steps: number) => {
    const index = active ? entries.indexOf(active) : 0;
    const next = entries.at((index + steps) % entries.length);
    if (!next) return;
    choose(next.id);
    document.getElementById(optionIdOf(next.id))?.scrollIntoView({ block: 'nearest' });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event.nativeEvent)) return;
    const { key } = event;
    if (key === 'Escape') overlay.close();
    else if (key === 'ArrowDown') move(1);
    else if (key === 'ArrowUp') move(-1);
    else if (key === 'Enter' && active) run(active);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <div className={classes.field}>
        <IconSearch className={classes.fieldIcon} size={18} aria-hidden />
        <input
          ref={input}
          className={classes.input}
          role="combobox"
          aria-label={names.title}
          aria-expanded={entries.length > 0}
          aria-controls={listId}
          aria-activedescendant={active ? optionIdOf(active.id) : undefined}
          aria-autocomplete="list"
          aria-busy={isRunning}
          placeholder={names.placeholder}
          value={search}
          onChange={({ currentTarget }) => {
            setSearch(currentTarget.value);
            choose(null);
            document.getElementById(listId)?.scrollTo({ top: 0 });
          }}
          onKeyDown={onKeyDown}
          maxLength={200}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          // Escape is meant for the palette, not for a dialog below it.
          data-mantine-stop-propagation="true"
        />
      </div>
      {problem && <CommandProblem problem={problem} />}
      <PaletteList sections={sections} activeId={active?.id ?? null} onPoint={choose} onRun={run} />
      <Acts />
    </>
  );
}

function Acts() {
  const { acts } = useMessages().palette;
  return (
    <div className={classes.acts} aria-hidden>
      <span>
        <KeyCap cap="↑" /> <KeyCap cap="↓" /> {acts.move}
      </span>
      <span>
        <KeyCap cap="Enter" /> {acts.run}
      </span>
      <span>
        <KeyCap cap="Esc" /> {acts.close}
      </span>
    </div>
  );
}
