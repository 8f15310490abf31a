import type { CompiledGroup, CompiledKey } from './snapshot.ts';

/** A key without model restrictions, for questions about the group alone. */
export function anyKeyOf(group: CompiledGroup): CompiledKey {
  return {
    id: '',
    digest: Buffer.alloc(0),
    name: 'any',
    groupId: group.id,
    capture: false,
    faults: false,
    cassette: null,
    sharesGroup: false,
    enabled: true,
    expiresAtMs: null,
    limited: null,
    allowsModel: null,
    aliases: null,
    replacedAtMs: null,
  };
}
