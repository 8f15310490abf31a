import type { AuditActions } from './audit-actions.ts';

export const settings = {
  parts: {
    window: 'This window',
    address: 'Address',
    network: 'Proxies and certificates',
    access: 'Network access',
    serving: 'Serving',
    records: 'Records',
    prices: 'Prices',
    observability: 'Observability',
    transfer: 'Export and import',
    about: 'About',
  },
  fields: {
    host: { label: 'Reachable from', hint: 'Every request needs a key, wherever it comes from.' },
    port: { label: 'Port', hint: '0 picks any free port.' },
    noProxy: {
      label: 'Bypass proxy',
      hint: 'Hosts reached directly, one per line: names with their subdomains, addresses, ranges such as 10.0.0.0/8 or patterns such as 10.*; a port if needed.',
    },
    systemCa: {
      label: 'System certificate authorities',
      hint: 'Used in addition to the built-in ones. Companies install their own there.',
    },
    'admission.running': {
      label: 'Concurrent requests',
      hint: 'For all keys together. One group can use at most nine tenths of them.',
    },
    'admission.waiting': { label: 'Queued requests', hint: 'Further requests are refused with 429.' },
    'admission.waitMs': {
      label: 'Longest wait in the queue',
      hint: 'After that, a request is refused with 429.',
    },
    'admission.bytes': {
      label: 'Memory for bodies',
      hint: 'Further requests wait. 0: a quarter of the memory, at most 2,048 MiB.',
    },
    'sharedCounts.hardBudgets': {
      label: 'Hard budgets while Valkey is unavailable',
      hint: 'Until it is back, replicas cannot know what the others have spent.',
    },
    extraCaFiles: {
      label: 'Additional certificate authorities',
      hint: 'PEM files, one path per line. For a proxy or a provider inside your company.',
    },
    allowedHosts: {
      label: 'Allowed host names',
      hint: 'Besides 127.0.0.1 and localhost, one per line. A “*” stands for subdomains: *.example.com.',
    },
    allowedOrigins: {
      label: 'Allowed web pages',
      hint: 'Origins whose pages may call /v1 with a key, one per line: https://app.example, http://localhost:* for any port, vscode-webview://* for an extension.',
    },
    demo: { label: 'Demo provider', hint: 'Built in. Sends one small sample reply for each route, for a first try.' },
    replyHeaders: {
      label: 'Response headers of Sluice',
      hint: 'x-sluice-provider and x-sluice-attempts tell clients who answered, and at which attempt.',
    },
    keepAliveCommentMs: {
      label: 'Keep-alive comments',
      hint: 'Sent while a stream is silent, so that proxies keep it open. 0: none.',
    },
    'limits.jsonBodyBytes': { label: 'Largest JSON body', hint: 'Larger bodies are refused.' },
    'limits.multipartBodyBytes': { label: 'Largest upload', hint: 'Images, audio and video that clients send.' },
    'ledger.retentionDays': { label: 'Keep requests', hint: 'Times, usage and cost; no content.' },
    'ledger.retentionRows': { label: 'Keep at most', hint: 'After that, the oldest are deleted.' },
    'capture.maxBytes': {
      label: 'Largest captured body',
      hint: 'Longer bodies are cut off. Only what is captured is kept.',
    },
    sessions: {
      label: 'Sessions',
      hint: 'Which requests are shown together. Agents such as Claude Code, Codex and opencode name their sessions.',
    },
    'sessionBudget.notifyAtUsd': {
      label: 'Session budget: notify at',
      hint: 'The desktop program and webhooks tell you of a session that has cost this much. Empty: off.',
    },
    'sessionBudget.stopAtUsd': {
      label: 'Session budget: stop at',
      hint: 'Further requests of a session that has cost this much are refused until you resume it. Empty: off.',
    },
    'capture.totalBytes': {
      label: 'Largest store of captured bodies',
      hint: 'Of all requests. After that, the oldest are deleted; the requests stay.',
    },
    'capture.retentionDays': { label: 'Keep captured bodies', hint: 'After that they are deleted; the requests stay.' },
    'keptResponses.retentionHours': {
      label: 'Keep translated responses',
      hint: 'Responses API answers from other APIs, so that they can be continued. 0: none are kept.',
    },
    'keptResponses.bytesPerGroup': {
      label: 'Largest store of translated responses',
      hint: 'Per group. After that, the oldest are deleted.',
    },
    'jobs.retentionDays': {
      label: 'Remember owners of videos and stored responses',
      hint: 'After their last use. Then they can no longer be reached by their id, except through passthrough.',
    },
    metrics: { label: 'Prometheus metrics', hint: 'Counts, cost and times by group, provider and model; no content.' },
    metricsToken: {
      label: 'Scrape token',
      hint: 'env:NAME or file:PATH of a token that can only read /metrics. Empty: only the admin token can.',
    },
    'telemetry.endpoint': {
      label: 'OpenTelemetry endpoint',
      hint: 'Base URL of OTLP over HTTP, such as http://127.0.0.1:4318. Empty: off. No content is sent.',
    },
    'telemetry.headers': {
      label: 'OpenTelemetry headers',
      hint: 'One “name: value” per line. Enter secrets as env:NAME or file:PATH.',
    },
    'telemetry.conventions': {
      label: 'OpenTelemetry names',
      hint: 'Those of 1.41 are for dashboards made with an earlier version of Sluice, and go with the next release.',
    },
    'telemetry.protocol': {
      label: 'OpenTelemetry protocol',
      hint: 'Protobuf is smaller; most collectors accept both.',
    },
    'telemetry.traces': { label: 'OpenTelemetry traces', hint: 'One trace per request.' },
    'telemetry.metrics': {
      label: 'OpenTelemetry metrics',
      hint: 'Jaeger and Langfuse accept traces only: switch metrics off for them.',
    },
    'telemetry.audit': {
      label: 'OpenTelemetry logs of the audit list',
      hint: 'Each new entry, where people sign in: who did what, by name and address.',
    },
    webhooks: {
      label: 'Webhooks',
      hint: 'One URL per line. Optionally followed by events (budget, session-budget, provider-down, provider-up, new-version; separated by commas) and by env:NAME or file:PATH of a signing secret.',
    },
  },
  lost: {
    title: 'Delete old records',
    requests: (requests: number, count: string, moment: string) =>
      `${count} ${requests === 1 ? 'request' : 'requests'} from before ${moment} will be deleted, with the usage and cost.`,
    allButNewest: (requests: number, count: string) =>
      `All requests but the newest ${requests === 1 ? '' : `${count} `}will be deleted.`,
    captures: (moment: string) => `Bodies that were captured before ${moment} will be deleted.`,
    forGood: 'This cannot be undone.',
    confirm: 'Save and delete',
  },
  choices: {
    host: { '127.0.0.1': 'This machine only (127.0.0.1)', '0.0.0.0': 'The local network (0.0.0.0)' },
    systemCa: { on: 'Trusted', off: 'Not trusted' },
    demo: { auto: 'Until the first provider is added', on: 'Always on', off: 'Off' },
    'sharedCounts.hardBudgets': {
      closed: 'Refuse requests (503)',
      open: 'Split what is left between replicas',
    },
    sessions: {
      named: 'Requests whose program names a session',
      all: 'Every conversation',
      off: 'Off',
    },
    metrics: { on: 'Served at /metrics', off: 'Off' },
    'telemetry.conventions': { current: 'Current', '1.41': 'Of 1.41' },
    'telemetry.protocol': { 'http/protobuf': 'Protobuf', 'http/json': 'JSON' },
  },
  switches: { on: 'On', off: 'Off' },
  otherHost: 'Another address…',
  hostAddress: 'Address to listen on',
  hostAddressHint: 'An address or name of this machine.',
  units: {
    days: 'days',
    hours: 'hours',
    seconds: 'seconds',
    requests: 'requests',
    mebibytes: 'MiB',
    kibibytes: 'KiB',
    dollars: 'USD',
  },
  contents: 'Contents',
  advanced: (count: string) => `Advanced (${count})`,
  goTo: 'Go to',
  search: 'Search settings',
  clearSearch: 'Clear search',
  noneFound: (search: string) => `No setting matches “${search}”.`,
  found: (count: number, number: string) => `${number} ${count === 1 ? 'section' : 'sections'} found.`,
  /** Quotes the typed text unchanged. */
  wrongLines: {
    allowedHosts: (line: string) => `“${line}” is not a host name. Leave out http:// and the port.`,
    allowedOrigins: (line: string) =>
      `“${line}” is not an origin of one site. Use a form such as https://app.example, http://localhost:* or chrome-extension://*, without a path.`,
    noProxy: (line: string) =>
      `“${line}” is not a host. Use a name, an IP address, a range such as 10.0.0.0/8 or a pattern such as 10.*.`,
    metricsToken: () => 'Use env:NAME or file:PATH. The token itself is not stored here.',
    'telemetry.endpoint': (line: string) =>
      `“${line}” is not a base URL. Use a form such as http://127.0.0.1:4318, without user, password and query.`,
    'telemetry.headers': () => 'Use “name: value”, and env:NAME or file:PATH for a value that is a secret.',
    webhooks: () =>
      'Use a URL without user and password, or env:NAME or file:PATH, followed by events as listed above.',
  },
  bounds: {
    any: 'A number',
    whole: 'A whole number',
    from: (least: string) => `from ${least}`,
    above: (least: string) => `above ${least}`,
    only: (number: string, least: string) => `${number} ${least}`,
    upTo: (number: string, least: string, most: string) => `${number} ${least} to ${most}`,
    amountOrEmpty: 'An amount above 0, or empty',
  },
  nextStart: 'Takes effect after restart.',
  givenAtStart: (options: string) => `Started with ${options}, which overrides this setting.`,
  network: {
    waysTitle: 'How providers are reached now',
    directly: 'directly',
    through: (proxies: string) => `through ${proxies}`,
    orElse: ', else ',
    by: {
      provider: 'as set for the provider',
      environment: 'by HTTP_PROXY or HTTPS_PROXY',
      system: 'by the operating system',
      nobody: 'no proxy is set',
    },
    way: (how: string, by: string) => `${how} (${by})`,
    unusable: (what: string) => `cannot use ${what}: only HTTP proxies are supported`,
    noProviders: 'There is no provider yet.',
    asksSystem: 'Proxies are taken from the operating system, including its automatic configuration (PAC).',
    asksNobody:
      'Without the desktop program the system’s proxy settings are unknown: proxies come from HTTP_PROXY, HTTPS_PROXY and NO_PROXY.',
    noProxy: (list: string) => `NO_PROXY: ${list}`,
    trustTitle: 'Trusted certificates',
    system: (count: string) => `${count} of the operating system`,
    systemOff: 'not those of the operating system',
    file: (count: number, number: string) => `${number} ${count === 1 ? 'certificate' : 'certificates'}`,
    notUsed: (problem: string) => `not used: ${problem}`,
  },
  listensAt: (baseUrl: string) => `Listening at ${baseUrl}.`,
  lanWarning:
    'Anyone on your network can then reach Sluice and try keys, and traffic is not encrypted. Do this only on a network that you trust. Every request still needs a key, and this machine’s name or address must be among the allowed host names below.',
  transferHint:
    'Providers, aliases, groups, keys by their hashes, and settings. Secrets are never included; those already stored here are kept, unless their provider’s address changes. Configurations of LiteLLM, claude-code-router and CC Switch and .env files can be imported too: they are added to what is here.',
  export: 'Export',
  import: 'Import…',
  importTitle: 'Import a configuration',
  importText: (file: string) => `${file} replaces the whole configuration. This would change:`,
  importNothing: (file: string) => `${file} is identical to the configuration. There is nothing to change.`,
  importRefused: 'This file cannot be imported. Correct it and choose it again:',
  importConfirm: 'Replace',
  importDone: 'Imported. All the secrets it needs are stored.',
  importMissing:
    'Imported. These credentials (provider/credential) have no secret yet; enter them under Models › Providers:',
  changeKinds: { added: 'Added:', removed: 'Removed:', changed: 'Changed:' },
  changeParts: {
    ...{ provider: 'provider', alias: 'alias', group: 'group', key: 'key', setting: 'setting' },
    ...{ 'scim-user': 'pushed user', 'scim-group': 'pushed group' },
  },
  absent: '(none)',
  version: 'Version',
  runsOn: 'Runs on',
  dataFolder: 'Data folder',
  logFolder: 'Log folder',
  dataNowhere: 'Nothing is stored',
  captured: 'Captured bodies',
  capturedOf: (held: string, most: string) => `${held} of at most ${most}`,
  secretStore: 'Secrets',
  configuration: 'Configuration',
  diagnosticsHint:
    'For support: a file with versions, state, configuration and recent errors. It contains no secrets and no content of requests.',
  diagnostics: 'Download diagnostics',
  sessions: {
    title: 'Signed-in browsers',
    hint: 'A browser that was signed in with a link stays signed in until it has not been used for 30 days.',
    signOut: 'Sign out everywhere…',
    confirmTitle: 'Sign out everywhere',
    confirmInBrowser:
      'All browsers are signed out at once, this one too, and sign-in links that were not opened yet stop working. Programs and their keys are not affected. This window then shows how to sign in again.',
    confirmInDesktop:
      'All browsers are signed out at once, and sign-in links that were not opened yet stop working. This window stays open; programs and their keys are not affected.',
    confirm: 'Sign out everywhere',
    done: (count: number) =>
      count === 0
        ? 'No browser was signed in.'
        : `${count} ${count === 1 ? 'browser was' : 'browsers were'} signed out.`,
  },
  desktop: {
    title: 'Desktop',
    startAtLogin: 'Start at login, in the tray',
    trayCost: 'Show today’s cost in the menu bar',
    hotkey: {
      label: 'Hotkey',
      hint: 'Shows or hides Sluice from any program.',
      press: 'Press the keys, with Ctrl, Alt or ⌘ among them.',
      none: 'None',
      clear: 'No hotkey',
      taken: 'Another program had these keys when Sluice started, so they do nothing. Choose other keys.',
    },
    notifications: {
      'provider-unusable': 'Notify me when a provider becomes unusable',
      'credential-refused': 'Notify me when a provider rejects a credential',
      'budget-reached': 'Notify me when a budget is nearly or fully used',
      'update-ready': 'Notify me when an update is ready',
    },
    update: {
      managed: (_version: string) => 'Updates come with this installation.',
      idle: (_version: string) => 'Not checked for updates yet.',
      checking: (_version: string) => 'Checking for updates…',
      current: (_version: string) => 'Sluice is up to date.',
      downloading: (version: string) => `Version ${version} is being downloaded.`,
      ready: (version: string) => `Version ${version} is ready. Running requests end before it is installed.`,
      failed: (_version: string) => 'Checking for the update or downloading it failed.',
    },
    downloadProgress: 'Update download',
    cancelDownload: 'Cancel download',
    whatChanges: 'What changes',
    checkForUpdates: 'Check for updates',
    installUpdate: 'Install and restart',
    showLogFolder: 'Show log folder',
  },
};

export const settingsActions: AuditActions<'settings' | 'config' | 'window'> = {
  'settings.update': (target) => `changed settings ${target}`,
  'config.import': () => 'imported a configuration',
  'config.adopt': () => 'added from another program’s configuration',
  'config.apply': () => 'applied a declared configuration',
  'window.create-address': () => 'created an address of the window',
  'window.sign-out-everywhere': () => 'signed out all browsers',
};
