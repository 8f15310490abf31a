import { useState } from 'react';
import type { CommandInput } from '../../server/contract/commands.ts';
import classes from './Panel.module.css';
import { usePanelWords } from './panel-words.tsx';
import { aliasFor, type Choice, type Choosing } from './switch-target.ts';
import type { PanelActions } from './use-panel.ts';

/** A choice that was made, and what takes it back. */
export interface SwitchedTarget {
  name: string;
  choice: Choice;
  undo: CommandInput;
}

/** Changes an alias, or adds it, and keeps what takes the last change back. */
export function useSwitching({ run }: Pick<PanelActions, 'run'>) {
  const [switched, setSwitched] = useState<SwitchedTarget | null>(null);
  return {
    switched,
    /** Resolves with whether it was done. */
    async choose({ choosing, choice }: { choosing: Choosing; choice: Choice }): Promise<boolean> {
      const { alias, name } = choosing;
      const result = await run({ type: 'alias.put', alias: aliasFor(choosing, choice) });
      if (!result) return false;
      // Refused if the configuration has changed since, as it is then another's change that would be taken back.
      const expectedRevision = 'revision' in result ? result.revision : undefined;
      const undo: CommandInput = alias
        ? { type: 'alias.put', alias, expectedRevision }
        : { type: 'alias.remove', name, expectedRevision };
      setSwitched({ name, choice, undo });
      return true;
    },
    async undo(): Promise<void> {
      if (!switched) return;
      setSwitched(null);
      await run(switched.undo);
    },
  };
}

interface SwitchedProps {
  choice: SwitchedTarget;
  canChange: boolean;
  onUndo(): void;
}

export function Switched({ choice: { name, choice }, canChange, onUndo }: SwitchedProps) {
  const texts = usePanelWords().messages.panel;
  return (
    <div className={classes.switched} role="status">
      <span>{texts.switched(name, choice.model, choice.providerName)}</span>
      <button type="button" className={`${classes.act} ${classes.open}`} disabled={!canChange} onClick={onUndo}>
        {texts.undo}
      </button>
    </div>
  );
}
