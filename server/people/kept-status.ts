/** What a person sees of the program's state: who is no administrator, nothing of the machine, the settings and other groups. Pure. */
import { type Settings, settingsSchema } from '../contract/settings.ts';
import type { LedgerHealthView, StatusView } from '../contract/status-views.ts';
import { isOf } from './command-needs.ts';
import type { Sight } from './sight.ts';

/** Addresses, paths and names of variables stand in settings, so none is told. */
const nothingSet: Settings = settingsSchema.parse({});

const plainHealth: Omit<LedgerHealthView, 'ok'> = {
  pending: 0,
  spooled: 0,
  dropped: 0,
  lastError: null,
  budgetsError: null,
  replaced: null,
};

export function keptStatus(status: StatusView, sight: Sight): StatusView {
  const { person } = sight;
  if (sight.isAll) return { ...status, person };
  const { version, instanceId, startedAt, baseUrl, revision, readOnly, demoIsRunning } = status;
  return {
    ...{ version, instanceId, startedAt, baseUrl, revision, readOnly, demoIsRunning },
    person,
    pid: 0,
    givenAddress: [],
    configReplaced: null,
    settings: nothingSet,
    secretStore: null,
    secretStoreKind: null,
    ledger: { ok: status.ledger.ok, ...plainHealth },
    capture: status.capture.filter(isOf(sight)),
    faults: status.faults.filter(isOf(sight)),
    standstill: null,
    sharedCounts: null,
    team: { presets: [], locks: [] },
  };
}
