/** Requests without a valid key, which appear in no list of requests. They reveal programs with a wrong key. */

import type { RefusalView } from '../contract/request-views.ts';
import { hourMs } from '../contract/units.ts';
import type { Control } from './control.ts';
import { isAdmin } from './role.ts';
import { localTime } from './shown.ts';

/** None for a person who may not see them. */
export async function recentRefusals(control: Control): Promise<RefusalView[]> {
  if (!(await isAdmin(control))) return [];
  return control.query({ type: 'refusals', sinceMs: Date.now() - hourMs });
}

export function describeRefusal({ reason, requests, lastAt, lastClient }: RefusalView): string {
  const from = lastClient === null ? '' : ` from "${lastClient}"`;
  return `Refused without a valid key in the last hour: ${requests} (${reason}), the last ${localTime(lastAt)}${from}.`;
}
