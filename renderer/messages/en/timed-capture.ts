import { counted } from '../../../server/contract/units.ts';
import type { AuditActions } from './audit-actions.ts';

/** Capture of requests for the next few minutes. */
export const timedCapture = {
  act: 'Capture',
  /** Shown on every screen while it runs. */
  mark: 'Capturing',
  hint: (minutes: string, days: string) =>
    `Capture headers and bodies for the next ${counted(minutes, 'minute')}. They are deleted after ${counted(days, 'day')}.`,
  all: 'All requests',
  next: 'The next request',
  group: (name: string) => `Group ${name}`,
  key: (name: string) => `Key ${name}`,
  oneOfMany: 'A group or key…',
  choose: 'Capture a group or key',
  whose: 'Requests of',
  running: (what: string, left: string) => `Capturing: ${what} · ${left} left`,
  one: 'To capture a single request, have its client send the header x-sluice-capture: on.',
  stop: 'Stop',
  stopOf: (what: string) => `Stop capturing: ${what}`,
};

export const captureActions: AuditActions<'capture'> = {
  'capture.start': (target) => `started a capture ${target}`,
  'capture.stop': (target) => `stopped a capture ${target}`,
};
