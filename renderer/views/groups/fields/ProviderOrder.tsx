import { Button, Pill, TagsInput } from '@mantine/core';
import { CollapsibleFields } from '../../../components/forms/CollapsibleFields.tsx';
import { moveItem } from '../../../components/lists/move-item.ts';
import { SortableList } from '../../../components/lists/SortableList.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import classes from '../Groups.module.css';
import { inOrder, orderOf, type PartProps } from './group-draft.ts';

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
