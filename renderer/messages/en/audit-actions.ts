import type { CommandType } from '../../../server/contract/commands.ts';
import type { ScimAction } from '../../../server/contract/people-views.ts';

type Action = CommandType | 'sign-in' | 'left' | 'request.read' | ScimAction;

/** What somebody did, preceded by their name; for each command of the subjects (`alias` has `alias.put`), or for all. */
export type AuditActions<Subject extends string = string> = Record<
  Extract<Action, Subject | `${Subject}.${string}`>,
  (target: string) => string
>;
