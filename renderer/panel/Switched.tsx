import { useState } from 'react';
import type { CommandInput } from '../../server/contract/commands.ts';
import classes from './Panel.module.css';
import { usePanelWords } from './panel-words.tsx';
import { aliasFor, type Choosing, type Chosen } from './switch-target.ts';
import type { PanelActions } from './use-panel.ts';

/** A choice that was made, and what takes it back. */
export interface SwitchedTarget extends Chosen {
  name: string;
  undo: CommandInput;
}

/** Changes an alias, or adds or removes it, and keeps what takes the last change back. */
export function useSwitching({ run }: Pick<PanelActions, 'run'>) {
  const [switched, setSwitched] = useState<SwitchedTarget | null>(null);
  return {
    switched,
    /** Resolves with whether it was done. */
    async choose(choosing: Choosing, { choice, onlyKey }: Chosen): Promise<boolean> {
      const { name, own } = choosing;
      const key = onlyKey?.id;
      const before = onlyKey ? own : choosing.alias;
      const put = (alias: Choosing['alias'], expectedRevision?: number): CommandInput =>
        alias
          ? { type: 'alias.put', alias, key, expectedRevision }
          : { type: 'alias.remove', name, key, expectedRevision };
      const base = { ...choosing, alias: before ?? choosing.alias };
      const result = await run(put(choice && aliasFor(base, choice)));
      if (!result) return false;
      // Refused if the configuration has changed since, as it is then another's change that would be taken back.
      const expectedRevision = 'revision' in result ? result.revision : undefined;
      setSwitched({ name, choice, onlyKey, undo: put(before, expectedRevision) });
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
  switched: SwitchedTarget;
  canChange: boolean;
  onUndo(): void;
}

export function Switched({ switched, canChange, onUndo }: SwitchedProps) {
  const texts = usePanelWords().messages.panel;
  return (
    <div className={classes.switched} role="status">
      <span>{describe(switched, texts)}</span>
      <button type="button" className={`${classes.act} ${classes.open}`} disabled={!canChange} onClick={onUndo}>
        {texts.undo}
      </button>
    </div>
  );
}

type Texts = ReturnType<typeof usePanelWords>['messages']['panel'];

function describe({ name, choice, onlyKey }: SwitchedTarget, texts: Texts): string {
  const key = onlyKey?.name ?? '';
  if (!choice) return texts.switchedBack(name, key);
  const { model, providerName } = choice;
  return onlyKey ? texts.switchedForKey(name, model, providerName, key) : texts.switched(name, model, providerName);
}
