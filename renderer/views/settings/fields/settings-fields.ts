/**
 * The engine's settings as form fields: how each is read as text and written back. Data only. The engine validates the
 * values; only number fields have limits here, because their text must be a number before it can be sent.
 */

import type { Settings } from '../../../../server/contract/settings.ts';
import { kibibyte, mebibyte, secondMs } from '../../../../server/contract/units.ts';
import { observabilityFields } from './observability-fields.ts';
import type { LinesField, SettingsField } from './settings-field.ts';

const largest = 1_000_000_000;

const addressFields: readonly SettingsField[] = [
  {
    name: 'host',
    kind: 'choice',
    values: ['127.0.0.1', '0.0.0.0'],
    read: ({ host }) => host,
    write: (text, changes) => {
      changes.host = text;
    },
  },
  {
    name: 'port',
    kind: 'number',
    min: 0,
    max: 65_535,
    read: ({ port }) => String(port),
    write: (text, changes) => {
      changes.port = Number(text);
    },
  },
];

const networkFields: readonly SettingsField[] = [
  lines('noProxy'),
  lines('extraCaFiles'),
  {
    name: 'systemCa',
    kind: 'choice',
    values: ['trusted', 'untrusted'],
    read: ({ systemCa }) => (systemCa ? 'trusted' : 'untrusted'),
    write: (text, changes) => {
      changes.systemCa = text === 'trusted';
    },
  },
];

const accessFields: readonly SettingsField[] = [lines('allowedHosts'), lines('allowedOrigins')];

const servingFields: readonly SettingsField[] = [
  {
    name: 'demo',
    kind: 'choice',
    values: ['auto', 'on', 'off'] satisfies Settings['demo'][],
    read: ({ demo }) => demo,
    write: (text, changes) => {
      changes.demo = text === 'on' || text === 'off' ? text : 'auto';
    },
  },
  {
    name: 'keepAliveSeconds',
    path: 'keepAliveCommentMs',
    kind: 'number',
    unit: 'seconds',
    min: 0,
    max: 3_600,
    read: ({ keepAliveCommentMs }) => String(keepAliveCommentMs / secondMs),
    write: (text, changes) => {
      changes.keepAliveCommentMs = Number(text) * secondMs;
    },
  },
  {
    name: 'jsonBodyMegabytes',
    path: 'limits.jsonBodyBytes',
    kind: 'number',
    unit: 'megabytes',
    min: 1,
    max: 1_024,
    read: ({ limits }) => inUnits(limits.jsonBodyBytes, mebibyte),
    write: (text, changes) => {
      changes.limits = { ...changes.limits, jsonBodyBytes: Number(text) * mebibyte };
    },
  },
  {
    name: 'uploadMegabytes',
    path: 'limits.multipartBodyBytes',
    kind: 'number',
    unit: 'megabytes',
    min: 1,
    max: 65_536,
    read: ({ limits }) => inUnits(limits.multipartBodyBytes, mebibyte),
    write: (text, changes) => {
      changes.limits = { ...changes.limits, multipartBodyBytes: Number(text) * mebibyte };
    },
  },
  {
    name: 'admissionRunning',
    path: 'admission.running',
    kind: 'number',
    unit: 'requests',
    min: 1,
    max: 100_000,
    read: ({ admission }) => String(admission.running),
    write: (text, changes) => {
      changes.admission = { ...changes.admission, running: Number(text) };
    },
  },
  {
    name: 'admissionWaiting',
    path: 'admission.waiting',
    kind: 'number',
    unit: 'requests',
    min: 0,
    max: 100_000,
    read: ({ admission }) => String(admission.waiting),
    write: (text, changes) => {
      changes.admission = { ...changes.admission, waiting: Number(text) };
    },
  },
  {
    name: 'admissionSeconds',
    path: 'admission.waitMs',
    kind: 'number',
    unit: 'seconds',
    min: 1,
    max: 3_600,
    read: ({ admission }) => inUnits(admission.waitMs, secondMs),
    write: (text, changes) => {
      changes.admission = { ...changes.admission, waitMs: Number(text) * secondMs };
    },
  },
  {
    name: 'admissionMegabytes',
    path: 'admission.bytes',
    kind: 'number',
    unit: 'megabytes',
    min: 0,
    max: 1_048_576,
    read: ({ admission }) => inUnits(admission.bytes, mebibyte),
    write: (text, changes) => {
      changes.admission = { ...changes.admission, bytes: Number(text) * mebibyte };
    },
  },
  {
    name: 'hardBudgets',
    path: 'sharedCounts.hardBudgets',
    isOf: ({ sharedCounts }) => sharedCounts !== null,
    kind: 'choice',
    values: ['hardBudgetsClosed', 'hardBudgetsOpen'],
    read: ({ sharedCounts }) => (sharedCounts.hardBudgets === 'open' ? 'hardBudgetsOpen' : 'hardBudgetsClosed'),
    write: (text, changes) => {
      changes.sharedCounts = { hardBudgets: text === 'hardBudgetsOpen' ? 'open' : 'closed' };
    },
  },
];

const recordFields: readonly SettingsField[] = [
  {
    name: 'retentionDays',
    path: 'ledger.retentionDays',
    kind: 'number',
    unit: 'days',
    min: 1,
    max: 36_500,
    read: ({ ledger }) => String(ledger.retentionDays),
    write: (text, changes) => {
      changes.ledger = { ...changes.ledger, retentionDays: Number(text) };
    },
  },
  {
    name: 'retentionRows',
    path: 'ledger.retentionRows',
    kind: 'number',
    unit: 'requests',
    min: 1,
    max: largest,
    read: ({ ledger }) => String(ledger.retentionRows),
    write: (text, changes) => {
      changes.ledger = { ...changes.ledger, retentionRows: Number(text) };
    },
  },
  {
    name: 'sessions',
    kind: 'choice',
    values: ['namedSessions', 'allSessions', 'off'],
    read: ({ sessions }) => (sessions === 'off' ? 'off' : `${sessions}Sessions`),
    write: (text, changes) => {
      changes.sessions = text === 'off' ? 'off' : text === 'allSessions' ? 'all' : 'named';
    },
  },
  sessionAmount('sessionNotifyAt', 'notifyAtUsd'),
  sessionAmount('sessionStopAt', 'stopAtUsd'),
  {
    name: 'captureKilobytes',
    path: 'capture.maxBytes',
    kind: 'number',
    unit: 'kilobytes',
    min: 1,
    max: 1_048_576,
    read: ({ capture }) => inUnits(capture.maxBytes, kibibyte),
    write: (text, changes) => {
      changes.capture = { ...changes.capture, maxBytes: Number(text) * kibibyte };
    },
  },
  {
    name: 'captureDays',
    path: 'capture.retentionDays',
    kind: 'number',
    unit: 'days',
    min: 1,
    max: 36_500,
    read: ({ capture }) => String(capture.retentionDays),
    write: (text, changes) => {
      changes.capture = { ...changes.capture, retentionDays: Number(text) };
    },
  },
];

export const settingsParts = {
  address: addressFields,
  network: networkFields,
  access: accessFields,
  serving: servingFields,
  records: recordFields,
  observability: observabilityFields,
} as const;

/** The fields that apply to this installation. */
export function fieldsOf(
  part: keyof typeof settingsParts,
  status: Parameters<NonNullable<SettingsField['isOf']>>[0],
): readonly SettingsField[] {
  const fields: readonly SettingsField[] = settingsParts[part];
  return fields.filter(({ isOf }) => isOf?.(status) ?? true);
}

function lines(name: 'extraCaFiles' | 'noProxy' | 'allowedHosts' | 'allowedOrigins'): LinesField {
  return {
    name,
    kind: 'lines',
    read: (settings) => settings[name].join('\n'),
    write(text, changes) {
      changes[name] = text
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '');
    },
  };
}

function sessionAmount(
  name: 'sessionNotifyAt' | 'sessionStopAt',
  setting: keyof Settings['sessionBudget'],
): SettingsField {
  return {
    name,
    path: `sessionBudget.${setting}`,
    kind: 'amount',
    unit: 'dollars',
    read: ({ sessionBudget }) => String(sessionBudget[setting] ?? ''),
    write: (text, changes) => {
      changes.sessionBudget = { ...changes.sessionBudget, [setting]: text.trim() === '' ? null : Number(text) };
    },
  };
}

function inUnits(bytes: number, unitBytes: number): string {
  return String(bytes / unitBytes);
}
