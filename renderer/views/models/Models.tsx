/** The model names that clients can use, the route of each, and the aliases. */
import { useRef } from 'react';
import { Screen } from '../../components/layout/Screen.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { modelRouteVersion } from '../../state/control/query-versions.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useQuery } from '../../state/control/use-query.ts';
import { AliasesSection } from './aliases/AliasesSection.tsx';
import { ModelScopeSelect } from './ModelScopeSelect.tsx';
import classes from './Models.module.css';
import { ModelsSection } from './ModelsSection.tsx';
import { RouteSection } from './route/RouteSection.tsx';
import { scopeQuery } from './route/scope-query.ts';
import { useModelsAddress } from './use-models-address.ts';

export function Models() {
  const { models: names } = useMessages();
  const isWithoutAliases = useControlState(({ views }) => views?.aliases.length === 0);
  const { scope, chooseScope, model, chooseModel } = useModelsAddress();
  const field = useRef<HTMLInputElement>(null);
  const version = useControlState(modelRouteVersion);
  const models = useQuery<'models'>(scope && { type: 'models', ...scopeQuery(scope) }, version);
  const explain = (name: string) => {
    chooseModel(name);
    field.current?.focus();
  };
  return (
    <Screen
      name="models"
      lead={isWithoutAliases && names.lead}
      action={<ModelScopeSelect scope={scope} onChange={chooseScope} />}
    >
      <div className={classes.pair}>
        <div className={classes.column}>
          <RouteSection
            scope={scope}
            model={model}
            models={models.answer ?? []}
            onModel={chooseModel}
            fieldRef={field}
          />
          <AliasesSection onExplain={explain} />
        </div>
        <ModelsSection models={models} isAsked={scope !== null} onExplain={explain} />
      </div>
    </Screen>
  );
}
