import { controlError } from '../../contract/control-error.ts';
import { GatewayError } from '../../contract/errors.ts';
import { chooseId, findById, nameSome, putById, withoutId } from '../entries/change-list.ts';
import type { Changer } from './change.ts';

export const putGroup: Changer<'group.put'> = (config, { group }) => {
  if (!group.id && !group.name) throw new GatewayError('invalid_command', 'A new group needs a name or an id.');
  const usedIds = config.groups.map((each) => each.id);
  const id = group.id ?? chooseId(undefined, [group.name], usedIds, 'group-');
  return {
    config: { ...config, groups: putById(config.groups, { ...group, id }) },
    result: ({ revision, views }) => ({ revision, group: views.group(id) }),
  };
};

export const removeGroup: Changer<'group.remove'> = (config, { id }) => {
  findById(config.groups, id, 'group');
  const keys = config.keys.filter((key) => key.group === id).map((key) => key.name ?? key.id);
  if (keys.length > 0) {
    throw controlError('conflict', { code: 'group-in-use', group: id, keys: nameSome(keys) });
  }
  return { config: { ...config, groups: withoutId(config.groups, id) }, result: ({ revision }) => ({ revision }) };
};
