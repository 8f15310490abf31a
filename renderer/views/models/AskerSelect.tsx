import { NativeSelect } from '@mantine/core';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import type { Asker } from './asker.ts';
import classes from './Models.module.css';

interface AskerSelectProps {
  asker: Asker | null;
  onChange(asker: Asker): void;
}

/** The key or group for which the models are listed and explained. */
export function AskerSelect({ asker, onChange }: AskerSelectProps) {
  const { models: names } = useMessages();
  const groups = useControlState((state) => state.views?.groups ?? null) ?? [];
  const keys = useControlState((state) => state.views?.keys ?? null) ?? [];
  const choose = (value: string) => {
    const [type, id = ''] = value.split(':');
    onChange({ type: type === 'key' ? 'key' : 'group', id });
  };
  const items = (type: Asker['type'], list: readonly { id: string; name?: string | null | undefined }[]) =>
    list.map(({ id, name }) => ({ value: `${type}:${id}`, label: name ?? id }));
  return (
    <NativeSelect
      className={classes.asker}
      size="xs"
      label={names.asker}
      value={asker ? `${asker.type}:${asker.id}` : ''}
      onChange={(event) => choose(event.currentTarget.value)}
      data={[
        { group: names.groups, items: items('group', groups) },
        { group: names.keys, items: items('key', keys) },
      ]}
    />
  );
}
