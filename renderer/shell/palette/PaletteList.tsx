import { useMessages } from '../../messages/use-messages.ts';
import type { PaletteSection } from './find-entries.ts';
import classes from './Palette.module.css';
import type { PaletteEntry } from './palette-entry.ts';

export const listId = 'palette-list';
/** Ids of entries contain model names, whose characters are not all allowed in element ids. */
export const optionIdOf = (entryId: string) => `palette-${encodeURIComponent(entryId)}`;

interface PaletteListProps {
  sections: readonly PaletteSection[];
  activeId: string | null;
  /** Called when the pointer moves over an entry. */
  onPoint(id: string): void;
  onRun(entry: PaletteEntry): void;
}

export function PaletteList({ sections, activeId, onPoint, onRun }: PaletteListProps) {
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
