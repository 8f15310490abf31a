import type { CompiledGroup, CompiledKey } from './snapshot.ts';

/** Stands for a key of the group that has no list of its own, where a question is asked of the group alone. */
export function anyKeyOf(group: CompiledGroup): CompiledKey {
  return {
    id: '',
    digest: Buffer.alloc(0),
    name: 'any',
    groupId: group.id,
    sharesGroup: false,
    enabled: true,
    expiresAtMs: null,
    limited: null,
    allowsModel: null,
  };
}
