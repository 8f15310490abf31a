/** Describes the default group for the tray menu. Pure. */
import type { GroupView } from '../server/contract/access-views.ts';
import type { Budget } from '../server/contract/limit-settings.ts';
import type { ShellMessages } from './messages.ts';
import type { ShellLanguage } from './shell-language.ts';

export type TrayGroup = Pick<GroupView, 'models' | 'policy' | 'limits'>;

/** Maximum number of model patterns shown, since a menu is narrow. */
const shownModels = 4;

/** One line with the allowed models and the strategy, and one with the limits; null if there are none. */
export function describeGroup(group: TrayGroup, language: ShellLanguage): { profile: string; limits: string | null } {
  const { messages } = language;
  const limits = describeLimits(group.limits, language);
  return {
    profile: messages.defaultGroup(describeModels(group.models, messages), messages.strategies[group.policy.strategy]),
    limits: limits.length > 0 ? messages.groupLimits(limits) : null,
  };
}

function describeModels(models: readonly string[], { allModels }: ShellMessages): string {
  if (models.includes('*')) return allModels;
  const shown = models.slice(0, shownModels).join(', ');
  return models.length > shownModels ? `${shown}, …` : shown;
}

function describeLimits(limits: TrayGroup['limits'], { messages, locale }: ShellLanguage): string[] {
  const number = new Intl.NumberFormat(locale);
  const { requestsPerMinute, tokensPerMinute, concurrent, budgets = [] } = limits ?? {};
  const texts = messages.limits;
  return [
    requestsPerMinute && texts.requestsPerMinute(number.format(requestsPerMinute)),
    tokensPerMinute && texts.tokensPerMinute(number.format(tokensPerMinute)),
    concurrent && texts.concurrent(number.format(concurrent)),
    ...budgets.map((budget) => texts.budgets[budget.per](describeAmount(budget, { messages, locale }))),
  ].filter((text) => typeof text === 'string');
}

/** `$1,200`, `9,000 tokens`. */
export function describeAmount(
  { unit, amount }: Pick<Budget, 'unit' | 'amount'>,
  { messages, locale }: Pick<ShellLanguage, 'messages' | 'locale'>,
): string {
  const number = new Intl.NumberFormat(locale).format(amount);
  return unit === 'usd' ? `$${number}` : messages.tokens(number);
}
