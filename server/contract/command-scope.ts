/** The scope of a command: the requests of a group, of a key, or all. */
import { idSchema } from './config.ts';

/** At most one of the two; with neither, all requests. */
export const commandScope = { group: idSchema.optional(), key: idSchema.optional() };

export const hasOneScope = ({ group, key }: { group?: string | undefined; key?: string | undefined }) =>
  group === undefined || key === undefined;
export const tooManyScopes = { error: 'name a group or a key, not both', path: ['key'] };
