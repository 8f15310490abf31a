import { Menu } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { MenuButton } from '../../components/buttons/IconAction.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { addressOf, queryOf, type ShownFilter } from '../../state/requests/request-filter.ts';

/** Downloads the filtered requests as the engine streams them. On the desktop, main answers the same address. */
export function ExportMenu({ filter }: { filter: ShownFilter }) {
  const { requests: names } = useMessages();
  const hrefFor = (format: 'csv' | 'jsonl') => `/control/requests.${format}${addressOf(queryOf(filter, Date.now()))}`;
  return (
    <MenuButton label={names.export} icon={<IconDownload size={14} aria-hidden />} side="end">
      <Menu.Item component="a" href={hrefFor('csv')} download>
        {names.exportCsv}
      </Menu.Item>
      <Menu.Item component="a" href={hrefFor('jsonl')} download>
        {names.exportJsonl}
      </Menu.Item>
    </MenuButton>
  );
}
