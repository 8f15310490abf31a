/** Which names clients can use, where each leads, and the names of one's own. */
import { useRef, useState } from 'react';
import { Screen } from '../../components/Screen.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import { AliasesSection } from './AliasesSection.tsx';
import { AskerSelect } from './AskerSelect.tsx';
import type { Asker } from './asker.ts';
import classes from './Models.module.css';
import { ModelsSection } from './ModelsSection.tsx';
import { RouteSection } from './RouteSection.tsx';

export function Models() {
  const { models: names } = useMessages();
  const isWithoutAliases = useControlState(({ views }) => views?.aliases.length === 0);
  const [asker, setAsker] = useAsker();
  const [model, setModel] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const explain = (name: string) => {
    setModel(name);
    field.current?.focus();
  };
  return (
    <Screen
      name="models"
      lead={isWithoutAliases && names.lead}
      action={<AskerSelect asker={asker} onChange={setAsker} />}
    >
      <div className={classes.pair}>
        <div className={classes.column}>
          <RouteSection asker={asker} model={model} onModel={setModel} fieldRef={field} />
          <AliasesSection onExplain={explain} />
        </div>
        <ModelsSection asker={asker} onExplain={explain} />
      </div>
    </Screen>
  );
}

/** The first group until another one is chosen; null while there is none. */
function useAsker(): [Asker | null, (asker: Asker) => void] {
  const first = useControlState((state) => state.views?.groups[0]?.id ?? null);
  const [chosen, setChosen] = useState<Asker | null>(null);
  return [chosen ?? (first === null ? null : { type: 'group', id: first }), setChosen];
}
