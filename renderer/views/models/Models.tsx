/** The model names that clients can use, the route of each, and the aliases. */
import { useRef } from 'react';
import { Screen } from '../../components/Screen.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { modelRouteVersion } from '../../state/query-versions.ts';
import { useControlState } from '../../state/use-control.ts';
import { useQuery } from '../../state/use-query.ts';
import { AliasesSection } from './AliasesSection.tsx';
import { AskerSelect } from './AskerSelect.tsx';
import { askedAs } from './asker.ts';
import classes from './Models.module.css';
import { ModelsSection } from './ModelsSection.tsx';
import { RouteSection } from './RouteSection.tsx';
import { useModelsAddress } from './use-models-address.ts';

export function Models() {
  const { models: names } = useMessages();
  const isWithoutAliases = useControlState(({ views }) => views?.aliases.length === 0);
  const { asker, chooseAsker, model, chooseModel } = useModelsAddress();
  const field = useRef<HTMLInputElement>(null);
  const version = useControlState(modelRouteVersion);
  const models = useQuery<'models'>(asker && { type: 'models', ...askedAs(asker) }, version);
  const explain = (name: string) => {
    chooseModel(name);
    field.current?.focus();
  };
  return (
    <Screen
      name="models"
      lead={isWithoutAliases && names.lead}
      action={<AskerSelect asker={asker} onChange={chooseAsker} />}
    >
      <div className={classes.pair}>
        <div className={classes.column}>
          <RouteSection
            asker={asker}
            model={model}
            models={models.answer ?? []}
            onModel={chooseModel}
            fieldRef={field}
          />
          <AliasesSection onExplain={explain} />
        </div>
        <ModelsSection models={models} isAsked={asker !== null} onExplain={explain} />
      </div>
    </Screen>
  );
}
