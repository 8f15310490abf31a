/** The model names that clients can use, the route of each, and the aliases. */
import { useRef } from 'react';
import { useLocation, useSearch } from 'wouter';
import { Screen } from '../../components/layout/Screen.tsx';
import { type Chosen, chosenOf, chosenText } from '../../components/selects/chosen.ts';
import { FindSelect } from '../../components/selects/FindSelect.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useMostUsed } from '../../state/choices/use-model-choice.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { modelRouteVersion, useQuery } from '../../state/control/use-query.ts';
import { AliasesSection } from './aliases/AliasesSection.tsx';
import classes from './Models.module.css';
import { ModelsSection } from './ModelsSection.tsx';
import { RouteSection } from './route/RouteSection.tsx';
import { scopeQuery } from './route/scope-query.ts';

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

interface ModelScopeSelectProps {
  scope: Chosen | null;
  onChange(scope: Chosen): void;
}

/** The key or group for which the models are listed and explained. */
function ModelScopeSelect({ scope, onChange }: ModelScopeSelectProps) {
  const { models: names } = useMessages();
  return (
    <FindSelect
      className={classes.scope}
      size="xs"
      kinds={['group', 'key']}
      label={names.asker}
      chosen={scope}
      onChange={(chosen) => chosen && onChange(chosen)}
    />
  );
}

interface ModelsAddress {
  /** The first group until another one is chosen; null while there is none. */
  scope: Chosen | null;
  chooseScope(scope: Chosen): void;
  /** Whose route is shown: the most used one until another is named. */
  model: string;
  chooseModel(model: string): void;
}

/**
 * The key or group for which models are shown, and the model that is explained. Both are part of the address:
 * `/models?for=key:k1&model=gpt-5`.
 */
function useModelsAddress(): ModelsAddress {
  const search = new URLSearchParams(useSearch());
  const [path, goTo] = useLocation();
  const first = useControlState((state) => state.views?.groups[0]?.id ?? null);
  const mostUsed = useMostUsed();
  const change = (name: 'for' | 'model', value: string) => {
    const next = new URLSearchParams(search);
    next.set(name, value);
    goTo(`${path}?${next}`, { replace: true });
  };
  return {
    scope: chosenOf(search.get('for') ?? '') ?? (first === null ? null : { kind: 'group', id: first }),
    chooseScope: (scope) => change('for', chosenText(scope)),
    model: search.get('model') ?? mostUsed?.[0] ?? '',
    chooseModel: (model) => change('model', model),
  };
}
