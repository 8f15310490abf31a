import type { AuditActions } from './audit-actions.ts';

export const faults = {
  /** The bar shown on every screen. */
  on: 'Faults are on.',
  running: (what: string, whom: string, end: string) => `${what} for ${whom}, until ${end}.`,
  profile: (name: string) => `Profile ${name}`,
  key: (name: string) => `key ${name}`,
  group: (name: string) => `group ${name}`,
  why: 'Requests fail on purpose; no provider is to blame.',
  stop: 'Stop',
  stopOf: (whom: string) => `Stop faults for ${whom}`,
  part: 'Faults on purpose',
  /** `whom`: a key or group. */
  lead: (whom: string) =>
    `Requests of ${whom} meet errors, delays and broken streams, so that you can see how the program copes. They end by themselves.`,
  profileLabel: 'Profile',
  profiles: {
    rough: 'rough: faults in about half the requests',
    'rate-limited': 'rate-limited: two of five requests get 429',
    outage: 'outage: no request is answered',
    slow: 'slow: answers begin late and come slowly',
    'flaky-streams': 'flaky-streams: about half the streams break',
  },
  ownRules: 'Custom rules',
  rulesLabel: 'Rules',
  rulesHint: 'One on each line, such as cut;after=5;share=0.1. “sluice faults list” lists all faults.',
  minutes: 'How long',
  spans: { 5: '5 minutes', 10: '10 minutes', 30: '30 minutes', 60: '1 hour' },
  start: 'Start',
  /** Settings of a key. */
  ask: 'Let requests ask for faults',
  askHint: 'By sending the header x-sluice-fault, such as late-head;ms=500, stall;after=40.',
  /** Facts about a request. */
  fact: 'Fault on purpose',
  mark: (name: string) => `fault: ${name}`,
  met: (name: string) => `A fault on purpose: ${name}`,
  metText: 'It was switched on, or the request asked for it. It is not counted as an error of any provider.',
};

/** The drawer with what helps to test a program. */
export const testing = {
  title: 'Testing',
  open: 'Testing…',
  of: (name: string) => `Testing of ${name}`,
  subject: 'Key or group',
  kinds: { key: 'Keys', group: 'Groups' },
  all: 'All that is on',
  nothing: 'Nothing is on',
  nothingNext:
    'Choose a key or group to give its requests faults, to record or replay them, or to answer equal ones from memory.',
  change: 'Change',
  changeOf: (name: string) => `Change the tests of ${name}`,
  isOn: (what: string) => `On now: ${what}`,
  faultsUntil: (what: string, end: string) => `faults (${what}) until ${end}`,
  faultsAsked: 'requests may ask for faults',
  cache: (size: string) => `cache of up to ${size}`,
};

export const faultActions: AuditActions<'faults'> = {
  'faults.start': (target) => `started faults on purpose ${target}`,
  'faults.stop': (target) => `stopped faults on purpose ${target}`,
};
