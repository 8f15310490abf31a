import { Menu } from '@mantine/core';
import { useLocation } from 'wouter';
import { type FilterCondition, type FilterField, withCondition } from '../../../../server/contract/request-filter.ts';
import { useMessages } from '../../../messages/use-messages.ts';
import { useNameOf } from '../../../state/control/use-found.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import type { LiveRequest } from '../../../state/requests/live-request.ts';
import { type ShownFilter, searchOf } from '../../../state/requests/request-filter.ts';
import { togglePick, usePicked } from '../diff/picked.ts';
import classes from './RequestTable.module.css';

/** Where the menu of a row was asked for, by the pointer or the keyboard. */
export interface RowMenuPlace {
  request: LiveRequest;
  /** In pixels of the window. */
  x: number;
  y: number;
}

interface RowMenuProps {
  place: RowMenuPlace;
  filter: ShownFilter;
  onClose(): void;
}

/** Selects the row to be compared, and what it can be filtered by: each of its cells that names something. */
export function RowMenu({ place: { request, x, y }, filter, onClose }: RowMenuProps) {
  const { requests: names } = useMessages();
  const [, navigate] = useLocation();
  const providerName = useProviderName();
  const { ids } = usePicked();
  const keyName = useNameOf('key', request.keyId);
  const groupName = useNameOf('group', request.groupId);
  const cells: [field: FilterField, label: string, value: string | null, name: string | null][] = [
    ['model', names.filters.model, request.modelAsked ?? request.modelServed, null],
    ['provider', names.filters.provider, request.provider, request.provider && providerName(request.provider)],
    ['key', names.filters.keyId, request.keyId, keyName],
    ['group', names.filters.groupId, request.groupId, groupName],
    ['status', names.filters.status, request.status === null ? null : String(request.status), null],
    ['client', names.filters.client, request.client, null],
  ];
  const choose = (condition: FilterCondition) =>
    navigate(`/requests${searchOf(withCondition(filter, condition) ?? filter)}`);
  return (
    <Menu
      opened
      onClose={onClose}
      position="bottom-start"
      returnFocus
      withInitialFocusPlaceholder={false}
      withinPortal
      portalProps={inMain}
    >
      <Menu.Target>
        <button
          type="button"
          className={classes.menuPlace}
          style={{ left: x, top: y }}
          tabIndex={-1}
          aria-label={names.filterByRow}
        />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => togglePick(request.id)}>
          {ids.includes(request.id) ? names.picks.unpick : names.picks.pick}
        </Menu.Item>
        <Menu.Divider />
        {cells.map(
          ([field, label, value, name]) =>
            value !== null && (
              <Menu.Item key={field} onClick={() => choose({ field, value })}>
                {names.onlyCondition(`${label}: ${name ?? value}`)}
              </Menu.Item>
            ),
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Puts the menu inside a landmark of the page. */
const inMain = { target: 'main' };
