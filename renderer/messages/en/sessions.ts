import { counted } from '../../../server/contract/units.ts';
import type { AuditActions } from './audit-actions.ts';

export const sessions = {
  /** A single session. */
  one: 'Session',
  lead: 'Conversations and runs of agents: what each did, turn by turn, and what it cost.',
  backToAll: 'All sessions',
  emptyTitle: 'No sessions yet',
  emptyNext: 'Requests that belong together appear here as one session.',
  /** Below a list; the points are those of an empty one. */
  missing: 'How requests become sessions',
  origins: {
    named: 'Claude Code, Codex and opencode name their sessions. There is nothing to set up.',
    header: 'A program of your own names one in a header of each of its requests:',
    headerName: 'header',
    bySetting: {
      named: 'Other conversations stay single requests. Sluice can recognise them by how they begin.',
      all: 'Any other conversation becomes a session once a second request continues it.',
      off: 'Sessions are off: no requests are joined.',
    },
    change: 'Turn it on in Settings',
  },
  noneFound: 'No matching sessions',
  noneFoundNext: 'Choose other filters.',
  state: 'State',
  anyState: 'Any state',
  states: { running: 'Running', refused: 'Stopped or over budget' },
  soFar: 'So far',
  /** What of the session is shown. */
  show: 'Show',
  views: { turns: 'Turns', conversation: 'Conversation' },
  notKeptTitle: 'Nothing of what was said is kept',
  notKeptNext: 'Choose under Requests what is captured: from then on the conversation is here.',
  notWhole: 'What was said before is not kept, or is too much to show.',
  goneTitle: 'This session is not in the request log',
  goneNext: 'It may have expired, or its address is wrong.',
  unknownClient: 'Unknown client',
  running: 'running',
  stopped: 'stopped',
  overBudget: 'over its budget',
  turns: (count: string) => counted(count, 'turn'),
  requests: (count: string) => counted(count, 'request'),
  moreRequests: (count: string) => `more than ${counted(count, 'request')}`,
  retries: (count: string) => counted(count, 'retry', 'retries'),
  tokens: (input: string, output: string) => `${counted(input, 'token')} in, ${output} out`,
  showMore: 'Show more',
  facts: {
    cost: 'Cost',
    budget: 'Budget',
    input: 'Input tokens',
    cached: 'From cache',
    lost: 'No longer from cache',
    output: 'Output tokens',
    turns: 'Turns',
    requests: 'Requests',
    failed: 'Failed',
    refused: 'Refused',
    retries: 'Retries',
    models: 'Models',
    client: 'Client',
    folder: 'Folder',
    branch: 'Branch',
    key: 'Key',
    time: 'Time',
  },
  turn: (number: string) => `Turn ${number}`,
  context: (tokens: string) => `context ${tokens}`,
  budgetUsed: (used: string, amount: string) => `${used} of ${amount}`,
  unknownTool: 'tool',
  toolFailed: 'failed',
  chart: 'Turns',
  chartHint: 'Bars show input tokens; the solid part came from a cache.',
  turnBar: (turn: string, input: string, cached: string, cost: string) =>
    `Turn ${turn}: ${counted(input, 'input token')}, ${cached} from cache, ${cost}`,
  columns: {
    request: 'Request',
    model: 'Model',
    input: 'Input',
    cached: 'Cached',
    output: 'Output',
    cost: 'Cost',
    time: 'Time',
  },
  steps: { prompt: 'Prompt', tools: 'Tool results', other: 'Request' },
  beside: (number: string) => `beside the conversation (${number})`,
  cacheLoss: {
    target: (tokens: string, cost: string) =>
      `${counted(tokens, 'token')} no longer from cache${cost}: another model or provider was used`,
    pause: (tokens: string, cost: string) =>
      `${counted(tokens, 'token')} no longer from cache${cost}: more than five minutes had passed`,
    prefix: (tokens: string, cost: string) =>
      `${counted(tokens, 'token')} no longer from cache${cost}: the beginning of the input changed`,
  },
  modelBefore: (model: string) => `before: ${model}`,
  isShorter: 'context became shorter',
  attempts: (count: string) => counted(count, 'attempt'),
  sentAgain: 'sent again by the client',
  stop: {
    open: 'Stop session',
    title: 'Stop this session?',
    text: 'Its next requests are refused with an error that clients do not retry. Requests that run are not cut off. You can resume it at any time.',
    confirm: 'Stop session',
  },
  resume: 'Resume session',
  stoppedNote: 'This session is stopped: its requests are refused.',
  overBudgetNote:
    'This session has used up its budget: its requests are refused. Resume it to give it the same amount again, or raise the budget in the settings under Records.',
  ofRequest: (requests: string, cost: string | null) =>
    cost === null ? counted(requests, 'request') : `${counted(requests, 'request')}, ${cost}`,
};

export const sessionActions: AuditActions<'session'> = {
  'session.stop': (target) => `stopped session ${target}`,
  'session.resume': (target) => `resumed session ${target}`,
};
