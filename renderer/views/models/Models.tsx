/** The model names that clients can use, the route of each, and the aliases. */

import { ActionIcon, Button, TextInput } from '@mantine/core';
import { IconPlayerPlay, IconSearch } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import type { ModelView } from '../../../server/contract/access-views.ts';
import { purposeOf } from '../../../server/contract/model-identity.ts';
import { CopyButton } from '../../components/copying/CopyButton.tsx';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { ConditionDot } from '../../components/feedback/Condition.tsx';
import { EmptyNote } from '../../components/feedback/EmptyNote.tsx';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import { Screen } from '../../components/layout/Screen.tsx';
import { Section } from '../../components/layout/Section.tsx';
import { type Chosen, chosenOf, chosenText, FindSelect } from '../../components/selects/FindSelect.tsx';
import { describeModel } from '../../components/selects/ModelField.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useMostUsed } from '../../state/choices/use-model-choice.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { modelRouteVersion, type QueryState, useQuery } from '../../state/control/use-query.ts';
import { useModelCondition, useProviderName } from '../../state/providers/providers.ts';
import { AliasesSection } from './aliases/AliasesSection.tsx';
import classes from './Models.module.css';
import { ModelNameButton, RouteSection, scopeQuery } from './route/RouteSection.tsx';

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

/** More are rendered only on request. */
const shortListLength = 60;

interface ModelsSectionProps {
  models: QueryState<'models'>;
  /** The key or group is known. */
  isAsked: boolean;
  onExplain(model: string): void;
}

/** The names that the chosen key or group lists, and the providers that serve them. */
function ModelsSection({ models: { answer, problem }, isAsked, onExplain }: ModelsSectionProps) {
  const { messages, formats } = useLocalization();
  const names = messages.models;
  const [search, setSearch] = useState('');
  const [showsAll, setShowsAll] = useState(false);
  const found = answer?.filter(({ id }) => id.toLowerCase().includes(search.trim().toLowerCase())) ?? [];
  const shown = showsAll ? found : found.slice(0, shortListLength);
  return (
    <Section title={names.title} count={answer ? formats.number(answer.length) : undefined}>
      <div className={classes.body}>
        {problem && <CommandProblem problem={problem} />}
        {!answer && !problem && isAsked && <ListSkeleton rows={4} rowHeight={28} />}
        {answer?.length === 0 && <EmptyNote title={names.emptyTitle} next={names.emptyNext} />}
        {answer && answer.length > 0 && (
          <TextInput
            type="search"
            aria-label={names.search}
            placeholder={names.search}
            leftSection={<IconSearch size={16} />}
            value={search}
            onChange={(event) => setSearch(event.currentTarget.value)}
          />
        )}
        <ul className={classes.models}>
          {shown.map((model) => (
            <ModelRow key={model.id} model={model} onExplain={() => onExplain(model.id)} />
          ))}
        </ul>
        {answer && answer.length > 0 && found.length === 0 && <p className={classes.soft}>{names.noneFound}</p>}
        {shown.length < found.length && (
          <Button size="xs" variant="default" className={classes.start} onClick={() => setShowsAll(true)}>
            {names.showAll(formats.number(found.length))}
          </Button>
        )}
      </div>
    </Section>
  );
}

function ModelRow({ model, onExplain }: { model: ModelView; onExplain(): void }) {
  const localization = useLocalization();
  const { models: names } = localization.messages;
  const providerName = useProviderName();
  const purpose = purposeOf(model.id);
  const facts = [model.providers.map(providerName).join(', '), describeModel(model, localization)];
  return (
    <li className={classes.model}>
      <ConditionDot condition={useModelCondition(model)} isNamed />
      <div className={classes.modelText}>
        <ModelNameButton name={model.id} onExplain={onExplain} />
        <span className={classes.modelFacts}>{facts.filter(Boolean).join(' · ')}</span>
      </div>
      {purpose && (
        <ActionIcon
          component={Link}
          href={`/playground/${purpose}?model=${encodeURIComponent(model.id)}`}
          variant="subtle"
          color="gray"
          aria-label={names.tryNamed(model.id)}
          title={names.tryNamed(model.id)}
        >
          <IconPlayerPlay size={16} aria-hidden />
        </ActionIcon>
      )}
      <CopyButton value={model.id} label={model.id} />
    </li>
  );
}
