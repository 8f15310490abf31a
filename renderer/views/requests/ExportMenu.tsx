import { Button, Menu } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useMessages } from '../../messages/use-messages.ts';
import { queryOf, type ShownFilter } from './request-filter.ts';

/** Downloads what fits the filter, as the engine streams it. In the desktop main answers the same address. */
export function ExportMenu({ filter }: { filter: ShownFilter }) {
  const { requests: names } = useMessages();
  const hrefFor = (format: 'csv' | 'jsonl') => `/control/requests.${format}${addressOf(filter)}`;
  return (
    <Menu position="bottom-end" transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<IconDownload size={14} aria-hidden />}>
          {names.export}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component="a" href={hrefFor('csv')} download>
          {names.exportCsv}
        </Menu.Item>
        <Menu.Item component="a" href={hrefFor('jsonl')} download>
          {names.exportJsonl}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function addressOf(filter: ShownFilter): string {
  const values = Object.entries(queryOf(filter, Date.now())).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(values.map(([name, value]) => [name, String(value)])).toString();
  return search && `?${search}`;
}
