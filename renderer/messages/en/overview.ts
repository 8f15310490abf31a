export const status = {
  baseUrl: 'Base URL',
  started: 'Started',
  revisionNumber: (revision: string) => `revision ${revision}`,
  secretsUnopened: 'not needed so far',
  ledger: 'Ledger',
  ledgerOk: 'recording',
  ledgerDropped: (rows: number, count: string) => `${count} ${rows === 1 ? 'row' : 'rows'} lost`,
  ledgerBroken: 'not recording',
};

/** The strip of what goes on at this moment. */
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
  range: 'Time',
  ranges: { hour: '1 h', sixHours: '6 h', day: '24 h', week: '7 days', month: '30 days', quarter: '90 days' },
  usage: 'Usage',
  metrics: { requests: 'Requests', tokens: 'Tokens', cost: 'Cost', errors: 'Failure rate', firstByte: 'First byte' },
  showRequests: 'Show them',
  tokensDetail: (input: string, output: string) => `${input} in, ${output} out`,
  failed: (requests: string) => `${requests} failed`,
  /** By Sluice, with a 4xx. */
  refused: (requests: string) => `${requests} refused`,
  p95Detail: (duration: string) => `95% within ${duration}`,
  median: 'Median',
  p95: '95th percentile',
  firstByteFigures: { together: 'All', median: 'Median of each', p95: '95% of each' },
  all: 'all',
  sum: 'Total',
  others: 'others',
  nameless: { model: 'without a model', provider: 'no provider asked', key: 'no valid key', group: 'no group' },
  top: 'Most used',
  by: 'By',
  dimensions: { model: 'Models', provider: 'Providers', key: 'Keys', group: 'Groups' },
  dimensionNames: { model: 'Model', provider: 'Provider', key: 'Key', group: 'Group' },
  columns: { requests: 'Requests', failed: 'Failed', refused: 'Refused', tokens: 'Tokens', cost: 'Cost' },
  unpriced: (requests: string) => `${requests} without a price`,
  nobody: 'Nothing was used in this time.',
  emptyTitle: 'No requests in this time',
  emptyNext: 'Choose a longer time, or point a program at the base URL above.',
  runningTitle: (requests: number, count: string) =>
    requests === 1 ? 'One request is running' : `${count} requests are running`,
  runningNext: 'Figures appear as requests end.',
};

/** The newcomer's path. */
export const firstRun = {
  title: 'Get started',
  doneTitle: 'You’re all set',
  dismiss: 'Skip',
  finish: 'Done',
  done: 'done',
  address: 'Your base URL and key',
  addressText: 'Every program that speaks the OpenAI, Anthropic or Gemini API can use them.',
  key: 'API key',
  showKey: 'Show the key',
  hideKey: 'Hide the key',
  call: 'Make a call',
  callText:
    'Run it here or paste it into a terminal. The built-in demo answers with sample replies until you add a provider.',
  provider: 'Add a provider',
  providerText: 'OpenAI, Anthropic, Ollama or any other service, so that real models answer.',
  providerOpen: 'Add provider',
  found: (variables: string) => `Found in the environment: ${variables}`,
  tool: 'Connect a tool',
  toolText: 'Codex, Cursor, Claude Code or your own program. This step is done when its first request arrives.',
  toolOpen: 'Choose a tool',
};

export const firstCall = {
  createKey: 'Create a key',
  firstKeyName: 'My first key',
  command: 'curl command',
  run: 'Run it here',
  answer: 'Answer',
  seeRequest: 'See the request',
  keyless: 'The secret of this key is not kept. Create another key.',
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
  `${requests === 1 ? 'does' : 'do'} not count towards its budget (${budget}). Set a price for the model.`;

export const attention = {
  title: 'Needs attention',
  texts: {
    'provider-unusable': (name: string, reason: string) => `${name}: ${reason}.`,
    'provider-unlisted': (name: string, reason: string) => `The models of ${name} could not be listed: ${reason}`,
    'provider-left-alone': (name: string, reason: string) => `${name}: ${reason}`,
    'credential-left-alone': (name: string, credential: string, reason: string) =>
      `${name}, credential “${credential}”: ${reason}`,
    'config-restored': (movedTo: string | null) =>
      movedTo === null
        ? 'The configuration was missing at the last start and was restored from its backup. Check that keys and settings are as you left them.'
        : `The configuration was damaged at the last start and was restored from its backup. Check that keys and settings are as you left them. The damaged file is kept as ${movedTo}.`,
    'config-lost': (movedTo: string | null) =>
      movedTo === null
        ? 'The configuration was missing at the last start and had no usable backup: Sluice began with an empty one.'
        : `The configuration was damaged at the last start and had no usable backup: Sluice began with an empty one. The damaged file is kept as ${movedTo}.`,
    'ledger-broken': (reason: string) => `Requests are not being recorded. ${reason}`,
    'ledger-dropped': (rows: string) => `${rows} requests could not be recorded.`,
    'ledger-replaced': (reason: string, movedTo: string | null) =>
      movedTo === null
        ? `The ledger was begun anew: ${reason}. What it held is gone.`
        : `The ledger could not be used (${reason}) and was begun anew. The old one is kept as ${movedTo}.`,
    'budgets-unwritten': (reason: string) => `What is spent of budgets cannot be kept beside the ledger. ${reason}`,
    'budgets-lost':
      'With the ledger the sums of the budgets were lost: all budgets, hard ones too, count from then on.',
    refused: (requests: string) => `Refused in the last hour: ${requests}.`,
    standstill: (duration: string, at: string, request: { id: string; keyId: string; route: string } | null) =>
      request === null
        ? `Sluice stood still for ${duration} (${at}): nobody was served meanwhile. No request was being looked at.`
        : `Sluice stood still for ${duration} (${at}) over the request ${request.id} of key ${request.keyId} (${request.route}): nobody was served meanwhile.`,
    'key-expired': (name: string) => `The key “${name}” has expired; programs that use it are refused.`,
    'key-expires': (name: string, day: string) => `The key “${name}” expires on ${day}.`,
    'key-budget': (name: string, used: string, amount: string) => `Key “${name}” has spent ${used} of its ${amount}.`,
    'group-budget': (name: string, used: string, amount: string) =>
      `Group “${name}” has spent ${used} of its ${amount}.`,
    'key-unpriced': (unpriced: Unpriced) => unpricedText(`key “${unpriced.name}”`, unpriced),
    'group-unpriced': (unpriced: Unpriced) => unpricedText(`group “${unpriced.name}”`, unpriced),
    'no-provider': 'No provider is switched on: every request is refused.',
    'no-key': 'There is no key, so no program can use Sluice.',
  },
  mends: {
    'provider-unusable': 'See the provider',
    'provider-unlisted': 'See the provider',
    'provider-left-alone': 'See the provider',
    'credential-left-alone': 'See the credentials',
    'config-restored': 'See the settings',
    'config-lost': 'See the settings',
    'ledger-broken': 'See the requests',
    'ledger-dropped': 'See the requests',
    'ledger-replaced': 'See the requests',
    'budgets-unwritten': 'See the keys',
    'budgets-lost': 'See the keys',
    refused: 'See the requests',
    standstill: 'See the requests',
    'key-expired': 'See the keys',
    'key-expires': 'See the keys',
    'key-budget': 'See the keys',
    'group-budget': 'See the group',
    'key-unpriced': 'See the settings',
    'group-unpriced': 'See the settings',
    'no-provider': 'Add a provider',
    'no-key': 'Create a key',
  },
};
