import { counted } from '../../../server/contract/units.ts';

/** Limits of keys and groups, and their current use. */
export const limits = {
  title: 'Limits',
  set: 'Set limits',
  keyHint: 'For this key only, in addition to those of its group.',
  groupHint: 'For all keys of the group together.',
  requestsPerMinute: 'Requests per minute',
  tokensPerMinute: 'Tokens per minute',
  concurrent: 'Concurrent requests',
  noLimit: 'no limit',
  budget: 'Budget',
  budgets: 'Budgets',
  addBudget: 'Add a budget',
  removeBudget: (number: number) => `Remove budget ${number}`,
  amount: (number: number) => `Amount of budget ${number}`,
  unit: (number: number) => `Unit of budget ${number}`,
  units: { usd: 'US dollars', tokens: 'tokens' },
  tokens: (count: string) => counted(count, 'token'),
  per: (number: number) => `Period of budget ${number}`,
  /** A limit in words. */
  each: {
    requestsPerMinute: (count: string) => `${counted(count, 'request')} per minute`,
    tokensPerMinute: (count: string) => `${counted(count, 'token')} per minute`,
    concurrent: (count: string) => counted(count, 'concurrent request'),
  },
  budgetPer: {
    day: (amount: string) => `${amount} a day`,
    week: (amount: string) => `${amount} a week`,
    month: (amount: string) => `${amount} a month`,
    total: (amount: string) => `${amount} in total`,
  },
  periods: { day: 'a day', week: 'a week', month: 'a month', total: 'in total' },
  hardness: (number: number) => `When budget ${number} is spent`,
  hard: 'then refuse',
  soft: 'then warn',
  meters: {
    requests: 'requests per minute',
    tokens: 'tokens per minute',
    concurrent: 'concurrent requests',
  },
  spent: (amount: string) => `${amount} used`,
  used: (used: string, amount: string) => `${used} of ${amount}`,
  spentBy: (moment: string) => `At this pace spent by ${moment}`,
  comesTo: (amount: string) => `At this pace ${amount} by the end`,
  notifyAt: (number: number) => `Percentages at which budget ${number} is reported`,
  notifyAtText: 'reported at %',
  opens: (moment: string) => `resets ${moment}`,
  usage: (requests: number, count: string, tokens: string, cost: string) =>
    `${count} ${requests === 1 ? 'request' : 'requests'}, ${counted(tokens, 'token')}, ${cost}`,
  inDays: (usage: string) => `30 days: ${usage}`,
  costUnknown: 'cost unknown',
};
