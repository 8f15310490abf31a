/** The menu of a client: who answers for the model that it asks for, and everything that could. */

import { IconArrowLeft, IconCheck, IconLock } from '@tabler/icons-react';
import { useEffect, useId, useState } from 'react';
import type { CommandInput } from '../../server/contract/commands.ts';
import { nameOfClient } from '../../server/contract/known-clients.ts';
import type { PanelClient, PanelModel } from '../../server/contract/panel-view.ts';
import { conditionOfTarget, isUnwell, toneOf } from '../../server/contract/provider-condition.ts';
import type { ProviderView } from '../../server/contract/provider-views.ts';
import { describeProblem, Problem } from '../components/feedback/CommandProblem.tsx';
import { asControlError, type ControlApi, type ControlError } from '../state/api/api.ts';
import { useNow } from '../state/window/use-now.ts';
import classes from './Panel.module.css';
import type { PanelActions } from './panel-store.ts';
import { usePanelWords } from './panel-words.tsx';
import rows from './Rows.module.css';
import { nameOfSharing } from './Rows.tsx';
import { aliasFor, type Choice, type Choosing, type Chosen, choicesOf, found } from './switch-target.ts';

interface SwitchViewProps {
  client: PanelClient;
  canChange: boolean;
  query: ControlApi['query'];
  onChoose(choosing: Choosing, chosen: Chosen): void;
  onBack(): void;
}

/** Enough to choose from; what is further down is found by its name. */
const mostShown = 30;

export function SwitchView({ client, canChange, query, onChoose, onBack }: SwitchViewProps) {
  const { messages } = usePanelWords();
  const texts = messages.panel;
  const [name, setName] = useState(client.models[0]?.model ?? '');
  const model = client.models.find((each) => each.model === name);
  return (
    <section className={classes.view} aria-label={texts.answersFor(nameOfClient(client.client))}>
      <div className={classes.head}>
        <button type="button" className={classes.back} aria-label={texts.back} onClick={onBack}>
          <IconArrowLeft size={16} aria-hidden />
        </button>
        <h2 className={rows.cut}>{nameOfClient(client.client)}</h2>
      </div>
      {client.models.length > 1 && (
        <div className={classes.models}>
          {client.models.map((each) => (
            <button
              key={each.model}
              type="button"
              className={classes.model}
              aria-pressed={each.model === name}
              onClick={() => setName(each.model)}
            >
              {each.model}
            </button>
          ))}
        </div>
      )}
      {model && <Choices key={name} {...{ model, client, canChange, query, onChoose }} />}
    </section>
  );
}

interface ChoicesProps extends Omit<SwitchViewProps, 'onBack'> {
  model: PanelModel;
}

function Choices({ model, client, canChange, query, onChoose }: ChoicesProps) {
  const { messages, formats } = usePanelWords();
  const texts = messages.panel;
  const searchId = useId();
  const [text, setText] = useState('');
  const { choosing, providers, problem } = useChoosing(model.model, client.keyId, query);
  const { lock, target } = model;
  const [isOnlyForKey, setOnlyForKey] = useState(model.isOwn);
  const key = client.keyId !== null && client.keyName !== null ? { id: client.keyId, name: client.keyName } : null;
  const choices = choosing ? choicesOf(choosing) : [];
  const matches = found(choices, text);
  const isCurrent = ({ provider, model: upstream }: Choice) =>
    provider === target?.provider && upstream === target.model;
  return (
    <>
      <About model={model} isOnlyForKey={isOnlyForKey} />
      {key && !lock && (model.isOwn || client.hasOwnKey) && (
        <div className={classes.models}>
          {model.isOwn ? (
            <button
              type="button"
              className={classes.model}
              disabled={!canChange || !choosing}
              onClick={() => choosing && onChoose(choosing, { choice: null, onlyKey: key })}
            >
              {texts.asForAllKeys}
            </button>
          ) : (
            <button
              type="button"
              className={classes.model}
              aria-pressed={isOnlyForKey}
              onClick={() => setOnlyForKey(!isOnlyForKey)}
            >
              {texts.onlyForKey}
            </button>
          )}
        </div>
      )}
      {problem && <Problem text={describeProblem(problem, messages)} />}
      {choices.length > 5 && (
        <input
          className={classes.search}
          type="search"
          id={searchId}
          aria-label={texts.findModel}
          placeholder={texts.findModel}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
      )}
      <ul className={classes.choices}>
        {matches.slice(0, mostShown).map((choice) => (
          <li key={`${choice.provider}/${choice.model}`} className={rows.row}>
            <button
              type="button"
              className={`${rows.main} ${classes.choice}`}
              aria-current={isCurrent(choice) || undefined}
              disabled={!canChange || lock !== null}
              onClick={() =>
                choosing && !isCurrent(choice) && onChoose(choosing, { choice, onlyKey: isOnlyForKey ? key : null })
              }
            >
              <span className={rows.cut}>{choice.model}</span>
              <span className={rows.small}>{choice.providerName}</span>
              {isCurrent(choice) ? <IconCheck size={16} aria-hidden /> : <span />}
              <TargetCondition choice={choice} provider={providers.find(({ id }) => id === choice.provider)} />
            </button>
          </li>
        ))}
      </ul>
      {choosing && matches.length === 0 && <p className={rows.empty}>{texts.noneFound}</p>}
      {matches.length > mostShown && (
        <p className={rows.empty}>{texts.moreFound(formats.number(matches.length - mostShown))}</p>
      )}
    </>
  );
}

interface TargetConditionProps {
  choice: Choice;
  /** Undefined if an alias names one that does not exist. */
  provider: ProviderView | undefined;
}

/** Renders nothing if it is well, or if nothing is known of it. */
function TargetCondition({ choice: { model }, provider }: TargetConditionProps) {
  const texts = usePanelWords().messages.panel;
  const condition = useNow((now) => (provider ? conditionOfTarget(provider, model, now) : 'untried'));
  if (!isUnwell(condition)) return null;
  return (
    <span className={rows.condition}>
      <span className={rows.dot} data-tone={toneOf[condition]} />
      {texts.conditions[condition]}
    </span>
  );
}

/** Whom a choice concerns. */
function About({ model: { model, isAlias, isOwn, lock, sharedWith }, isOnlyForKey }: AboutProps) {
  const { messages, formats } = usePanelWords();
  const texts = messages.panel;
  const shared =
    sharedWith.length > 0 ? texts.sharedWith(formats.list(sharedWith.map(nameOfSharing))) : texts.sharedWithNone;
  return (
    <div className={classes.about}>
      <strong>{model}</strong> {isOwn ? texts.isOnlyForKey : shared}
      {!isAlias && !isOnlyForKey && !lock && ` ${texts.becomesAlias}`}
      {lock && (
        <span className={classes.lock}>
          <IconLock size={13} aria-hidden /> {texts.lockedBy(lock.by)}
        </span>
      )}
    </div>
  );
}

interface AboutProps {
  model: PanelModel;
  isOnlyForKey: boolean;
}

function useChoosing(name: string, keyId: string | null, query: ControlApi['query']) {
  const [choosing, setChoosing] = useState<Choosing | null>(null);
  const [providers, setProviders] = useState<readonly ProviderView[]>([]);
  const [problem, setProblem] = useState<ControlError | null>(null);
  useEffect(() => {
    let isCurrent = true;
    const key = keyId ?? '';
    Promise.all([
      query<'route'>({ type: 'route', key, model: name }),
      query<'models'>({ type: 'models', key }),
      query<'aliases'>({ type: 'aliases' }),
      query<'find-keys'>({ type: 'find-keys', ids: [key] }),
      query<'providers'>({ type: 'providers' }),
    ]).then(
      ([route, models, aliases, { found: keys }, all]) => {
        const alias = aliases.find((each) => each.name === name) ?? null;
        const own = keys[0]?.aliases.find((each) => each.name === name) ?? null;
        if (!isCurrent) return;
        setProviders(all);
        setChoosing({ name, alias, own, route, models });
      },
      (error: unknown) => {
        if (isCurrent) setProblem(asControlError(error));
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [name, keyId, query]);
  return { choosing, providers, problem };
}

/** A choice that was made, and what takes it back. */
interface SwitchedTarget extends Chosen {
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
