import { causeText } from '../../../server/contract/causes.ts';
import { namelessUsage, ofUnknownCost, usageColumns } from '../../../server/contract/ledger.ts';
import type { SharedCountsProblem, SharedCountsView } from '../../../server/contract/replica-limits.ts';
import { counted } from '../../../server/contract/units.ts';

export const status = {
  baseUrl: 'Base URL',
  started: 'Started',
  revisionNumber: (revision: string) => `revision ${revision}`,
  secretsUnopened: 'not needed yet',
  ledger: 'Request log',
  ledgerOk: 'recording',
  ledgerDropped: (rows: number, count: string) => `${count} ${rows === 1 ? 'row' : 'rows'} lost`,
  ledgerBroken: 'not recording',
  ledgerWaits: 'kept on disk until the database is back',
};

/** The strip with the current activity. */
export const live = {
  title: 'Now',
  running: 'Running',
  tokens: 'Tokens/s',
  tokensHint: 'Output tokens per second over the last 20 seconds. A request’s tokens are known when it ends.',
  today: 'Spent today',
  callers: 'Calling now',
  nobody: 'Nobody',
  more: (count: string) => `and ${count} more`,
};

export const overview = {
  month: (cost: string) => `${cost} this month`,
  monthForecast: (cost: string, expected: string) => `${cost} this month, at this pace ${expected} by its end`,
  range: 'Time',
  ranges: { hour: '1 h', sixHours: '6 h', day: '24 h', week: '7 days', month: '30 days', quarter: '90 days' },
  usage: 'Usage',
  metrics: { requests: 'Requests', tokens: 'Tokens', cost: 'Cost', errors: 'Failure rate', firstByte: 'First byte' },
  showRequests: 'Show requests',
  tokensDetail: (input: string, output: string) => `${input} in, ${output} out`,
  /** Both without the refused ones. */
  failed: (failures: string, requests: string) => `${failures} of ${requests} failed`,
  /** Refused by Sluice with a 4xx status. */
  refused: (requests: string) => `${requests} refused, not counted`,
  p95Detail: (duration: string) => `95% within ${duration}`,
  median: 'Median',
  p95: '95th percentile',
  firstByteFigures: { together: 'All', median: 'Median of each', p95: '95% of each' },
  all: 'all',
  sum: 'Total',
  others: 'others',
  nameless: namelessUsage,
  top: 'Most used',
  by: 'Group by',
  dimensions: { model: 'Models', provider: 'Providers', key: 'Keys', group: 'Groups' },
  dimensionNames: { model: 'Model', provider: 'Provider', key: 'Key', group: 'Group' },
  columns: usageColumns,
  unpriced: ofUnknownCost,
  nobody: 'No usage in this period.',
  emptyTitle: 'No requests in this period',
  emptyNext: 'Choose a longer period, or point a program at the base URL above.',
  runningTitle: (requests: number, count: string) =>
    requests === 1 ? 'One request is running' : `${count} requests are running`,
  runningNext: 'Figures appear as requests end.',
};

/** The steps for new users. */
export const firstRun = {
  title: 'Get started',
  doneTitle: 'You’re all set',
  dismiss: 'Skip',
  finish: 'Done',
  progress: (done: string, all: string) => `${done} of ${all}`,
  progressTitle: (done: string, all: string) => `Get started: ${done} of ${all} steps`,
  done: 'done',
  address: 'Your base URL and key',
  addressText: 'They work in any program that speaks the OpenAI, Anthropic or Gemini API.',
  key: 'API key',
  showKey: 'Show key',
  hideKey: 'Hide key',
  call: 'Make a call',
  callText:
    'Run it here or paste it into a terminal. The built-in demo answers with sample replies until you add a provider.',
  ownCallText: 'Run it here or paste it into a terminal.',
  provider: 'Add a provider',
  providerText: 'OpenAI, Anthropic, Ollama or any other service, so that real models answer.',
  providerOpen: 'All services…',
  providerAddress: 'By its address…',
  found: (variables: string) => `Found in the environment: ${variables}`,
  tool: 'Connect a tool',
  toolText:
    'Codex, Cursor, Claude Code or your own program. This step is done when its first answer has come; calls by hand or from a script do not count.',
  toolOpen: 'Another tool…',
};

export const firstCall = {
  createKey: 'Create a key',
  firstKeyName: 'My first key',
  command: 'curl command',
  run: 'Run it here',
  answer: 'Answer',
  seeRequest: 'Open request',
  keyless: 'This key was not stored and cannot be shown. Create another one.',
};

export const demoNote = {
  text: 'You’re on the built-in demo (sample replies).',
  add: 'Add a provider to get real ones',
};

/** Requests whose cost a budget cannot count. */
interface Unpriced {
  name: string;
  requests: number;
  count: string;
  budget: string;
}
const unpricedText = (whose: string, { requests, count, budget }: Unpriced) =>
  `${count} ${requests === 1 ? 'request' : 'requests'} of ${whose} ${requests === 1 ? 'has' : 'have'} no known price and ` +
  `${requests === 1 ? 'does' : 'do'} not count towards its budget (${budget}).`;

const countsProblems: Record<SharedCountsProblem, string> = {
  unreachable: 'cannot be reached',
  slow: 'does not answer in time',
  'read-only': 'is read-only',
  'out-of-memory': 'is out of memory',
  'credential-refused': 'refuses the credentials',
  'not-permitted': 'does not allow scripts for this user',
  'not-ready': 'is not ready',
};

export const attention = {
  title: 'Needs attention',
  showAll: (total: string) => `Show all ${total}`,
  left: (count: string) => `Further keys and groups that need attention: ${count}.`,
  texts: {
    provider: (name: string, condition: string, why: string) => `${name}: ${condition}. ${why}`,
    credential: (name: string, credential: string, condition: string, why: string) =>
      `${name}, credential “${credential}”: ${condition}. ${why}`,
    'config-restored': (movedTo: string | null) =>
      movedTo === null
        ? 'The configuration was missing at the last start and was restored from its backup. Check that keys and settings are as you left them.'
        : `The configuration was damaged at the last start and was restored from its backup. Check that keys and settings are as you left them. The damaged file is kept as ${movedTo}.`,
    'config-lost': (movedTo: string | null) =>
      movedTo === null
        ? 'The configuration was missing at the last start and had no usable backup: Sluice began with an empty one.'
        : `The configuration was damaged at the last start and had no usable backup: Sluice began with an empty one. The damaged file is kept as ${movedTo}.`,
    'counts-away': ({ address, problem, replicas }: SharedCountsView, since: string, isClosed: boolean) =>
      `Limits are not shared: ${address} ${countsProblems[problem ?? 'unreachable']} (since ${since}). ` +
      `${replicas === 1 ? 'This replica counts alone' : `Each of ${replicas} replicas allows an equal part of every limit`}. ` +
      `${isClosed ? 'Requests under a hard budget are refused.' : 'Hard budgets are split as well.'}`,
    'ledger-broken': (reason: string) => `Requests are not being recorded. ${causeText(reason)}`,
    'ledger-waits': (rows: string, reason: string) =>
      `The database cannot be written, so requests are kept on this replica’s disk until it can (${counted(rows, 'request')} so far). ${causeText(reason)}`,
    'ledger-dropped': (rows: string) => `${counted(rows, 'request')} could not be recorded.`,
    'ledger-refuses': (rows: string, file: string | null) =>
      `The database refused ${counted(rows, 'request')}, which still count${rows === '1' ? 's' : ''} in budgets.${file === null ? '' : ` See ${file}.`}`,
    'ledger-replaced': (reason: string, movedTo: string | null) =>
      movedTo === null
        ? `The request log was started over: ${causeText(reason)}. Its contents are lost.`
        : `The request log was unusable (${causeText(reason)}) and was started over. The old one is kept as ${movedTo}.`,
    'budgets-unwritten': (reason: string) => `What has been spent of each budget cannot be saved. ${causeText(reason)}`,
    'budgets-lost':
      'What had been spent of each budget was lost with the request log: all budgets, hard ones included, start from zero.',
    refused: (requests: string) => `Refused in the last hour, and not in the request log: ${requests}.`,
    standstill: (duration: string, at: string, request: { id: string; keyId: string; route: string }) =>
      `Sluice was unresponsive for ${duration} (${at}) because of request ${request.id} of key ${request.keyId} (${request.route}).`,
    'key-expired': (name: string) => `The key “${name}” has expired; programs that use it are refused.`,
    'key-expires': (name: string, day: string) => `The key “${name}” expires on ${day}.`,
    'key-budget': (name: string, used: string, amount: string) => `Key “${name}” has spent ${used} of its ${amount}.`,
    'group-budget': (name: string, used: string, amount: string) =>
      `Group “${name}” has spent ${used} of its ${amount}.`,
    'key-unpriced': (unpriced: Unpriced) => unpricedText(`key “${unpriced.name}”`, unpriced),
    'group-unpriced': (unpriced: Unpriced) => unpricedText(`group “${unpriced.name}”`, unpriced),
    'no-provider': 'No provider is enabled, so every request is refused.',
    'no-key': 'There is no key, so no program can use Sluice.',
  },
  fixes: {
    provider: 'Open provider',
    credential: 'Open credentials',
    'config-restored': 'Open settings',
    'config-lost': 'Open settings',
    'counts-away': 'Open settings',
    'ledger-broken': 'Open requests',
    'ledger-waits': 'Open requests',
    'ledger-dropped': 'Open requests',
    'ledger-refuses': 'Open requests',
    'ledger-replaced': 'Open requests',
    'budgets-unwritten': 'Open keys',
    'budgets-lost': 'Open keys',
    refused: 'Open requests',
    standstill: 'Open request',
    'key-expired': 'Open key',
    'key-expires': 'Open key',
    'key-budget': 'Open key',
    'group-budget': 'Open group',
    'key-unpriced': 'Set prices',
    'group-unpriced': 'Set prices',
    'no-provider': 'Add a provider',
    'no-key': 'Create a key',
  },
};

export const recentCapture = {
  question: 'Keep what is sent and answered?',
  questionText: 'So that you can see it in the request log. It stays on this machine, without keys.',
  untilAnswered: 'Until you answer, the newest 50 requests are kept in memory.',
  keepDays: (days: number, count: string) => `Keep for ${count} ${days === 1 ? 'day' : 'days'}`,
  keepNewest: 'Newest 50, in memory',
  keepNothing: 'Not now',
  note: 'The contents of the newest 50 requests are kept in memory until Sluice ends. Only what is captured is kept on disk.',
  end: 'Turn off',
  endNamed: 'Turn off: keep no contents in memory',
  kept: (days: number, count: string) =>
    `What is sent and answered is kept for ${count} ${days === 1 ? 'day' : 'days'}, on this machine.`,
  notKept: 'What is sent and answered is not kept.',
  change: 'Change',
  changeNamed: 'Change what is kept',
};
