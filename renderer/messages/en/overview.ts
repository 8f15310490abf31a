export const status = {
  title: 'Status',
  baseUrl: 'Base URL',
  running: 'Running now',
  started: 'Started',
  version: 'Version',
  revision: 'Configuration',
  revisionNumber: (revision: string) => `revision ${revision}`,
  secrets: 'Secrets',
  secretStores: { keychain: 'keychain', file: 'encrypted file', memory: 'in memory' },
  secretsUnopened: 'not needed so far',
  ledger: 'Ledger',
  ledgerOk: 'recording',
  ledgerDropped: (rows: number, count: string) => `${count} ${rows === 1 ? 'row' : 'rows'} lost`,
  ledgerBroken: 'not recording',
};

export const overview = {
  range: 'Time',
  ranges: { hour: '1 h', day: '24 h', week: '7 days', month: '30 days', quarter: '90 days' },
  usage: 'Usage',
  metrics: { requests: 'Requests', tokens: 'Tokens', cost: 'Cost', errors: 'Error rate', firstByte: 'First byte' },
  tokensDetail: (input: string, output: string) => `${input} in, ${output} out`,
  errorsDetail: (errors: string) => `${errors} failed`,
  p95Detail: (duration: string) => `95% within ${duration}`,
  median: 'Median',
  p95: '95th percentile',
  firstByteFigures: { together: 'All', median: 'Median of each', p95: '95% of each' },
  all: 'all',
  others: 'others',
  nameless: { model: 'no model named', provider: 'no provider asked', key: 'no valid key', group: 'no group' },
  top: 'Most used',
  by: 'By',
  dimensions: { model: 'Models', provider: 'Providers', key: 'Keys', group: 'Groups' },
  dimensionNames: { model: 'Model', provider: 'Provider', key: 'Key', group: 'Group' },
  columns: { requests: 'Requests', errors: 'Errors', tokens: 'Tokens', cost: 'Cost' },
  unpriced: (requests: string) => `The price of ${requests} requests is not known`,
  nobody: 'Nothing was used in this time.',
  emptyTitle: 'No requests in this time',
  emptyNext: 'Choose a longer time, or point a program at the base URL above.',
};

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
    'key-unpriced': (name: string, requests: string, budget: string) =>
      `What ${requests} requests of key “${name}” cost is not known, so its budget (${budget}) does not count them. Set their price in settings.prices.`,
    'group-unpriced': (name: string, requests: string, budget: string) =>
      `What ${requests} requests of group “${name}” cost is not known, so its budget (${budget}) does not count them. Set their price in settings.prices.`,
    'no-provider': 'No provider is switched on: every request is refused.',
    'demo-only': 'Only the demo answers, and it invents its answers.',
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
    'key-unpriced': 'See the keys',
    'group-unpriced': 'See the group',
    'no-provider': 'Switch one on',
    'demo-only': 'Add a provider',
    'no-key': 'Create a key',
  },
};
