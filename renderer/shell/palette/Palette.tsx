/** All actions of the window by name, opened by a shortcut above any screen. */
import { Modal } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { asControlError, type ControlError } from '../../state/api/api.ts';
import { announce } from '../../state/window/announcement.ts';
import { useHashLocation } from '../../state/window/hash-location.ts';
import { overlay, overlayLevel } from '../../state/window/overlay.ts';
import { isComposing } from '../../state/window/shortcuts.ts';
import { KeyCap } from './KeyCap.tsx';
import classes from './Palette.module.css';
import { type PaletteEntry, type PaletteSection, rememberEntry } from './palette-entry.ts';
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

const listId = 'palette-list';
/** Ids of entries contain model names, whose characters are not all allowed in element ids. */
const optionIdOf = (entryId: string) => `palette-${encodeURIComponent(entryId)}`;

interface PaletteListProps {
  sections: readonly PaletteSection[];
  activeId: string | null;
  /** Called when the pointer moves over an entry. */
  onPoint(id: string): void;
  onRun(entry: PaletteEntry): void;
}

function PaletteList({ sections, activeId, onPoint, onRun }: PaletteListProps) {
  const { palette: names } = useMessages();
  return (
    <div className={classes.list} id={listId} role="listbox" aria-label={names.results} tabIndex={-1}>
      {sections.map((section) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is no part of a listbox.
        <div key={section.name} role="group" aria-labelledby={`palette-section-${section.name}`}>
          <div className={classes.section} id={`palette-section-${section.name}`} role="presentation">
            {names.sections[section.name]}
          </div>
          {section.entries.map((entry) => (
            <Option
              key={entry.id}
              entry={entry}
              isActive={entry.id === activeId}
              onPoint={() => onPoint(entry.id)}
              onRun={() => onRun(entry)}
            />
          ))}
        </div>
      ))}
    </div>
  );
}

interface OptionProps {
  entry: PaletteEntry;
  isActive: boolean;
  onPoint(): void;
  onRun(): void;
}

function Option({ entry, isActive, onPoint, onRun }: OptionProps) {
  const { label, detail, blocked, Icon } = entry;
  return (
    // Not focusable, because the keys are handled by the input, which keeps the focus.
    <button
      type="button"
      className={classes.option}
      id={optionIdOf(entry.id)}
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      aria-disabled={blocked ? true : undefined}
      onMouseMove={isActive ? undefined : onPoint}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onRun}
    >
      <Icon className={classes.icon} size={16} aria-hidden />
      <span className={classes.label}>{label}</span>
      {(blocked || detail) && <span className={classes.detail}>{blocked ?? detail}</span>}
    </button>
  );
}

interface EntryRunner {
  run(entry: PaletteEntry): void;
  isRunning: boolean;
  /** Why the last entry failed, which leaves the palette open; null if it did not. */
  problem: ControlError | null;
}

/**
 * Runs an entry and closes the palette. An entry that cannot be run now leaves it open, with the reason shown in its
 * row.
 */
function useEntryRunner(): EntryRunner {
  const [, navigate] = useHashLocation();
  const [isRunning, setRunning] = useState(false);
  const [problem, setProblem] = useState<ControlError | null>(null);
  const work = async (action: () => Promise<string>) => {
    setRunning(true);
    setProblem(null);
    try {
      const done = await action();
      overlay.close();
      announce(done);
    } catch (error) {
      setProblem(asControlError(error));
      setRunning(false);
    }
  };
  return {
    run({ id, blocked, act }) {
      if (blocked || isRunning) return;
      rememberEntry(id);
      if ('work' in act) {
        void work(act.work);
        return;
      }
      // First, so that the next screen, or the question about unsaved edits, can take the focus.
      overlay.close();
      if ('run' in act) act.run();
      else navigate(act.href, { remount: true });
    },
    isRunning,
    problem,
  };
}
