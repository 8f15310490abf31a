/**
 * The part of the status that is visible to a person: without the machine, the settings and other groups, except for an
 * administrator. Pure.
 */
import { type Settings, settingsSchema } from '../../contract/settings.ts';
import type { LedgerHealthView, StatusView } from '../../contract/status-views.ts';
import { isVisibleScope } from './command-needs.ts';
import type { Visibility } from './visibility.ts';

/** Settings contain addresses, paths and names of variables, so none are disclosed. */
const nothingSet: Settings = settingsSchema.parse({});

const plainHealth: Omit<LedgerHealthView, 'ok'> = {
  pending: 0,
  spooled: 0,
  dropped: 0,
  lastError: null,
  budgetsError: null,
  replaced: null,
};

export function visibleStatus(status: StatusView, visibility: Visibility): StatusView {
  const { person } = visibility;
  if (visibility.isAll) return { ...status, person };
  const { version, instanceId, startedAt, baseUrl, revision, readOnly, demoIsRunning, currency } = status;
  return {
    ...{ version, instanceId, startedAt, baseUrl, revision, readOnly, demoIsRunning, currency },
    person,
    pid: 0,
    listensAt: null,
    givenAddress: [],
    configReplaced: null,
    removedFields: [],
    settings: nothingSet,
    secretStore: null,
    secretStoreKind: null,
    ledger: { ok: status.ledger.ok, ...plainHealth },
    capture: status.capture.filter(isVisibleScope(visibility)),
    recentCapture: null,
    faults: status.faults.filter(isVisibleScope(visibility)),
    standstill: null,
    sharedCounts: null,
    team: { presets: [], locks: [] },
  };
}
