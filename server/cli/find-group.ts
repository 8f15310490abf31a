import type { GroupView } from '../contract/access-views.ts';
import type { GroupConfig } from '../contract/config.ts';
import { controlError } from '../contract/control-error.ts';
import type { Control } from './control.ts';

/** Rejects with `not_found`. */
export async function findGroup(control: Control, id: string): Promise<GroupView> {
  const found = (await control.query({ type: 'groups' })).find((each) => each.id === id);
  if (found) return found;
  throw controlError('not_found', { code: 'no-group', id }, 'group');
}

/** The group's configuration, without the fields that its view adds. */
export function configOf({ keyCount: _keys, limitUse: _use, ...group }: GroupView): GroupConfig {
  return group;
}
