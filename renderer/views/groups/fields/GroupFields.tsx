import { Button, NativeSelect, Pill, SimpleGrid, Switch, TagsInput } from '@mantine/core';
import { Link } from 'wouter';
import type { GroupView, ModelView, RefusedDefault } from '../../../../server/contract/access-views.ts';
import type { Limits } from '../../../../server/contract/limit-settings.ts';
import type { Lock } from '../../../../server/contract/lock.ts';
import { capabilities, passesThrough } from '../../../../server/contract/operations.ts';
import { CaptureSwitch, LimitFields } from '../../../components/access/AccessFields.tsx';
import { amountOf, LimitMeters } from '../../../components/access/LimitMeters.tsx';
import { limitsOf, rateNames } from '../../../components/access/limit-draft.ts';
import { CollapsibleFields } from '../../../components/forms/CollapsibleFields.tsx';
import { moveItem } from '../../../components/lists/move-item.ts';
import { SortableList } from '../../../components/lists/SortableList.tsx';
import { Lockable } from '../../../components/locks/Lockable.tsx';
import { nameOptions } from '../../../components/selects/model-options.ts';
import { SuggestField } from '../../../components/selects/SuggestField.tsx';
import { type Localization, useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import classes from '../Groups.module.css';
import { type DraftProps, inOrder, onlyProvider, orderOf, type PartProps, passthroughChoices } from './group-draft.ts';

/** The providers that the group may use and their order. `providers`: those that the filter allows. */
export function ProviderOrder({ draft, providers, change, lock }: PartProps & { providers: readonly string[] }) {
  const { groups: names } = useMessages();
  const providerName = useProviderName();
  const views = useControlState((state) => state.views?.providers ?? null) ?? [];
  const ordered = inOrder(providers, draft.order);
  const items = ordered.map((id, index) => {
    const view = views.find((provider) => provider.id === id);
    const name = providerName(id);
    return { id, name, content: <Place number={index + 1} name={name} isUsable={!view?.unusable} /> };
  });
  // What is typed may be a name, an id or a pattern.
  const idOf = (text: string) => views.find(({ id }) => providerName(id) === text)?.id ?? text;
  const allowsAll = draft.providers.includes('*');
  const first = draft.order.length > 0 ? ordered[0] : undefined;
  const allowed = allowsAll ? names.allProviders : draft.providers.map(providerName).join(', ') || names.none;
  return (
    <CollapsibleFields
      title={names.providers}
      summary={[allowed, ...(first === undefined ? [] : [names.firstProvider(providerName(first))])].join(' · ')}
      isSet={!allowsAll || draft.order.length > 0}
      lock={lock}
    >
      <TagsInput
        label={names.providerFilter}
        description={names.providerFilterHint}
        placeholder={draft.providers.length === 0 ? names.nothing : undefined}
        value={draft.providers}
        onChange={(filter) => change({ providers: [...new Set(filter.map(idOf))] })}
        data={views.map(({ id }) => ({ value: id, label: providerName(id) }))}
        renderPill={({ value = '', onRemove, disabled }) => (
          <Pill withRemoveButton={!disabled} {...(onRemove && { onRemove })}>
            {providerName(value)}
          </Pill>
        )}
        acceptValueOnBlur
      />
      <p className={classes.soft}>{names.orderHint}</p>
      <SortableList
        label={names.order}
        items={items}
        onMove={(from, to) => change({ order: orderOf(moveItem(ordered, from, to), draft.order) })}
      />
      {draft.order.length > 0 && (
        <Button size="xs" variant="default" className={classes.start} onClick={() => change({ order: [] })}>
          {names.forgetOrder}
        </Button>
      )}
    </CollapsibleFields>
  );
}

function Place({ number, name, isUsable }: { number: number; name: string; isUsable: boolean }) {
  const { groups: names } = useMessages();
  return (
    <div className={classes.place}>
      <span className={classes.placeNumber}>{number}</span>
      <span className={classes.placeName}>{name}</span>
      {!isUsable && <span className={classes.soft}>{names.notUsable}</span>}
    </div>
  );
}

interface DefaultModelsProps extends PartProps {
  models: readonly ModelView[];
  /** Defaults of the draft that the engine would refuse. */
  refused: readonly RefusedDefault[];
}

/** The default model for requests that name none, by capability. */
export function DefaultModels({ draft, models, refused, change, lock }: DefaultModelsProps) {
  const {
    groups: names,
    models: { picker },
  } = useMessages();
  const modelNames = models.map(({ id }) => id);
  const whyRefused = (each: RefusedDefault | undefined) =>
    each && (each.code === 'model_not_found' ? names.defaultOutside : names.defaultUnserved);
  const set = capabilities.filter((capability) => draft.defaults[capability]);
  const summary = set
    .map((capability) => `${names.capabilities[capability]}: ${draft.defaults[capability]}`)
    .join(' · ');
  return (
    <CollapsibleFields
      title={names.defaults}
      summary={summary || names.none}
      isSet={set.length > 0}
      // Refused defaults must be visible, even if a change to another field caused the refusal.
      isForcedOpen={refused.length > 0}
      lock={lock}
    >
      <p className={classes.soft}>{names.defaultsHint}</p>
      <SimpleGrid cols={2} spacing="sm" verticalSpacing="xs">
        {capabilities.map((capability) => (
          <SuggestField
            key={capability}
            label={names.capabilities[capability]}
            size="xs"
            value={draft.defaults[capability] ?? ''}
            error={whyRefused(refused.find((each) => each.capability === capability))}
            onChange={(model) => change({ defaults: withDefault(draft.defaults, capability, model) })}
            suggest={(typed) => nameOptions(modelNames, typed)}
            listLabel={picker.choices}
            maxLength={512}
          />
        ))}
      </SimpleGrid>
    </CollapsibleFields>
  );
}

type Defaults = DraftProps['draft']['defaults'];

/** An empty name removes the default. */
function withDefault(defaults: Defaults, capability: keyof Defaults, model: string): Defaults {
  const { [capability]: _, ...others } = defaults;
  return model === '' ? others : { ...defaults, [capability]: model };
}

interface PassthroughFieldProps extends PartProps {
  /** The provider that the draft selects; null if none, undefined until known. */
  provider: string | null | undefined;
  deletionLock: Lock | null;
}

const deletions = ['alone', 'allow', 'refuse'] as const;

/** The provider for API calls that Sluice does not serve itself: files, batches, assistants … */
export function PassthroughField({ draft, provider, change, lock, deletionLock }: PassthroughFieldProps) {
  const { groups: names } = useMessages();
  const providerName = useProviderName();
  const views = useControlState((state) => state.views?.providers ?? null) ?? [];
  const able = views.filter(({ isDemo, dialect }) => !isDemo && passesThrough[dialect]).map(({ id }) => id);
  const choices = passthroughChoices(draft, able);
  const labelOf = (choice: string | null) => {
    if (choice === onlyProvider) return names.passthroughOnly;
    return choice === null ? names.passthroughNone : providerName(choice);
  };
  const isNobody = provider === null && draft.passthrough !== null;
  const isUnset = draft.passthrough === onlyProvider;
  const whyNobody = able.length === 0 ? names.passthroughNobody : names.passthroughSeveral;
  const isRefused = isNobody && !isUnset;
  return (
    <CollapsibleFields
      title={names.passthrough}
      summary={isNobody ? names.passthroughNone : labelOf(draft.passthrough)}
      isSet={(draft.passthrough !== null && !isUnset) || draft.deleteUnknown !== 'alone'}
      isForcedOpen={isRefused}
      lock={lock}
    >
      <NativeSelect
        label={names.passthroughTo}
        description={isNobody && isUnset ? whyNobody : names.passthroughHint}
        data={choices.map((choice, index) => ({ value: String(index), label: labelOf(choice) }))}
        value={String(choices.indexOf(draft.passthrough))}
        error={isRefused && names.passthroughOutside}
        onChange={(event) => change({ passthrough: choices[Number(event.currentTarget.value)] ?? null })}
      />
      <Lockable lock={deletionLock}>
        <NativeSelect
          label={names.deleteUnknown}
          description={names.deleteUnknownHint}
          data={deletions.map((value) => ({ value, label: names.deletions[value] }))}
          value={draft.deleteUnknown}
          onChange={({ currentTarget: { value } }) =>
            change({ deleteUnknown: deletions.find((each) => each === value) ?? 'refuse' })
          }
        />
      </Lockable>
    </CollapsibleFields>
  );
}

interface GroupLimitsProps extends PartProps {
  group: GroupView;
  unpricedLock: Lock | null;
}

/** Limits of all keys of the group together, and their current use. */
export function GroupLimits({ group, draft, change, lock, unpricedLock }: GroupLimitsProps) {
  const localization = useLocalization();
  const { limits: names, groups } = localization.messages;
  const set = describeLimits(limitsOf(draft.limits), localization);
  return (
    <CollapsibleFields title={names.title} summary={set || groups.none} isSet={set !== ''} lock={lock}>
      <p className={classes.soft}>{names.groupHint}</p>
      <LimitFields limits={draft.limits} onChange={(limits) => change({ limits })} />
      <LimitMeters meters={group.limitUse} />
      <Lockable lock={unpricedLock}>
        <UnpricedField draft={draft} change={change} />
      </Lockable>
    </CollapsibleFields>
  );
}

/** `60 requests per minute · $5.00 a day`; empty if there is no limit. */
function describeLimits(limits: Limits | undefined, localization: Localization): string {
  const { messages, formats } = localization;
  const { each, budgetPer } = messages.limits;
  return [
    ...rateNames.flatMap((name) => (limits?.[name] ? [each[name](formats.number(limits[name]))] : [])),
    ...(limits?.budgets ?? []).map(({ unit, amount, per }) => budgetPer[per](amountOf(unit, amount, localization))),
  ].join(' · ');
}

/** Whether a hard budget in dollars allows models of unknown price. */
function UnpricedField({ draft, change }: DraftProps) {
  const { groups: names } = useMessages();
  return (
    <Switch
      label={names.unpriced}
      description={
        <>
          {names.unpricedHint} <Link href="/settings?section=prices">{names.setPrices}</Link>
        </>
      }
      checked={draft.unpriced === 'allow'}
      onChange={(event) => change({ unpriced: event.currentTarget.checked ? 'allow' : 'refuse' })}
    />
  );
}

/**
 * Whether requests and responses of the group's keys are captured: all of them, or those for which the client requests
 * it.
 */
export function CaptureField({ draft, change, lock }: PartProps) {
  const { groups: names } = useMessages();
  const { capture, captureOnRequest } = draft;
  const { all, onRequest, never } = names.captureSummary;
  const summary = capture ? all : captureOnRequest ? onRequest : never;
  return (
    <CollapsibleFields title={names.captureTitle} summary={summary} isSet={capture || !captureOnRequest} lock={lock}>
      <CaptureSwitch label={names.capture} isOn={capture} onChange={(isOn) => change({ capture: isOn })} />
      <Switch
        label={names.captureOnRequest}
        description={names.captureOnRequestHint}
        checked={captureOnRequest}
        onChange={(event) => change({ captureOnRequest: event.currentTarget.checked })}
      />
    </CollapsibleFields>
  );
}
